"""What is computed from records, and how it looks on paper."""
