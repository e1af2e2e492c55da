"""Isolations: what each layer of a server carries, and which one limits."""
