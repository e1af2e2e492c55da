"""Worksheets: a server's bottleneck, and how many clients it carries."""
