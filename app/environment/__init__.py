"""Facts: this host, the link, quiet time, the server."""

from app.environment.collect import Environment, collect, with_counters
from app.environment.quiet import server_load
from app.environment.sampler import QuietWatch

__all__ = ["Environment", "QuietWatch", "collect", "server_load", "with_counters"]
