"""Statistics of plain sequences of numbers."""
