"""Audits: a server's settings, judged by the catalogue."""
