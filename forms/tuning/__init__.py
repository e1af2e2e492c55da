"""What can be changed on a server, and whether a change was really made."""
