"""The records of the notebook: frozen, in the contract's words, with the unit in each number's name."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

from storage.json_reader import Count, DocumentError, Filled, JSONNode, Moment
from storage.plan import Plan, plan_from_json
from storage.protocols import Protocol, protocol_of
from storage.quiet import Quiet, QuietVerdict, quiet_from_json

FactValue = str | int | float
"""One fact's value; facts that have parts are several facts with dotted names."""

Facts = Mapping[str, FactValue]
SIDES = ("client", "server", "path")

JSONValue = str | int | float | bool | None | list["JSONValue"] | dict[str, "JSONValue"]


def utc_now() -> str:
    """The time now: UTC, ISO 8601, milliseconds, with a Z."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Command(StrEnum):
    """The direction of a transfer, in the book's words."""

    GET = "get"
    PUT = "put"


class Phase(StrEnum):
    """What a run is for."""

    WARM_UP = "warm-up"
    MEASURED = "measured"


class RunStatus(StrEnum):
    """Whether a run counts."""

    VALID = "valid"
    REJECTED = "rejected"
    FAILED = "failed"


class SeriesStatus(StrEnum):
    """How a series ended; *interrupted* until it is complete, so that a crash needs no repair."""

    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class Decision(StrEnum):
    """What became of a change in an experiment."""

    KEPT = "kept"
    REVERTED = "reverted"


class Evidence(StrEnum):
    """How far a claimed change is proven."""

    CONFIRMED = "confirmed"
    UNCONFIRMED = "unconfirmed"
    CONTRADICTED = "contradicted"


class ExperimentKind(StrEnum):
    """What the series of an experiment are measured for."""

    LADDER = "ladder"
    """Each made by changing one parameter of the one before."""
    SURVEY = "survey"
    SELFTEST = "selftest"
    REPEATS = "repeats"
    """The same thing several times, one whole series after the other: how far equal series lie apart."""
    TRIAL = "trial"
    SWEEP = "sweep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A figure of samples of about a second each: their mean, median and sample deviation."""

    mean: float
    median: float
    deviation: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a transfer goes; ``path`` is relative to the share, absolute for a file, and never has a password."""

    protocol: Filled
    """A name in :data:`storage.protocols.PROTOCOLS`; a document may bring another one."""
    host: str = ""
    port: Count | None = None
    share: str | None = None
    path: str = ""
    user: str | None = None
    domain: str | None = None

    @property
    def abilities(self) -> Protocol:
        return protocol_of(self.protocol)

    @property
    def port_number(self) -> int:
        """The port to connect to: its own, else the protocol's; 0 for a path of this machine."""
        return self.port or self.abilities.default_port or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFacts:
    """The program code that moves the bytes, and what it agreed on with the server."""

    name: Filled
    version: str = ""
    dialect: str | None = None
    signing: str | None = None
    """``none``, ``hmac-sha256``, ``aes-cmac`` or ``aes-gmac``; absent where the protocol has none."""
    encryption: str | None = None
    """``none``, ``aes-128-ccm``, ``aes-128-gcm``, a TLS version and cipher for FTPS; absent where there is none."""
    block_bytes: Count | None = None
    in_flight: Count | None = None

    @property
    def is_signed(self) -> bool:
        return self.signing not in {None, "none"}

    @property
    def is_encrypted(self) -> bool:
        return self.encryption not in {None, "none"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The ONE parameter in which a series differs from the one before it in the experiment."""

    name: Filled
    value: str
    previous: str | None = None
    evidence: Evidence = Evidence.UNCONFIRMED
    also_changed: tuple[str, ...] = ()
    remark: str | None = None


SHORTEST_SECONDS, LONGEST_SECONDS = 1e-9, 1e9
"""What a run may take; anything else was never measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One timed transfer of one file: one row of the form."""

    number: Count
    """From 1 within its phase."""
    phase: Phase
    status: RunStatus = RunStatus.VALID
    reason: str | None = None
    started_at: Annotated[str, JSONNode.time_if_any] = ""
    """UTC, ISO 8601."""
    size_bytes: int = 0
    seconds: float | None = None
    """From the first read or write request until the last byte; absent where the run failed."""
    open_seconds: float | None = None
    close_seconds: float | None = None
    error: str | None = None
    progress: tuple[tuple[float, int], ...] = ()
    """(seconds since the first request, bytes moved so far), at most ten a second."""

    @property
    def bytes_per_second(self) -> float | None:
        return self.size_bytes / self.seconds if self.seconds else None

    @property
    def bits_per_second(self) -> float | None:
        rate = self.bytes_per_second
        return None if rate is None else 8 * rate

    def percent_of_link(self, link_bits_per_second: int | None) -> float | None:
        bits = self.bits_per_second
        return 100 * bits / link_bits_per_second if bits is not None and link_bits_per_second else None


def facts_from_json(place: JSONNode) -> dict[str, dict[str, FactValue]]:
    """The facts of each side that has some. Raises DocumentError."""
    found: dict[str, dict[str, FactValue]] = {}
    for side in SIDES:
        facts = place.object().maybe(side).object_or_empty()
        for name, value in facts.items():
            if not isinstance(value, str | int | float):
                raise DocumentError(f"{place.name}.{side}.{name}: expected text or a number")
        if facts:
            found[side] = facts
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The process that measures a recording: its lease."""

    host: str
    boot_id: str
    process_id: int
    process_started: str
    """What tells it from a later process of the same number."""
    since: str
    renewed_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The runs of one command against one target with unchanged settings: one filled form."""

    id: Filled
    created_at: Moment
    """UTC, ISO 8601, milliseconds, with a Z."""
    status: SeriesStatus = SeriesStatus.INTERRUPTED
    error: str | None = None
    title: str = ""
    label: str = ""
    note: str = ""
    question: str = ""
    experiment: str | None = None
    base_id: str | None = None
    """The series that this one was made from by changing one parameter."""
    decision: Decision | None = None
    change: Change | None = None
    command: Command = Command.GET
    target: Target
    client: ClientFacts
    link_bits_per_second: Count | None = None
    plan: Annotated[Plan | None, plan_from_json] = None
    """Absent where somebody else measured."""
    scratch_path: str | None = None
    """A file of ours that may still lie on the target; absent once it is known to be gone."""
    ceiling_bytes_per_second: float | None = None
    """This client's own limit on this machine with these settings, as calibrated; absent where unknown."""
    quiet: Annotated[Quiet | None, quiet_from_json] = None
    """Absent where nobody looked."""

    environment: Annotated[Mapping[str, Facts], facts_from_json] = field(default_factory=dict)
    """Facts of ``client``, ``server`` and ``path``, by name."""
    runs: tuple[Run, ...] = ()
    failed_attempts: tuple[Run, ...] = ()
    """Failed runs that were made again, under the same number, when the series was resumed."""
    resumed_at: tuple[Moment, ...] = ()
    """When it was resumed, UTC, ISO 8601."""
    imported_at: str | None = None
    """When it came in from a document; absent for one that was measured into this notebook."""
    running_by: Owner | None = None
    """The process that is measuring it right now; its status is *interrupted* meanwhile."""

    @property
    def quiet_verdict(self) -> QuietVerdict:
        """How quiet its time was."""
        return self.quiet.verdict if self.quiet else QuietVerdict.UNKNOWN

    def measured(self) -> tuple[Run, ...]:
        """The measured runs that count: valid ones, in order."""
        return tuple(r for r in self.runs if r.phase is Phase.MEASURED and r.status is RunStatus.VALID)

    def rates(self) -> list[float]:
        """The bytes per second of the valid measured runs, in order."""
        return [rate for run in self.measured() if (rate := run.bytes_per_second) is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """What several series were measured for together; each of them carries its name."""

    name: str
    kind: ExperimentKind = ExperimentKind.LADDER
    subject: str = ""
    """What a survey or self-test looks at, such as its hosts; empty where nobody was asked."""
    created_at: str = field(default_factory=utc_now)
    """UTC, ISO 8601, milliseconds, with a Z."""
    recording_id: str | None = field(default=None, compare=False)
    """Of the trial, survey or self-test that its series are parts of; absent for a series of changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentEntry:
    """An experiment in a list."""

    experiment: Experiment
    series_count: int
    last_at: str
    """When its last series was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A name given to a recording, or to several series of the same settings: then there is one for each."""

    name: str
    recording_id: str
    set_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """A client's own limit on one machine with one set of protocol settings, in bytes per second."""

    key: str
    """What it holds for: client, version, machine, protocol, command, dialect, signing, encryption, block, depth."""
    bytes_per_second: float
    measured_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Worksheet:
    """A saved calculation: its kind, name and the rows that were typed."""

    kind: str
    """``bottleneck`` or ``clients``."""
    name: str
    saved_at: str
    content: Mapping[str, JSONValue]


def dated_experiment(kind: ExperimentKind, subject: str) -> Experiment:
    """An experiment of that kind which begins now, named by kind, subject and time."""
    created_at = utc_now()
    name = f"{kind} {subject} {created_at[:19].replace('T', ' ')}"
    return Experiment(name=name, kind=kind, subject=subject, created_at=created_at)


def kind_told_by(name: str) -> ExperimentKind:
    """The kind that a name given by :func:`dated_experiment` tells, where only names are kept: in documents."""
    dated = tuple(kind for kind in ExperimentKind if kind is not ExperimentKind.LADDER)
    return next((kind for kind in dated if name.startswith(f"{kind} ")), ExperimentKind.LADDER)


def new_series_id() -> str:
    """A new series id: twelve hexadecimal digits, of which any unambiguous prefix will do."""
    return secrets.token_hex(6)
