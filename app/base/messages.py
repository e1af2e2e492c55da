"""Messages between our own processes: frozen records, each one line of JSON that names its type, on stdin or stdout.

Secrets are in them as they are, so that they go through pipes between our processes and nowhere else.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import IO, Any, TextIO


def plain(value: Any) -> Any:
    """A record as values that JSON knows; :meth:`JSONNode.record` makes the record of them again."""
    if isinstance(value, type):
        return value.__name__
    if hasattr(value, "to_json"):
        return value.to_json()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return value


def line_of(message: Any) -> str:
    """The record as one line, without its end."""
    return json.dumps({"event": type(message).__name__, **plain(message)})


def message_of(line: str, kinds: Iterable[type]) -> Any:
    """The record of one of these types that :func:`line_of` wrote. Raises ValueError for anything else."""
    from storage.json_reader import JSONNode

    raw = json.loads(line)
    # Another machine may send any JSON.
    name = raw.pop("event", "") if isinstance(raw, dict) else ""
    kind = next((kind for kind in kinds if kind.__name__ == name), None)
    if kind is None:
        raise ValueError(f"not a message: {line[:80]}")

    return JSONNode("", raw).record(kind)


def send(pipe: IO[str], message: Any) -> None:
    """Write the record to a pipe between our processes. Raises BrokenPipeError, ValueError for a closed one."""
    pipe.write(line_of(message) + "\n")
    pipe.flush()


def own_stdout() -> TextIO:
    """The pipe that messages go out on; what a library prints lands on stderr from now on."""
    pipe = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(pipe, "w", encoding="utf-8")
