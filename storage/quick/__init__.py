"""Quick tests: their records."""
