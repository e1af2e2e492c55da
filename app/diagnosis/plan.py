"""How much a diagnosis measures, and what its two processes say to each other.

The program's own process sends a DiagnosisPlan, then MeasureStage for one stage after another, at last FinishDiagnosis.
The measuring process (`app.diagnosis.child`) answers each stage with StageMeasured, and tells Ended at its end.
"""

from dataclasses import dataclass, field, replace
from typing import get_args

from app.base.errors import NoSpaceError
from app.clients.base import Secrets
from app.recording.process import Failed
from forms import wording
from forms.diagnosis.summary import patterns
from storage.looks import Effort, Stage, StageName
from storage.plan import Settings
from storage.records import ClientFacts, Target

KIB = 1024
MIB = 1024 * KIB
SHARE_OF_FREE = 0.1
"""The most that a diagnosis takes of the free space."""
_LEAST_SHARE = 0.02
"""Less than this share of the planned bytes measures nothing."""
_SHORT_STAGE_SECONDS = 5.0
_SHORT_STAGES = frozenset({StageName.SETTINGS, StageName.CONNECT, StageName.WINDOW})
"""These move no files, and so take no longer with a greater effort."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How often each stage repeats, and how many files and bytes it makes."""

    stage_seconds: float = 45.0
    """After that a stage begins no further part."""

    # Connect and distance

    logins: int = 5
    echoes: int = 50
    """Empty requests, whose round trips are timed."""

    # Small files

    files: int = 500
    file_bytes: int = 16 * KIB
    streams: int = 8
    """Connections over which the files are moved at the same time."""
    pattern_files: int = 64
    """Copied in the pattern of each program and each round, at most."""
    small_file_rounds: int = 3
    """Rounds in which the files are moved by one stream, by several, and in the pattern of each program, at most."""

    # Large folders

    entries: tuple[int, ...] = (1_000, 10_000)
    """Of each folder that is made."""
    asked: int = 50
    """Entries and missing names of a large folder that are asked about one by one."""

    # Large files: the bulk file of distance, protection and cards, and that of the long run

    bulk_bytes: int = 64 * MIB
    rounds: int = 6
    """How often the bulk file is read in each way that is compared."""
    long_bytes: int = 512 * MIB

    def amount(self, stages: tuple[StageName, ...], *, own_folders: bool) -> tuple[int, int]:
        """How many files these stages create, and their bytes together."""
        files = 0
        size_bytes = 0

        if StageName.SMALL_FILES in stages:
            # Those of one stream, those of several at once, and in each round those of each program's pattern.
            files_a_round = len(patterns()) * min(self.files, self.pattern_files)
            files = 2 * self.files + self.small_file_rounds * files_a_round
            size_bytes = files * self.file_bytes

        if StageName.FOLDERS in stages and own_folders:
            files += sum(self.entries)

        if {StageName.DISTANCE, StageName.PROTECTION, StageName.CARDS} & set(stages):
            files += 1
            size_bytes += self.bulk_bytes

        if StageName.LONG_RUN in stages:
            files += 1
            size_bytes += self.long_bytes

        return files, size_bytes

    def seconds(self, stages: tuple[StageName, ...]) -> float:
        """How long these stages take at most, on a local network."""
        return sum(_SHORT_STAGE_SECONDS if stage in _SHORT_STAGES else self.stage_seconds for stage in stages)

    def within(self, free_bytes: int | None, stages: tuple[StageName, ...], *, own_folders: bool) -> "Sizes":
        """Smaller sizes where the usual ones exceed the allowed share of the free space. Raises NoSpaceError."""
        _, planned_bytes = self.amount(stages, own_folders=own_folders)
        allowed_bytes = planned_bytes if free_bytes is None else free_bytes * SHARE_OF_FREE
        if planned_bytes <= allowed_bytes:
            return self

        share = allowed_bytes / planned_bytes
        if share < _LEAST_SHARE:
            raise NoSpaceError(
                f"the share has {wording.binary_size(free_bytes or 0)} free, and a diagnosis uses at most"
                f" {100 * SHARE_OF_FREE:.0f} % of that: free some, or choose stages that write nothing (--only connect)"
            )
        return replace(
            self,
            files=max(1, int(self.files * share)),
            pattern_files=int(self.pattern_files * share),
            bulk_bytes=max(KIB, int(self.bulk_bytes * share)),
            long_bytes=max(KIB, int(self.long_bytes * share)),
        )


SIZES = {
    Effort.QUICK: Sizes(
        logins=3,
        echoes=30,
        files=64,
        streams=4,
        pattern_files=16,
        entries=(200, 2_000),
        asked=20,
        bulk_bytes=8 * MIB,
        rounds=4,
        long_bytes=256 * MIB,
        stage_seconds=8.0,
    ),
    Effort.USUAL: Sizes(),
    Effort.THOROUGH: Sizes(
        entries=(1_000, 10_000, 100_000),
        rounds=12,
        long_bytes=8 * 1024 * MIB,
        stage_seconds=180.0,
    ),
}


def sizes_of(effort: Effort, complaint: StageName | None) -> Sizes:
    """How much is measured: folders as large as usual only where nothing else was named as the complaint.

    Most of the files of a usual diagnosis are entries of its large folders, on a server that people work on.
    """
    sizes = SIZES[effort]
    if effort is not Effort.USUAL or complaint in {None, StageName.FOLDERS}:
        return sizes
    return replace(sizes, entries=SIZES[Effort.QUICK].entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisPlan:
    """What the measuring process is told first."""

    target: Target
    secrets: Secrets = field(default_factory=Secrets)
    settings: Settings = field(default_factory=Settings)
    sizes: Sizes
    stages: tuple[StageName, ...]
    own_folder: str
    """Its name; it is made by the first stage that writes."""
    folder: str | None = None
    """An existing folder of the share to list, instead of new ones."""
    profile_ssh: str | None = None
    """How the server is reached for the profile; None for this machine."""
    profile_conf: str | None = None
    """The smb.conf of the smbd whose profile is read; None: no profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureStage:
    name: StageName


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckShare:
    """See that it can log in and that the folder is there, where another machine measures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareChecked:
    """The answer to CheckShare."""

    failure: Failed | None = None
    """Why nothing can be measured on that share; None where something can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishDiagnosis:
    """Remove everything and end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderMade:
    """Our folder is about to be made on the share."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StageMeasured:
    """A stage has ended, well or not."""

    stage: Stage
    client: ClientFacts | None = None
    """What was negotiated with the server; None where no stage has moved a file yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The process ends; ``problem`` says why our folder is still there."""

    problem: str = ""


ChildEvent = FolderMade | ShareChecked | StageMeasured | Ended
CHILD_EVENTS: tuple[type, ...] = get_args(ChildEvent)
ORDERS = (MeasureStage, CheckShare, FinishDiagnosis)
