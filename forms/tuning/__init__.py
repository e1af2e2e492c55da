"""What can be changed on a server, and the evidence of a change."""
