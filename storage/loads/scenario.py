"""What the users of a load do: files, requests, pauses, times."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated

from storage.json_reader import Count, Filled, JSONNode, above_zero_up_to, named, up_to
from storage.records import JSONValue

MOST_FILES, MOST_SECONDS, MOST_SHARE = 10_000_000, 7 * 86400.0, 1e6


def _share(node: JSONNode) -> float:
    if not 0 < node.number() <= MOST_SHARE:
        raise node.wrong("a share above 0")
    return node.number()


def _seconds(node: JSONNode) -> float:
    if not 0 <= node.number() <= MOST_SECONDS:
        raise node.wrong(f"seconds from 0 to {MOST_SECONDS:g}")
    return node.number()


class RequestKind(StrEnum):
    """One file request of a user, from open to close."""

    READ = "read"
    WRITE = "write"
    READ_PARTS = "read-parts"
    """Query, open, read pieces here and there, close."""
    WRITE_PARTS = "write-parts"
    LIST = "list"
    QUERY = "query"
    SAVE = "save"
    """Write a new file beside an old one, remove the old one, rename the new one."""
    COPY_IN = "copy-in"
    """Make a file in the user's folder, replacing the last one."""
    COPY_OUT = "copy-out"
    PRINT = "print"

    @property
    def reads(self) -> bool:
        return self in {RequestKind.READ, RequestKind.READ_PARTS, RequestKind.COPY_OUT}

    @property
    def writes(self) -> bool:
        return self in {
            RequestKind.WRITE, RequestKind.WRITE_PARTS, RequestKind.SAVE, RequestKind.COPY_IN, RequestKind.PRINT,
        }  # fmt: skip

    @property
    def needs_handles(self) -> bool:
        return self in {RequestKind.READ_PARTS, RequestKind.WRITE_PARTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeClass:
    """Files of one size."""

    size_bytes: Count
    share: Annotated[float, _share]


@dataclass(frozen=True, slots=True, kw_only=True)
class Think:
    """The pause between an answer and the next request."""

    seconds: float
    exponential: bool = False

    def __str__(self) -> str:
        return f"{'exp:' if self.exponential else ''}{self.seconds:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One workload."""

    name: Filled
    about: str = ""
    files: Annotated[int, up_to(MOST_FILES)] = 0
    sizes: tuple[SizeClass, ...] = ()
    requests: Mapping[RequestKind, Annotated[float, _share]] = field(default_factory=dict)
    think: Think = Think(seconds=0.1)
    pace_seconds: Annotated[float, above_zero_up_to(MOST_SECONDS)] | None = None
    """A request per user is due each interval, whatever the answer; absent for think time."""
    duration_seconds: Annotated[float, above_zero_up_to(MOST_SECONDS)] = 60.0
    settle_seconds: Annotated[float, _seconds] = 10.0
    seed: Annotated[int, up_to(2**31)] = 1

    def to_json(self) -> dict[str, JSONValue]:
        return {
            **named(self, "name", "about", "files"),
            "sizes": [{"size_bytes": each.size_bytes, "share": each.share} for each in self.sizes],
            "requests": {kind.value: share for kind, share in self.requests.items()},
            "think_seconds": self.think.seconds,
            "think_exponential": self.think.exponential,
            **named(self, "pace_seconds", "duration_seconds", "settle_seconds", "seed"),
        }


def scenario_from_json(node: JSONNode) -> Scenario:
    """The scenario of :meth:`Scenario.to_json`. Raises DocumentError."""
    found = node.record(Scenario, leave=frozenset({"think"}))
    think = found.think
    found = replace(
        found,
        think=Think(
            seconds=think.seconds if node.maybe("think_seconds").value is None else _seconds(node.at("think_seconds")),
            exponential=bool(node.maybe("think_exponential").read(bool | None)),
        ),
    )
    needs_files = any(kind is not RequestKind.PRINT for kind in found.requests)
    if needs_files and not found.files:
        raise node.maybe("files").wrong("a number of files above 0, since its requests need some")
    if (needs_files or found.requests) and not found.sizes:
        raise node.maybe("sizes").wrong("at least one size")
    return found
