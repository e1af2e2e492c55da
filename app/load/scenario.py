"""Scenarios, which are the work of a load's users: named ones, a user's own files, and options that change them."""

import re
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from app.base.errors import UsageError
from app.base.units import parse_size
from app.base.user_files import read_toml
from storage.json_reader import DocumentError, JSONNode
from storage.load.records import MOST_USERS, RequestKind, Scenario, SizeClass, Think, scenario_from_json

NAMES = ("redpaper", "office", "small", "large", "idle", "print")
"""Of the data files in scenarios/."""
_KEYS = ("name", "about", "files", "sizes", "requests", "think", "pace", "duration", "settle", "seed")
_LINE = re.compile(r"\(at line (\d+)")


def scenario_text(name: str) -> str:
    """The data file of a named scenario. Raises UsageError for another name."""
    if name not in NAMES:
        raise UsageError(f"no scenario is called {name!r}: take {', '.join(NAMES)}")
    return files("app.load").joinpath("scenarios", f"{name}.toml").read_text(encoding="utf-8")


def find_scenario(name: str) -> Scenario:
    """The scenario of that name or file. Raises UsageError with the wrong line."""
    if name in NAMES:
        return read_scenario(scenario_text(name), name)
    path = Path(name)
    if not path.suffix and "/" not in name:
        raise UsageError(f"no scenario is called {name!r}: take {', '.join(NAMES)}, or a file such as mine.toml")
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the scenario {name} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the scenario {name} cannot be read: it is no text") from error
    return read_scenario(text, name)


def read_scenario(text: str, where: str) -> Scenario:
    """Parse a data file. Raises UsageError with the line and what is expected."""
    try:
        table = read_toml(text)
    except ValueError as error:
        line = match[1] if (match := _LINE.search(str(error))) else str(text.count("\n") + 1)
        raise UsageError(f"{where}, line {line}: {str(error).partition(' (at')[0]}") from error

    for key in table:
        if key not in _KEYS:
            raise UsageError(
                f"{where}, {_line(text, key)}: {key!r} is no part of a scenario; known: {', '.join(_KEYS)}"
            )

    try:
        return scenario_from_json(JSONNode("", _as_document(table)))
    except (DocumentError, UsageError) as error:
        # It begins with the place of what is wrong, such as ``sizes[0].share: …`` or ``duration_seconds: …``.
        key = re.split(r"[.\[:]", str(error))[0].removesuffix("_seconds")
        raise UsageError(f"{where}, {_line(text, key)}: {error}") from error


def _as_document(table: Mapping[str, Any]) -> dict[str, Any]:
    document = {key: value for key, value in table.items() if key not in {"sizes", "think", "pace"}}
    document["duration_seconds"] = document.pop("duration", None)
    document["settle_seconds"] = document.pop("settle", None)

    sizes = table.get("sizes", [])
    if not isinstance(sizes, list) or not all(isinstance(size, dict) for size in sizes):
        raise UsageError('sizes: expected a list such as [{size = "4K", share = 1}]')
    document["sizes"] = [{"size_bytes": _size(size.get("size")), "share": size.get("share", 1)} for size in sizes]

    think = parse_think(str(table.get("think", "0.1")))
    document |= {"think_seconds": think.seconds, "think_exponential": think.exponential}
    document["pace_seconds"] = table.get("pace")
    return document


def _size(value: Any) -> int:
    try:
        return value if isinstance(value, int) else parse_size(str(value))
    except UsageError as error:
        raise UsageError(f"sizes: {error}") from error


def _line(text: str, key: str) -> str:
    """Where a key stands in the file, such as ``line 3``; the last line where it is missing."""
    lines = text.splitlines()
    numbers = (number for number, line in enumerate(lines, 1) if re.match(rf'\s*"?{re.escape(key)}\b', line))
    return f"line {next(numbers, max(1, len(lines)))}"


def parse_think(text: str) -> Think:
    """The pause in ``0.1`` or ``exp:0.1`` (seconds). Raises UsageError."""
    kind, _, number = text.rpartition(":")
    try:
        seconds = float(number)
    except ValueError:
        seconds = -1.0
    if kind not in {"", "exp"} or not 0 <= seconds <= 3600:
        raise UsageError(f"think: expected seconds such as 0.1, or exp:0.1 for random pauses; found {text!r}")
    return Think(seconds=seconds, exponential=kind == "exp")


def parse_sizes(text: str) -> tuple[SizeClass, ...]:
    """The size classes in ``4K:8,64K:3,1M:1``; a missing share is 1. Raises UsageError."""
    classes = []
    for word in text.split(","):
        size, _, share = word.partition(":")
        try:
            classes.append(SizeClass(size_bytes=parse_size(size), share=float(share or 1)))
        except ValueError as error:
            raise UsageError(
                f"sizes: expected sizes with shares, such as 4K:8,64K:3,1M:1; found {word!r}", options="--sizes"
            ) from error
    if any(not 0 < size.share < 1e6 or size.size_bytes < 1 for size in classes):
        raise UsageError(f"sizes: every size and share is above 0; found {text!r}", options="--sizes")
    return tuple(classes)


def parse_users(text: str) -> tuple[int, ...]:
    """The points in ``10,20,40`` or ``10..200/10``. Raises UsageError."""
    points: tuple[int, ...] = ()
    if match := re.fullmatch(r"(\d{1,7})\.\.(\d{1,7})/(\d{1,7})", text.replace(" ", "")):
        first, last, step = (int(number) for number in match.groups())
        points = tuple(range(first, min(last, MOST_USERS) + 1, step)) if step else ()
    elif re.fullmatch(r"\d{1,7}(,\d{1,7})*", text.replace(" ", "")):
        points = tuple(int(number) for number in text.split(","))

    if not points or min(points) < 1 or max(points) > MOST_USERS:
        raise UsageError(
            f"users: expected numbers up to {MOST_USERS}, such as 10,20,40 or 10..200/10; found {text!r}",
            options="--users",
        )
    return points


def change_scenario(
    scenario: Scenario,
    *,
    files: int | None = None,
    think: str | None = None,
    sizes: str | None = None,
    seed: int | None = None,
    duration_seconds: float | None = None,
    settle_seconds: float | None = None,
    pace_seconds: float | None = None,
    read: float | None = None,
) -> Scenario:
    """The scenario changed by options; None changes nothing. Raises UsageError."""
    return replace(
        scenario,
        files=scenario.files if files is None else files,
        think=scenario.think if think is None else parse_think(think),
        sizes=scenario.sizes if sizes is None else parse_sizes(sizes),
        seed=scenario.seed if seed is None else seed,
        duration_seconds=scenario.duration_seconds if duration_seconds is None else duration_seconds,
        settle_seconds=scenario.settle_seconds if settle_seconds is None else settle_seconds,
        pace_seconds=scenario.pace_seconds if pace_seconds is None else pace_seconds,
        requests=scenario.requests if read is None else _with_reads(scenario.requests, read),
    )


def _with_reads(requests: Mapping[RequestKind, float], percent: float) -> dict[RequestKind, float]:
    """Both sides keep their kinds, and get that share of the requests; a side that had none gets the plain kind."""
    reads = {kind: share for kind, share in requests.items() if kind.reads} or {RequestKind.READ: 1.0}
    writes = {kind: share for kind, share in requests.items() if kind.writes} or {RequestKind.WRITE: 1.0}

    mixed: dict[RequestKind, float] = {}
    for side, side_percent in ((reads, percent), (writes, 100 - percent)):
        if side_percent > 0:
            all_shares = sum(side.values())
            mixed |= {kind: side_percent * share / all_shares for kind, share in side.items()}
    return mixed
