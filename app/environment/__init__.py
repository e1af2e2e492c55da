"""Facts: this host, the link, quiet time, the server."""

from app.environment.collect import Environment, collect, with_counters
from app.environment.quiet import Quiet, Verdict, server_load
from app.environment.watch import QuietWatch

__all__ = ["Environment", "Quiet", "QuietWatch", "Verdict", "collect", "server_load", "with_counters"]
