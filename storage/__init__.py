"""The notebook: its records, its schema, reading and writing."""
