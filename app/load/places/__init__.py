"""Loads from several machines (``--from A --from B``), each in its turn."""
