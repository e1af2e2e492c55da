"""Settings of a server that sharebench changes itself: planned, written down, applied, verified, put back."""
