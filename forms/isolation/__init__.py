"""Isolations: what the layers of a server carry, and which of them it is."""
