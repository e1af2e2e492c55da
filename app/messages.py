"""What our processes say to each other: frozen records, each one JSON object a line that names its type."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import IO, Any, TextIO

from storage.json_reader import JSONNode


def plain(value: Any) -> Any:
    """A record as JSON has it, to be read by :meth:`JSONNode.record`."""
    if isinstance(value, type):
        return value.__name__
    if hasattr(value, "to_json"):
        return value.to_json()
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, tuple) else value


def line_of(message: Any) -> str:
    """The record as one line without its end; secrets included: for a pipe between our processes and nothing else."""
    return json.dumps({"event": type(message).__name__, **plain(message)})


def message_of(line: str, kinds: Iterable[type]) -> Any:
    """The record of one of these types that :func:`line_of` wrote. Raises ValueError for anything else."""
    raw: dict[str, Any] = json.loads(line)
    kind = {each.__name__: each for each in kinds}.get(raw.pop("event", ""))
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
