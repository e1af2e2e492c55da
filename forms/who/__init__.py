"""Looks at who uses a server."""
