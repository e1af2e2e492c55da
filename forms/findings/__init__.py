"""Findings: what the numbers say about a set-up, with evidence and a recommendation."""
