"""Who uses a server now."""
