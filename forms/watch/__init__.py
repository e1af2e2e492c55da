"""Paths watched over time: when to report, their history, and what dashboards read."""
