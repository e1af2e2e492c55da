"""The records of two kinds of recording that have no tables of their own: audits and diagnoses.

An *audit* compares a server's settings with a catalogue of what is known of them. A *diagnosis* finds out what users
wait for, in stages that may contain an audit. Each is stored whole in the ``content`` of its recording.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated

from storage import records
from storage.codec import reports_damage
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


NO_SESSION = "no session: "
"""Begins the problem of an audit that nobody could log in for, or whose share did not open."""


class AuditScope(StrEnum):
    """What an audit looked at."""

    SERVER = "server"
    """The settings that a server has in effect, and its machine's."""
    FILE = "file"
    """A copy of an smb.conf."""
    SESSION = "session"
    """What a server tells any client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFinding:
    """Something that is wrong with a setting."""

    key: Filled
    """Names the rule that found it."""
    verdict: Ruling
    cost: int = 0
    """How much it takes, to sort those of one verdict by; no unit."""
    setting: str
    """Its name as it is written there."""
    value: str = ""
    """As it is written there."""
    why: str
    """What is wrong with it, for people."""
    what_to_do: str
    """For people."""

    # Where it is written.
    file: str = ""
    line: int = 0
    """0 where no line of a file is meant."""
    section: str = ""

    # What is meant by it, and what to write instead.
    parameter: str = ""
    """The parameter's own name in Samba, which ``setting`` may spell otherwise; empty where Samba knows none."""
    word: str = ""
    """The one word of the value that is meant; empty for all of it."""
    instead: str | None = None
    """The line to write, empty to delete it, None where a person has to decide."""

    # Where the judgement comes from.
    price: str = ""
    """What the setting costs, for people; ``cost`` above is only a number to sort by."""
    price_source: str = ""
    """Who measured that price, or where."""
    advised_by: tuple[str, ...] = ()
    """Who recommended it once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedSetting:
    """A setting that the server has, whatever is found about it."""

    section: str
    name: str
    value: str
    file: str = ""
    line: int = 0
    """0 where no line of a file says it, as for a default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    id: Filled
    created_at: Moment
    subject: Filled
    """The server or file that was looked at."""
    scope: AuditScope
    settings: tuple[AuditedSetting, ...] = ()
    """All that were read, those without a finding too."""
    facts: Mapping[str, records.ReadFact] = field(default_factory=dict)
    findings: tuple[AuditFinding, ...] = ()
    unread: tuple[str, ...] = ()
    """Parts of the configuration that smbd reads and the audit could not, for people: it is no all-clear."""
    problems: tuple[str, ...] = ()
    """What else could not be found out, and why, for people."""
    label: str = ""
    note: str = ""
    question: str = ""

    @property
    def had_no_session(self) -> bool:
        """Whether nobody could log in for it, or the share did not open."""
        return any(problem.startswith(NO_SESSION) for problem in self.problems)

    def count(self, verdict: Ruling) -> int:
        return sum(finding.verdict is verdict for finding in self.findings)

    def settings_by_name(self) -> dict[str, str]:
        """The values by ``[section] name``, to compare two audits by."""
        return {f"[{setting.section}] {setting.name}": setting.value for setting in self.settings}


def audit_from_json(node: JSONNode) -> Audit:
    """The audit in a JSON object. Raises DocumentError with the first wrong place."""
    return node.record(Audit, needs=("findings",))


@reports_damage
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
    WINDOW = "window"
    FOLDERS = "folders"
    PROTECTION = "protection"
    LONG_RUN = "long-run"
    CARDS = "cards"


LARGE_PACKETS = "path.large_packets"
"""The fact of a stage that ended since packets got lost for their size; its value is ``LOST``."""
LOST = "lost"


def stages_of(only: Collection[StageName]) -> tuple[StageName, ...]:
    """These stages in measured order; all where none is named."""
    return tuple(name for name in StageName if not only or name in only)


class Effort(StrEnum):
    """How long a diagnosis may take."""

    QUICK = "quick"
    USUAL = "usual"
    THOROUGH = "thorough"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What one stage of a diagnosis measured: many times of the same thing (samples), and what it found out (facts).

    Names of samples end in their unit, as ``echo_seconds``; :mod:`forms.diagnosis.summary` says what they mean.
    """

    name: StageName
    status: records.SeriesStatus = records.SeriesStatus.COMPLETE
    error: str | None = None
    """Why it failed; None where it did not."""
    seconds: NotNegative = 0.0
    """How long the stage took."""
    samples: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """In measured order, by name."""
    facts: Annotated[records.Facts, JSONNode.object_or_empty] = field(default_factory=dict)

    def of(self, name: str) -> tuple[float, ...]:
        """The samples of that name; empty where none was taken."""
        return self.samples.get(name, ())

    def number(self, name: str) -> float | None:
        """The fact of that name; None where there is none, or it is no number."""
        value = self.facts.get(name)
        return float(value) if isinstance(value, int | float) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis(records.Head):
    # What was asked for.
    target: records.Target
    settings: Settings = field(default_factory=Settings)
    effort: Effort = Effort.USUAL
    only: tuple[StageName, ...] = ()
    """The stages that were asked for; empty for all."""
    complaint: StageName | None = None
    """What the users complain of, which is answered first, by the stage that measures it; None: nothing was named."""
    folder: str | None = None
    """An existing folder on the share that is listed in place of new ones; it is only read."""
    server_ssh: str | None = None
    """The way to the server (ssh); None where none was given, as on the server itself."""
    smb_conf: str | None = None
    """Its path on the server; None for the usual one."""
    profile: bool = False
    """Whether smbd's counters were read as well."""
    from_host: str | None = None
    """``[USER@]HOST`` of the machine that measures, reached by ssh; None for the one with the notebook."""

    # What was found out.
    loopback: bool = False
    """Whether the bytes crossed no network card."""
    link_bits_per_second: float | None = None
    ceiling_bytes_per_second: float | None = None
    """What this machine's own client reaches in a get where network and server cost nothing; None where unknown."""
    client: records.ClientFacts | None = None
    environment: Mapping[str, Annotated[records.Facts, JSONNode.object_or_empty]] = field(default_factory=dict)
    stages: tuple[Stage, ...] = ()
    audit: Audit | None = None
    leftover: str | None = None
    """Our folder that may still be on the share; None where none is."""

    @property
    def planned(self) -> tuple[StageName, ...]:
        """The stages that it has, or will have."""
        if self.status is records.SeriesStatus.COMPLETE and not self.only:
            # A program of before knew fewer stages, all of which it measured.
            return tuple(name for name in StageName if any(stage.name is name for stage in self.stages))
        return stages_of(self.only)

    def stage(self, name: StageName) -> Stage | None:
        """The stage of that name; None where it was not measured to its end."""
        for stage in self.stages:
            if stage.name is name and stage.status is records.SeriesStatus.COMPLETE:
                return stage
        return None

    def with_stage(self, stage: Stage) -> "Diagnosis":
        """With it in place of an earlier stage of that name."""
        others = [other for other in self.stages if other.name is not stage.name]
        return replace(self, stages=(*others, stage))


_NOT_IN_DOCUMENTS = frozenset({"leftover"})
"""Fields of a diagnosis that hold for this notebook only, which has them in a column of their own."""


@reports_damage
def diagnosis_of(recording: Recording) -> Diagnosis:
    """The diagnosis in a stored recording. Raises DamagedNotebookError."""
    diagnosis = diagnosis_from_json(with_head(recording))
    folder = (recording.leftovers or {}).get("folder")
    return replace(diagnosis, leftover=folder if isinstance(folder, str) else None)


def diagnosis_from_json(node: JSONNode) -> Diagnosis:
    """The diagnosis in a JSON object. Raises DocumentError with the first wrong place."""
    return node.record(Diagnosis, leave=_NOT_IN_DOCUMENTS, needs=("stages",))


def recording_of(record: Audit | Diagnosis) -> Recording:
    """The record as the notebook stores it."""
    if isinstance(record, Audit):
        return to_recording(record, AUDIT, status=records.SeriesStatus.COMPLETE)
    return to_recording(
        record,
        DIAGNOSIS,
        apart=_NOT_IN_DOCUMENTS,
        subject=records.format_target(replace(record.target, user=None, domain=None)),
        leftovers={"folder": record.leftover} if record.leftover else None,
    )
