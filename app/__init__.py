"""sharebench: a benchmark recorder for file-server admins."""

__version__ = "0.3.0"
