"""Terminal charts: pure functions that return text, with or without colour."""
