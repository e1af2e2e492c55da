"""Quick tests on paper: the table that everybody knows, what limits each line, and two of them compared."""
