"""Facts: this host, the link, quiet time, the server."""

from app.environment.collect import Environment, collect, with_counters

__all__ = ["Environment", "collect", "with_counters"]
