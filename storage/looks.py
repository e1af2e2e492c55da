"""Audits, diagnoses and watches: a server's settings, what users wait for, and paths compared again and again."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from typing import Annotated

from storage import records
from storage.codec import of_a_sound_file
from storage.json_reader import Filled, JSONNode, Moment, NotNegative
from storage.plan import Settings
from storage.recordings import Recording, to_recording, with_head

AUDIT = "audit"


class Ruling(StrEnum):
    """What is wrong with a setting, the gravest first."""

    HARMFUL = "harmful"
    CONTRADICTORY = "contradictory"
    RISKY = "risky"
    MISPLACED = "misplaced"
    WORTH_TRYING = "worth trying"
    USELESS = "useless"


class AuditScope(StrEnum):
    SERVER = "server"
    FILE = "file"
    SESSION = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFinding:
    key: Filled
    verdict: Ruling
    cost: int = 0
    """How much it takes, to sort those of one verdict by; no unit."""
    setting: str
    """As it is written."""
    value: str = ""
    why: str
    what_to_do: str
    file: str = ""
    line: int = 0
    """0 where no line of a file is meant."""
    section: str = ""
    parameter: str = ""
    """The parameter's name in Samba; empty where it is none that Samba knows."""
    word: str = ""
    """The one word of the value that is meant; empty for all of it."""
    instead: str | None = None
    """The line to write, empty to delete it, None where a person has to decide."""
    price: str = ""
    """What it costs, for people."""
    price_source: str = ""
    advised_by: tuple[str, ...] = ()
    """Who recommended it once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedSetting:
    section: str
    name: str
    value: str
    file: str = ""
    line: int = 0


def _fact(place: JSONNode) -> records.FactValue:
    return place.text() if isinstance(place.value, str) else place.number()


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    id: Filled
    created_at: Moment
    subject: Filled
    scope: AuditScope
    settings: tuple[AuditedSetting, ...] = ()
    facts: Mapping[str, Annotated[records.FactValue, _fact]] = field(default_factory=dict)
    findings: tuple[AuditFinding, ...] = ()
    problems: tuple[str, ...] = ()
    label: str = ""
    note: str = ""
    question: str = ""

    def count(self, verdict: Ruling) -> int:
        return sum(finding.verdict is verdict for finding in self.findings)

    def settings_by_name(self) -> dict[str, str]:
        return {f"[{setting.section}] {setting.name}": setting.value for setting in self.settings}


def audit_from_json(node: JSONNode) -> Audit:
    """The audit in a JSON object. Raises DocumentError with the first wrong place."""
    return node.record(Audit, needs=("findings",))


@of_a_sound_file
def audit_of(recording: Recording) -> Audit:
    """The audit in a stored recording. Raises DamagedNotebookError."""
    return audit_from_json(with_head(recording))


DIAGNOSIS = "diagnosis"


class StageName(StrEnum):
    """The stages, in measured order: the first login of the process comes before any other."""

    SETTINGS = "settings"
    CONNECT = "connect"
    DISTANCE = "distance"
    SMALL_FILES = "small-files"
    FOLDERS = "folders"
    PROTECTION = "protection"
    LONG_RUN = "long-run"
    CARDS = "cards"


def stages_of(only: Collection[StageName]) -> tuple[StageName, ...]:
    return tuple(name for name in StageName if not only or name in only)


class Effort(StrEnum):
    QUICK = "quick"
    USUAL = "usual"
    THOROUGH = "thorough"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    name: StageName
    status: records.SeriesStatus = records.SeriesStatus.COMPLETE
    error: str | None = None
    seconds: NotNegative = 0.0
    samples: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """In measured order."""
    facts: Annotated[records.Facts, JSONNode.object_or_empty] = field(default_factory=dict)

    def of(self, name: str) -> tuple[float, ...]:
        """The samples of that name; empty where none was taken."""
        return self.samples.get(name, ())

    def number(self, name: str) -> float | None:
        value = self.facts.get(name)
        return float(value) if isinstance(value, int | float) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis(records.Head):
    target: records.Target
    settings: Settings = field(default_factory=Settings)
    effort: Effort = Effort.USUAL
    only: tuple[StageName, ...] = ()
    folder: str | None = None
    """An existing folder on the share that is listed in place of new ones; it is only read."""
    server_ssh: str | None = None
    smb_conf: str | None = None
    profile: bool = False
    loopback: bool = False
    link_bits_per_second: float | None = None
    client: records.ClientFacts | None = None
    environment: Mapping[str, Annotated[records.Facts, JSONNode.object_or_empty]] = field(default_factory=dict)
    stages: tuple[Stage, ...] = ()
    audit: Audit | None = None
    leftover: str | None = None
    """Our folder that may still be on the share."""

    @property
    def planned(self) -> tuple[StageName, ...]:
        return stages_of(self.only)

    def stage(self, name: StageName) -> Stage | None:
        """None where it was not measured to its end."""
        for stage in self.stages:
            if stage.name is name and stage.status is records.SeriesStatus.COMPLETE:
                return stage
        return None

    def with_stage(self, stage: Stage) -> "Diagnosis":
        """With it in place of an earlier stage of that name."""
        others = [other for other in self.stages if other.name is not stage.name]
        return replace(self, stages=(*others, stage))


_LOCAL = frozenset({"leftover"})


@of_a_sound_file
def diagnosis_of(recording: Recording) -> Diagnosis:
    """The diagnosis in a stored recording. Raises DamagedNotebookError."""
    diagnosis = diagnosis_from_json(with_head(recording))
    folder = (recording.leftovers or {}).get("folder")
    return replace(diagnosis, leftover=folder if isinstance(folder, str) else None)


def diagnosis_from_json(node: JSONNode) -> Diagnosis:
    """The diagnosis in a JSON object. Raises DocumentError with the first wrong place."""
    return node.record(Diagnosis, leave=_LOCAL, needs=("stages",))


WATCH = "watch"


class WatchState(StrEnum):
    """What a check found. The first three can be a standing: what lasts until a check finds otherwise."""

    STEADY = "steady"
    SLOWER = "slower"
    UNMEASURABLE = "unmeasurable"
    RECOVERED = "recovered"
    POSTPONED = "postponed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The watch of one path, as its last check left it."""

    id: Filled
    created_at: Moment
    subject: Filled
    """The path's URL without the user."""
    baseline: Filled
    command: records.Command
    state: WatchState = WatchState.POSTPONED
    standing: WatchState = WatchState.STEADY
    """Steady, slower or unmeasurable."""
    since: Moment
    told: WatchState = WatchState.STEADY
    """The standing that was last reported."""
    attempted_at: Moment
    succeeded_at: Moment | None = None
    series_id: str | None = None
    """The last series that could be judged."""
    slow_ids: tuple[str, ...] = ()
    """The series that showed the slowdown; empty again after recovery."""
    unconfirmed_ids: tuple[str, ...] = ()
    """Series that were slower, each not confirmed by the next: no history of the path."""
    why: str = ""
    label: str = ""
    note: str = ""
    question: str = ""

    @property
    def is_measured(self) -> bool:
        return self.succeeded_at == self.attempted_at


def unconfirmed_ids(watches: Iterable[Recording]) -> frozenset[str]:
    return frozenset(chain.from_iterable(watch_of(watch).unconfirmed_ids for watch in watches))


@of_a_sound_file
def watch_of(recording: Recording) -> Watch:
    """The watch in a stored recording. Raises DamagedNotebookError."""
    return with_head(recording).record(Watch)


def recording_of(record: Audit | Diagnosis | Watch) -> Recording:
    if isinstance(record, Audit):
        return to_recording(record, AUDIT, status=records.SeriesStatus.COMPLETE)
    if isinstance(record, Watch):
        return to_recording(record, WATCH, status=records.SeriesStatus.COMPLETE)
    return to_recording(
        record,
        DIAGNOSIS,
        apart=_LOCAL,
        subject=records.format_target(replace(record.target, user=None, domain=None)),
        leftovers={"folder": record.leftover} if record.leftover else None,
    )
