"""What the users of a load do: files, mix of requests, pauses, times; kept with the load, every number of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from storage.json_reader import JSONNode
from storage.loads.reading import between, flag_or_no, number_or_none, text_or_none, whole_or
from storage.records import JSONValue


class RequestKind(StrEnum):
    """One file request of a user, from its open to its close."""

    READ = "read"
    """Open a file, read it whole, close it."""
    WRITE = "write"
    """Open a file, write it whole, close it."""
    READ_PARTS = "read-parts"
    """Ask about a file, open it, read pieces of it here and there, close it."""
    WRITE_PARTS = "write-parts"
    """Open a file, write a piece of it, close it."""
    LIST = "list"
    """List a folder."""
    QUERY = "query"
    """Ask about a file's size and kind."""
    SAVE = "save"
    """Write a new file beside an old one, remove the old one, give the new one its name."""
    COPY_IN = "copy-in"
    """Make a file in a folder of the user's own, in place of the one copied in before."""
    COPY_OUT = "copy-out"
    """Ask about a file, open it, read it whole, close it."""
    PRINT = "print"
    """Hand a job to a printer share."""

    @property
    def reads(self) -> bool:
        """Whether its bytes come from the server."""
        return self in {RequestKind.READ, RequestKind.READ_PARTS, RequestKind.COPY_OUT}

    @property
    def writes(self) -> bool:
        """Whether its bytes go to the server."""
        return self in {
            RequestKind.WRITE, RequestKind.WRITE_PARTS, RequestKind.SAVE, RequestKind.COPY_IN, RequestKind.PRINT,
        }  # fmt: skip

    @property
    def needs_handles(self) -> bool:
        """Whether it needs open files, which FTP has not."""
        return self in {RequestKind.READ_PARTS, RequestKind.WRITE_PARTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeClass:
    """Files of one size."""

    size_bytes: int
    share: float
    """Of all files, in parts of the sum of all shares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Think:
    """The pause between an answer and the next request."""

    seconds: float
    exponential: bool = False
    """Whether pauses scatter as waiting for people does, around that mean."""

    def __str__(self) -> str:
        return f"{'exp:' if self.exponential else ''}{self.seconds:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One workload."""

    name: str
    about: str = ""
    files: int = 0
    sizes: tuple[SizeClass, ...] = ()
    requests: Mapping[RequestKind, float] = field(default_factory=dict)
    """Shares of the kinds of request; none for users who only stay connected."""
    think: Think = Think(seconds=0.1)
    pace_seconds: float | None = None
    """A request of each user is due every so often, whenever the one before was answered; absent for think time."""
    duration_seconds: float = 60.0
    settle_seconds: float = 10.0
    seed: int = 1

    def to_json(self) -> dict[str, JSONValue]:
        """Every number of it."""
        return {
            "name": self.name,
            "about": self.about,
            "files": self.files,
            "sizes": [{"size_bytes": each.size_bytes, "share": each.share} for each in self.sizes],
            "requests": {kind.value: share for kind, share in self.requests.items()},
            "think_seconds": self.think.seconds,
            "think_exponential": self.think.exponential,
            "pace_seconds": self.pace_seconds,
            "duration_seconds": self.duration_seconds,
            "settle_seconds": self.settle_seconds,
            "seed": self.seed,
        }


MOST_FILES, MOST_SECONDS = 10_000_000, 7 * 86400.0


def scenario_from_json(node: JSONNode) -> Scenario:
    """The scenario of :meth:`Scenario.to_json`. Raises DocumentError."""
    node = node.object()
    sizes = tuple(
        SizeClass(size_bytes=each.object().at("size_bytes").whole(at_least=1), share=_share(each.at("share")))
        for each in node.maybe("sizes").items()
    )
    mix = node.maybe("requests")
    kinds = {JSONNode(f"{mix.name}.{name}", name).one_of(RequestKind): name for name in mix.object_or_empty()}
    found = Scenario(
        name=node.at("name").filled_text(),
        about=text_or_none(node.maybe("about")) or "",
        files=whole_or(node.maybe("files"), 0, at_most=MOST_FILES),
        sizes=sizes,
        requests={kind: _share(mix.at(name)) for kind, name in kinds.items()},
        think=Think(
            seconds=_seconds(node.maybe("think_seconds"), 0.1), exponential=flag_or_no(node.maybe("think_exponential"))
        ),
        pace_seconds=between(node.maybe("pace_seconds"), 0, MOST_SECONDS),
        duration_seconds=between(node.maybe("duration_seconds"), 0, MOST_SECONDS) or 60.0,
        settle_seconds=_seconds(node.maybe("settle_seconds"), 10.0),
        seed=whole_or(node.maybe("seed"), 1, at_most=2**31),
    )
    needs_files = any(kind is not RequestKind.PRINT for kind in found.requests)
    if needs_files and not found.files:
        raise node.maybe("files").wrong("a number of files above 0, since its requests need some")
    if (needs_files or found.requests) and not sizes:
        raise node.maybe("sizes").wrong("at least one size")
    return found


def _share(node: JSONNode) -> float:
    found = between(node, 0, 1e6)
    if found is None:
        raise node.wrong("a share above 0")
    return found


def _seconds(node: JSONNode, otherwise: float) -> float:
    found = number_or_none(node)
    if found is None:
        return otherwise
    if not 0 <= found <= MOST_SECONDS:
        raise node.wrong(f"seconds from 0 to {MOST_SECONDS:g}")
    return found
