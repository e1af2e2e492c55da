"""Audits: what a server's settings do wrong, by the judgements of the catalogue."""
