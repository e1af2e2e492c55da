"""Isolations in the TUI: what to measure, how far it is, what it found."""
