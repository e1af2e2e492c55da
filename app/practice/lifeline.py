"""The life of an embedded server: its orders come on stdin, its port goes out on stdout, and EOF on stdin ends it."""

import json
import os
import shutil
import sys
import threading
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOrders:
    """What an embedded server serves, and to whom."""

    folder: str
    user: str
    password: str
    share: str = "practice"

    def to_line(self) -> str:
        return json.dumps(asdict(self))


def take_orders() -> ServerOrders:
    """The orders that the parent wrote."""
    raw: dict[str, Any] = json.loads(sys.stdin.readline())
    return ServerOrders(**raw)


def report_port(port: int) -> None:
    """Tell the parent where this server listens; whatever a library prints later goes nowhere."""
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  open until the process ends


def end_with_parent(orders: ServerOrders) -> None:
    """Remove the folder and end this process once the parent closes stdin, as it does even when it is killed."""

    def watch() -> None:
        sys.stdin.read()
        shutil.rmtree(orders.folder, ignore_errors=True)
        os._exit(0)

    threading.Thread(target=watch, daemon=True, name="lifeline").start()
