"""The survey in the TUI: what to measure, how far it is, and what it found."""
