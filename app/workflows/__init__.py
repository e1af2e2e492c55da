"""What the command line and the TUI both carry out: requests, check, survey, self-test."""
