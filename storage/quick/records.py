"""The record of a quick test: four ways to ask for blocks of one file, each read and written, as everybody quotes them.

A *line* is one of these ways in one direction, such as ``SEQ1M Q8`` read: blocks of 1 MiB one after the other, eight
requests under way at once. It is stored whole in the ``content`` of its recording. A quick test may also be the result
of another program that was imported; such a line has one rate and no runs.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from storage import records
from storage.codec import reports_damage
from storage.json_reader import AboveZero, Count, JSONNode, NotNegative
from storage.plan import Settings
from storage.recordings import Recording, to_recording, with_head
from storage.request_times import RequestTimes

QUICK = "quick"

MIB = 1024**2
USUAL_FILE_BYTES = 1024 * MIB
"""Of the file that is made, where the path carries as much in time."""
LEAST_FILE_BYTES = 64 * MIB
"""The smallest file: a smaller one would fit into the memory of a disk itself."""

_UNITS = ((MIB, "M"), (1024, "K"))
_REQUESTS_OF_ONE_THREAD = re.compile(r"\bQ\d+(?!\d|T)")


def quoted_name(name: str) -> str:
    """The name of a line or an access as everybody quotes it: ``SEQ1M Q8T1 read`` for ``SEQ1M Q8 read``."""
    return _REQUESTS_OF_ONE_THREAD.sub(r"\g<0>T1", name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A way to ask for the blocks of a file."""

    random: bool
    """Whether the blocks lie at random places; else they follow one another."""
    block_bytes: Count
    in_flight: Count
    """Requests under way at once, of each thread."""
    threads: Count = 1

    @property
    def name(self) -> str:
        """As documents have it: ``SEQ1M Q8``, or ``RND4K Q32T16`` with several threads."""
        threads = f"T{self.threads}" if self.threads > 1 else ""
        return f"{self.family} Q{self.in_flight}{threads}"

    @property
    def quoted_name(self) -> str:
        """As everybody quotes it: ``SEQ1M Q8T1``."""
        return quoted_name(self.name)

    @property
    def family(self) -> str:
        """The accesses that differ from it by the number of requests alone: ``SEQ1M``."""
        order = "RND" if self.random else "SEQ"
        return f"{order}{_block_text(self.block_bytes)}"

    @property
    def requests_at_once(self) -> int:
        """Of all threads."""
        return self.in_flight * self.threads


def _block_text(block_bytes: int) -> str:
    for unit_bytes, unit in _UNITS:
        if block_bytes % unit_bytes == 0:
            return f"{block_bytes // unit_bytes}{unit}"
    return str(block_bytes)


ACCESSES = (
    Access(random=False, block_bytes=MIB, in_flight=8),
    Access(random=False, block_bytes=MIB, in_flight=1),
    Access(random=True, block_bytes=4096, in_flight=32),
    Access(random=True, block_bytes=4096, in_flight=1),
)
"""The four of every quick test, in the order of its table: those of CrystalDiskMark's default profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickRun:
    """One timed run of a line."""

    seconds: AboveZero
    """From the first request until the last answer."""
    moved_bytes: Count
    requests: Count
    request_nanoseconds: Count
    """The sum of the times of all requests, each from sent to answered."""
    cpu_seconds: NotNegative = 0.0
    """Processor time of the client that measured, on all its threads."""
    held_seconds: NotNegative | None = None
    """In which the client computed, or waited for a processor that others had; None where nobody looked."""

    @property
    def bytes_per_second(self) -> float:
        return self.moved_bytes / self.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickLine:
    """One way to ask for blocks, read or written: a line of the table."""

    access: Access
    command: records.Command
    """A get reads, a put writes."""
    runs: tuple[QuickRun, ...] = ()
    times: RequestTimes = field(default_factory=RequestTimes)
    """Of all requests of all runs."""
    request_bytes: Count | None = None
    """Of one request, where the server takes none as large as a block; None for a whole block."""

    # What another program says of its best run.
    best_bytes_per_second: AboveZero | None = None
    best_request_seconds: NotNegative | None = None
    """The mean of its requests; None where the program does not tell."""

    @property
    def name(self) -> str:
        """As documents have it: ``SEQ1M Q8 read``."""
        return f"{self.access.name} {self.direction}"

    @property
    def quoted_name(self) -> str:
        """As everybody quotes it: ``SEQ1M Q8T1 read``."""
        return quoted_name(self.name)

    @property
    def direction(self) -> str:
        return "read" if self.reads else "write"

    @property
    def reads(self) -> bool:
        return self.command is records.Command.GET


@dataclass(frozen=True, slots=True, kw_only=True)
class Quick(records.Head):
    """A quick test of one path, or the result of another program."""

    # What was asked for.
    target: records.Target | None = None
    """The folder that the file is made in; None where another program measured."""
    settings: Settings = field(default_factory=Settings)
    size_bytes: Count = USUAL_FILE_BYTES
    """The largest size of the file."""
    run_seconds: AboveZero | None = None
    """How long a run lasts at most; None where another program measured."""

    # What was found out.
    program: str = ""
    """The other program that measured, with its version; empty for sharebench."""
    file_bytes: NotNegative = 0
    """Of the file; 0 before it was made."""
    file_lacks_room: bool | None = None
    """Whether the free space made the file smaller than was asked for, else the time; None for a whole or unknown."""
    link_bits_per_second: Count | None = None
    loopback: bool = False
    """Whether the bytes crossed no network card."""
    past_page_cache: bool | None = None
    """Of a local path: whether the requests went past the page cache; None for a path through a network."""
    client: records.ClientFacts | None = None
    environment: Mapping[str, Annotated[records.Facts, JSONNode.object_or_empty]] = field(default_factory=dict)
    lines: tuple[QuickLine, ...] = ()
    """Those that were measured, in the order of their measurement."""
    scratch_path: str | None = None
    """Our file that may still be there; None where none is."""

    def line(self, access: Access, command: records.Command) -> QuickLine | None:
        """The line of that access and direction; None where it was not measured."""
        for line in self.lines:
            if line.access == access and line.command is command:
                return line
        return None

    def with_line(self, new_line: QuickLine) -> "Quick":
        """With it in place of an earlier line of the same name, else at the end."""
        lines = [new_line if line.name == new_line.name else line for line in self.lines]
        if new_line not in lines:
            lines.append(new_line)
        return replace(self, lines=tuple(lines))


_NOT_IN_DOCUMENTS = frozenset({"scratch_path"})
"""Fields that hold for this notebook only, which has them in a column of their own."""


@reports_damage
def quick_of(recording: Recording) -> Quick:
    """The quick test in a stored recording. Raises DamagedNotebookError."""
    quick = quick_from_json(with_head(recording))
    path = (recording.leftovers or {}).get("file")
    return replace(quick, scratch_path=path if isinstance(path, str) else None)


def quick_from_json(node: JSONNode) -> Quick:
    """The quick test in a JSON object. Raises DocumentError with the first wrong place."""
    quick: Quick = node.record(Quick, leave=_NOT_IN_DOCUMENTS, needs=("id", "created_at", "lines"))
    return quick


def recording_of_quick(quick: Quick) -> Recording:
    """The quick test as the notebook stores it."""
    subject = quick.program
    if quick.target is not None:
        subject = records.format_target(quick.target, login=False)
    return to_recording(
        quick,
        QUICK,
        apart=_NOT_IN_DOCUMENTS,
        subject=subject,
        leftovers={"file": quick.scratch_path} if quick.scratch_path else None,
    )
