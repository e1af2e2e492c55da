"""The choices a series was measured by: an allow-list with the type and range of each.

They say how to measure, never where, as whom, or what is done already: whatever else stands in a document or in a file
that somebody wrote into is left out, and what is not of its type is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from storage.records import JSONValue


@dataclass(frozen=True, slots=True)
class _Range:
    """Whole numbers, or any, between two; or none."""

    low: float
    high: float
    whole: bool = True
    absent: bool = False

    def takes(self, value: JSONValue) -> bool:
        if value is None:
            return self.absent
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return self.low <= value <= self.high and (isinstance(value, int) or not self.whole)

    def __str__(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        return f"{kind} from {self.low:g} to {self.high:g}{' or null' if self.absent else ''}"


@dataclass(frozen=True, slots=True)
class _Text:
    """Short text without control characters, or one of some words; or none."""

    words: tuple[str, ...] = ()
    absent: bool = False

    def takes(self, value: JSONValue) -> bool:
        if value is None:
            return self.absent
        if not isinstance(value, str) or len(value) > _LONGEST_TEXT or not (value.isprintable() or not value):
            return False
        return value in self.words if self.words else True

    def __str__(self) -> str:
        return f"one of {', '.join(self.words)}" if self.words else "a short text"


class _Truth:
    """True or false."""

    def takes(self, value: JSONValue) -> bool:
        return isinstance(value, bool)

    def __str__(self) -> str:
        return "true or false"


_Check = _Range | _Text | _Truth
_LONGEST_TEXT = 1000
_MOST_BYTES = 2**62

_SETTINGS: Mapping[str, _Check] = {
    "block_bytes": _Range(1, 2**31, absent=True),
    "in_flight": _Range(1, 512, absent=True),
    "sign": _Truth(),
    "encrypt": _Truth(),
    "timeout_seconds": _Range(0.1, 86400, whole=False),
    "drop_cache": _Truth(),
}
_CHOICES: Mapping[str, _Check] = {
    "client": _Text(),
    "runs": _Range(0, 100_000),
    "warmups": _Range(0, 1000),
    "until_percent": _Range(1e-9, 100, whole=False, absent=True),
    "max_runs": _Range(1, 100_000),
    "size_bytes": _Range(1, _MOST_BYTES, absent=True),
    "make_file": _Truth(),
    "verify": _Truth(),
    "quiet_time": _Text(("record", "require", "skip")),
    "ceiling": _Text(("record", "renew", "skip")),
}
_OF_THIS_MACHINE: Mapping[str, _Check] = {"server_ssh": _Text(absent=True), "smb_conf": _Text(absent=True)}
"""What reads files here and logs in elsewhere: taken from our own notebook, never from a document."""


def checked_choices(raw: Mapping[str, JSONValue], *, foreign: bool = False) -> dict[str, JSONValue]:
    """The choices that are known, each of its type. Raises ValueError, which names the first that is not.

    ``foreign`` ones come from a document.
    """
    found = _checked(raw, _CHOICES if foreign else {**_CHOICES, **_OF_THIS_MACHINE}, "plan")
    settings = raw.get("settings")
    if settings is not None:
        if not isinstance(settings, dict):
            raise ValueError(f"plan.settings: expected an object, found {str(settings)[:40]!r}")
        found["settings"] = _checked(settings, _SETTINGS, "plan.settings")
    return found


def _checked(raw: Mapping[str, JSONValue], allowed: Mapping[str, _Check], where: str) -> dict[str, JSONValue]:
    for name, value in raw.items():
        if name in allowed and not allowed[name].takes(value):
            raise ValueError(f"{where}.{name}: expected {allowed[name]}, found {str(value)[:40]!r}")
    return {name: value for name, value in raw.items() if name in allowed}
