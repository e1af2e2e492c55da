"""Audits: judge a server's settings by the catalogue."""
