"""What puts the answer of a comparison in doubt: busy times of its sides, and a series far from its repeats."""
