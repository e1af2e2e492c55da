"""Comparisons: recordings beside one another, and beside what a path did before."""
