"""What the command line and the TUI share."""
