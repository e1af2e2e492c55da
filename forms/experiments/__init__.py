"""Experiments, surveys and self-tests: several series as one piece of work."""
