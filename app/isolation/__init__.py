"""Separate the server's cost from the machine's: replay one script against each layer."""
