"""The records of a series, and what several kinds of recording share: targets, runs, facts, times as they are shown.

A *recording* is anything that was measured: a series, a load, a trial …; each begins with a `Head`. A *series* is some
runs of one command against one target, a *run* one timed transfer. A *target* is where a transfer goes, a URL. *Facts*
are what was found out about the client, the server and the path between them, by name (``samba.version``). An
*experiment* is a name that several series share. All records are frozen; units are in the names.
"""

import re
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any
from urllib.parse import quote

from storage import json_reader, protocols
from storage.owners import Owner
from storage.plan import Plan, plan_from_json
from storage.request_times import RunRequests


class QuietVerdict(StrEnum):
    QUIET = "quiet"
    TYPICAL = "typical"
    BUSY = "busy"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """Whether others were at work before and during a series."""

    verdict: QuietVerdict
    reasons: tuple[str, ...] = ()
    """Of that verdict, for people."""
    figures: Mapping[str, float | None] = field(default_factory=dict)
    """By name with unit and time, such as ``others_cpu_percent_before``; None where unknown."""

    def to_json(self) -> dict[str, Any]:
        return {"verdict": self.verdict.value, "reasons": list(self.reasons), **self.figures}


def quiet_from_json(place: json_reader.JSONNode) -> Quiet | None:
    """The value of :meth:`Quiet.to_json`, None for none. Raises DocumentError."""
    if not place.object_or_empty() or place.value == {"verdict": QuietVerdict.UNKNOWN}:
        return None

    verdict = place.maybe("verdict")
    figure_names = [name for name in place.value if name not in {"verdict", "reasons"}]
    return Quiet(
        verdict=QuietVerdict.UNKNOWN if verdict.value is None else verdict.one_of(QuietVerdict),
        reasons=tuple(reason.text() for reason in place.maybe("reasons").items()),
        figures={name: place.at(name).read(float | None) for name in figure_names},
    )


FactValue = str | int | float
Facts = Mapping[str, FactValue]


def _read_fact(place: json_reader.JSONNode) -> FactValue:
    return place.text() if isinstance(place.value, str) else place.number()


ReadFact = Annotated[FactValue, _read_fact]
"""The value of one fact, as a record's field that is read from a document or a message."""
"""Of one side, by name."""
SIDES = ("client", "server", "path")
"""What facts are about."""

JSONValue = str | int | float | bool | None | list["JSONValue"] | dict[str, "JSONValue"]


def utc_now(seconds_ago: float = 0.0) -> str:
    """This moment, or one so long ago, as it is stored."""
    return json_reader.moment_text(datetime.now(UTC) - timedelta(seconds=seconds_ago))


def is_moment(text: str) -> bool:
    """Whether a stored text is a moment."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def utc_minute(moment: str) -> str:
    """A stored moment in text that is stored itself: ``2026-03-04 15:10``."""
    return moment[:16].replace("T", " ")


shows_utc = ContextVar("shows_utc", default=False)
"""Whether times are shown in UTC, as in data, rather than in this machine's zone."""


def to_minute(moment: str) -> str:
    """A stored moment as lists and forms show it: ``2026-03-04 16:10``."""
    return with_zone(moment)[:16]


def to_second(moment: str) -> str:
    """A stored moment where a minute has several: ``2026-03-04 16:10:05``."""
    time = _local_time(moment)
    return moment if time is None else time.isoformat(" ")[:19]


def time_of_day(seconds: float) -> str:
    """A moment in seconds since 1970 on the clock of this machine: ``16:10``."""
    return to_minute(moment_at(seconds))[11:]


def moment_at(seconds: float) -> str:
    """A moment in seconds since 1970, as it is stored."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def moment_beside(moment: str, other: str) -> str:
    """A stored moment that is told beside another: ``at 17:06`` on its day, ``on 2026-03-04 at 17:06`` on another."""
    day, _, time = to_minute(moment).partition(" ")
    return f"at {time}" if to_minute(other).startswith(day) else f"on {day} at {time}"


def with_zone(moment: str) -> str:
    """``2026-03-04 16:10 CET``; what is no moment, in a damaged notebook, as it is."""
    time = _local_time(moment)
    return moment if time is None else f"{time.isoformat(' ')[:16]} {time:%Z}"


def _local_time(moment: str) -> datetime | None:
    """A stored moment in the zone in which times are shown; None where it is none."""
    try:
        time = datetime.fromisoformat(moment)
    except ValueError:
        return None
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)

    try:
        return time.astimezone(UTC if shows_utc.get() else None)
    except (ValueError, OverflowError, OSError):  # this machine's clock does not reach so far
        return time.astimezone(UTC)


OWN_CLIENT = "sharebench"
"""The name of our own client; others are programs such as smbclient."""


class Command(StrEnum):
    GET = "get"
    PUT = "put"


class Phase(StrEnum):
    WARM_UP = "warm-up"
    MEASURED = "measured"


class RunStatus(StrEnum):
    VALID = "valid"
    REJECTED = "rejected"
    FAILED = "failed"


class SeriesStatus(StrEnum):
    """How a series ended; *interrupted* until it is complete, so that a crash needs no repair."""

    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class Decision(StrEnum):
    """What people did with a change that was measured."""

    KEPT = "kept"
    REVERTED = "reverted"


class Evidence(StrEnum):
    """Whether the server's facts, before and after, show a change."""

    CONFIRMED = "confirmed"
    UNCONFIRMED = "unconfirmed"
    CONTRADICTED = "contradicted"


class ExperimentKind(StrEnum):
    """What the series of an experiment have in common."""

    STEPS = "ladder"  # one change after another; the word in notebooks and documents is that of version 0.1
    SURVEY = "survey"
    SELFTEST = "selftest"
    REPEATS = "repeats"
    TRIAL = "trial"
    SWEEP = "sweep"

    @property
    def word(self) -> str:
        """As people read it."""
        return "experiment" if self is ExperimentKind.STEPS else self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A figure of samples of about a second each, in the unit that its field names."""

    mean: float
    median: float
    deviation: float | None = None
    """Of a sample (n - 1); None for a single sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a transfer goes, without a password."""

    protocol: json_reader.Filled
    """The name of a `Protocol`."""
    host: str = ""
    """Empty for a path of this machine."""
    port: json_reader.Count | None = None
    """None for the protocol's usual one."""
    share: str | None = None
    path: str = ""
    """Of a file or folder: relative to the share, absolute on this machine."""
    user: str | None = None
    domain: str | None = None

    @property
    def abilities(self) -> protocols.Protocol:
        return protocols.protocol_of(self.protocol)

    @property
    def port_number(self) -> int:
        return self.port or self.abilities.default_port or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFacts:
    """The program that measured, and what it negotiated with the server."""

    name: json_reader.Filled
    version: str = ""
    dialect: str | None = None
    """Of SMB, such as ``3.1.1``; None where the protocol has none or the program does not tell."""
    signing: str | None = None
    encryption: str | None = None
    """The algorithms, or ``none``; None where they are unknown."""
    block_bytes: json_reader.Count | None = None
    """Of one request."""
    in_flight: json_reader.Count | None = None
    """Requests at once."""

    @property
    def is_signed(self) -> bool:
        return self.signing not in {None, "none"}

    @property
    def is_encrypted(self) -> bool:
        return self.encryption not in {None, "none"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The one setting that differs from the series before in the experiment."""

    name: json_reader.Filled
    value: str
    """What it was set to."""
    previous: str | None = None
    """None where it is unknown."""
    evidence: Evidence = Evidence.UNCONFIRMED
    """Whether the server's facts show the change."""
    also_changed: tuple[str, ...] = ()
    """Facts that differ as well: the change is not the only one."""
    remark: str | None = None


SHORTEST_SECONDS = 1e-9
LONGEST_SECONDS = 1e9
"""The least and the most that a run can have taken: anything else was never measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One timed transfer of one file, or some seconds of random requests to one: a row of the form."""

    number: json_reader.Count
    """From 1 within its phase."""
    phase: Phase
    status: RunStatus = RunStatus.VALID
    reason: str | None = None
    """Why it was rejected."""
    started_at: Annotated[str, json_reader.JSONNode.time_if_any] = ""
    size_bytes: int = 0
    """That were moved."""
    seconds: float | None = None
    """From the first request to the last byte; absent where the run failed."""
    open_seconds: float | None = None
    close_seconds: float | None = None
    """Beside ``seconds``, not part of them; None where the client does not tell."""
    error: str | None = None
    """Why it failed."""
    progress: tuple[tuple[float, int], ...] = ()
    """(seconds since the first request, total bytes), at most ten a second."""
    requests: RunRequests | None = None
    """Of random requests, how long each took; None of the transfer of a file."""

    @property
    def operations_per_second(self) -> float | None:
        """None where it was no run of random requests."""
        return self.requests.count / self.seconds if self.requests and self.seconds else None

    @property
    def bytes_per_second(self) -> float | None:
        return self.size_bytes / self.seconds if self.seconds else None

    @property
    def bits_per_second(self) -> float | None:
        rate = self.bytes_per_second
        return None if rate is None else 8 * rate

    def percent_of_link(self, link_bits_per_second: int | None) -> float | None:
        return percent_of_link(self.bytes_per_second, link_bits_per_second)


def percent_of_link(bytes_per_second: float | None, link_bits_per_second: int | None) -> float | None:
    """The share of the link's speed that a rate takes; None where one of the two is unknown."""
    if bytes_per_second is None or not link_bits_per_second:
        return None
    return 100 * 8 * bytes_per_second / link_bits_per_second


FRAME_BYTES = 1538
"""A full Ethernet frame on the wire: 1,500 bytes with header, checksum, preamble and gap (IEEE 802.3)."""

PAYLOAD_BYTES = 1448
"""TCP payload in it: less 20 for IP, 20 for TCP, 12 for time stamps (RFC 7323)."""

LEAST_STANDSTILL_SECONDS = 0.5
"""From here on a measuring process stood still (its machine slept, or was paused). One that only waits for a processor
beside many others waits for tenths of a second at most."""


BUSIEST_USER = "server.sessions.busiest_user"
"""The fact that names the user of the busiest session of a busy server."""
MEASURED_FROM = "measured.from"
"""The fact of the client that names the host by which a measuring machine was reached; absent where that was here."""


def measured_from(environment: Mapping[str, Facts]) -> str:
    """The host that measured, reached by ssh; empty where the machine with the notebook did."""
    return str(environment.get("client", {}).get(MEASURED_FROM, ""))


def standstill_fact(run_number: int) -> str:
    """The name of the fact that says how long the measuring process stood still in a measured run; one of the path."""
    return f"standstill.run_{run_number}_seconds"


RANDOM_FILE_FACT = "random.file_bytes"
"""The fact of the path that says how large the file is that random requests go to."""

CONTENT_SAMPLE = "file.content_sample"
"""The fact of the path that is a checksum of pieces of the file that was read beside another one, to compare them."""


def facts_from_json(place: json_reader.JSONNode) -> dict[str, dict[str, FactValue]]:
    """The facts of each side that has some. Raises DocumentError."""
    facts_by_side: dict[str, dict[str, FactValue]] = {}
    for side in SIDES:
        facts = place.object().maybe(side).object_or_empty()
        for name, value in facts.items():
            if not isinstance(value, str | int | float):
                raise json_reader.DocumentError(f"{place.name}.{side}.{name}: expected text or a number")

        if facts:
            facts_by_side[side] = facts
    return facts_by_side


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What recordings of every kind begin with."""

    id: json_reader.Filled
    """From :func:`new_series_id`."""
    created_at: json_reader.Moment
    """UTC, ISO 8601, milliseconds, with a Z."""
    status: SeriesStatus = SeriesStatus.INTERRUPTED
    error: str | None = None
    """Why it ended early."""

    # What people write.
    label: str = ""
    """A name of a few words."""
    note: str = ""
    question: str = ""
    """What it was measured to answer."""

    @property
    def moment(self) -> float:
        """When it was made, in seconds since 1970."""
        return datetime.fromisoformat(self.created_at).timestamp()


HEAD = tuple(Head.__dataclass_fields__)
"""The names of its fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedHead(Head):
    """A head that says as well whether the recording is being measured now."""

    imported_at: str | None = None
    """None for a recording that was measured into this notebook."""
    owner: Owner | None = None
    """The process that has its lease; None where nobody measures it."""

    @property
    def running(self) -> bool:
        return self.owner is not None and self.owner.is_alive


@dataclass(frozen=True, slots=True, kw_only=True)
class Series(Head):
    """The runs of one command against one target with unchanged settings: one form."""

    title: str = ""

    # What it belongs to.
    experiment: str | None = None
    """The name of its experiment."""
    experiment_kind: ExperimentKind | None = field(default=None, compare=False)
    """None where nothing says it: on paper, and in documents of version 0.2."""
    base_id: str | None = None
    """The series that this one was measured after, to be compared with it."""
    decision: Decision | None = None
    """What people did with the change; None before they say it."""
    change: Change | None = None

    # What was measured, and how.
    command: Command = Command.GET
    target: Target
    client: ClientFacts
    link_bits_per_second: json_reader.Count | None = None
    plan: Annotated[Plan | None, plan_from_json] = None
    """What was asked for; None for a form that was filled in by hand."""
    flushed: bool = False
    """Whether each put ended when its file was flushed, not when its last write was answered."""
    scratch_path: str | None = None
    """Our file or folder that may still be on the server."""

    # What was found out beside the runs.
    ceiling_bytes_per_second: float | None = None
    """The client's own limit with these settings (`Ceiling`); None where it was not measured."""
    quiet: Annotated[Quiet | None, quiet_from_json] = None
    environment: Annotated[Mapping[str, Facts], facts_from_json] = field(default_factory=dict)
    """The facts by side."""

    # The runs, and who measures them.
    runs: tuple[Run, ...] = ()
    """The warm-up runs, then the measured ones, rejected and failed ones included."""
    failed_attempts: tuple[Run, ...] = ()
    """Runs that failed and were repeated under the same number on resuming."""
    resumed_at: tuple[json_reader.Moment, ...] = ()
    """When it was continued after an interruption, each time."""
    imported_at: str | None = None
    """None for one that was measured into this notebook."""
    running_by: Owner | None = None
    """The process that measures it now; None where none does."""

    @property
    def quiet_verdict(self) -> QuietVerdict:
        return self.quiet.verdict if self.quiet else QuietVerdict.UNKNOWN

    @property
    def is_random(self) -> bool:
        """Whether its runs are requests at random places of a file."""
        return self.plan is not None and self.plan.counts.random

    @property
    def random_read_percent(self) -> int | None:
        """The share of its random requests that read; None where its runs are transfers."""
        if self.plan is None or not self.plan.counts.random:
            return None
        return self.plan.counts.share_of_reads(is_get=self.command is Command.GET)

    @property
    def random_block_bytes(self) -> int | None:
        """What each of its random requests moves; None where its runs are transfers."""
        return self.client.block_bytes if self.is_random else None

    def file_sizes(self) -> set[int]:
        """In bytes, of the files that its valid measured runs moved; of random requests, of the one they go to."""
        if not self.is_random:
            return {run.size_bytes for run in self.measured()}
        size = self.environment.get("path", {}).get(RANDOM_FILE_FACT)
        return {size} if isinstance(size, int) else set()

    def measured(self) -> tuple[Run, ...]:
        """The valid measured runs: those that count."""
        return tuple(run for run in self.runs if run.phase is Phase.MEASURED and run.status is RunStatus.VALID)

    def operation_rates(self) -> list[float]:
        """Operations/s of the runs that count; none where they are no random requests.

        By the bytes, since a series of a history is read without the times of its requests.
        """
        block_bytes = self.random_block_bytes
        return [rate / block_bytes for rate in self.rates()] if block_bytes else []

    def rates(self) -> list[float]:
        """Bytes/s of the runs that count."""
        rates = (run.bytes_per_second for run in self.measured())
        return [rate for rate in rates if rate is not None]


def with_flush(series: Series, *, flushed: bool) -> Series:
    """The series as one whose puts end so, now and when it is resumed or measured again."""
    plan = series.plan and replace(series.plan, settings=replace(series.plan.settings, flush=flushed))
    return replace(series, flushed=flushed, plan=plan)


def was_flushed(series: Series) -> bool:
    """Whether a version that stored nothing about it flushed the file of each put.

    They did for a whole file on a local path, and never for the files of a tree or on a server.
    """
    is_tree = series.plan is not None and series.plan.counts.files is not None
    is_ours = series.client.name == OWN_CLIENT
    return series.command is Command.PUT and series.target.abilities.is_local and is_ours and not is_tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    name: str
    kind: ExperimentKind = ExperimentKind.STEPS
    subject: str = ""
    """What it is about, as it stands in a dated name; empty for steps."""
    created_at: str = field(default_factory=utc_now)
    recording_id: str | None = field(default=None, compare=False)
    """None for one of steps: it is no recording."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentEntry:
    """An experiment in a list."""

    experiment: Experiment
    series_count: int
    last_at: str
    """When its newest series was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A name that people gave to a recording, to compare others with it."""

    name: str
    recording_id: str
    set_at: str
    """When it was named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """A client's limit on one machine with one set of protocol settings, in bytes/s."""

    key: str
    """client, version, machine, protocol, command, dialect, signing, encryption, block, depth."""
    bytes_per_second: float
    measured_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Worksheet:
    """A calculation of the book's, with the numbers that people typed in."""

    kind: str
    name: str
    saved_at: str
    content: Mapping[str, JSONValue]
    """The numbers, by the kind's own names."""


def dated_experiment(kind: ExperimentKind, subject: str) -> Experiment:
    """An experiment that begins now, named by kind, subject and local time, as screens show it beside the name."""
    created_at = utc_now()
    local_time = datetime.fromisoformat(created_at).astimezone()
    name = f"{kind} {subject} {local_time:%Y-%m-%d %H:%M:%S}"
    return Experiment(name=name, kind=kind, subject=subject, created_at=created_at)


def kind_in_name(name: str) -> ExperimentKind:
    """The kind in a name from :func:`dated_experiment`, where nothing else says it."""
    dated = "|".join(kind for kind in ExperimentKind if kind is not ExperimentKind.STEPS)
    match = re.fullmatch(rf"({dated}) .* \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d", name)
    return ExperimentKind(match[1]) if match else ExperimentKind.STEPS


def new_series_id() -> str:
    """Twelve hexadecimal digits; any unambiguous prefix refers to it."""
    import secrets  # loads what hashes, and only a new recording needs it

    return secrets.token_hex(6)


def format_target(target: Target, *, login: bool = True, escaped: bool = True) -> str:
    """The URL for ``app.base.targets.parse_target``, without default ports.

    Unescaped only for people: even then what would be read as something else is escaped, such as the ``%`` of ``x%20y``
    and the ``:`` of a user, so that it leads to itself wherever it is typed again.
    """
    has_byte_names = not target.abilities.has_share
    write = _escape if escaped else _escape_what_looks_escaped
    if target.abilities.is_local:
        return "file://" + _escape_last_blanks(_escape_bytes(write(target.path)))

    domain = f"{write(target.domain, _RESERVED_IN_LOGINS)};" if login and target.domain else ""
    user = f"{write(target.user, _RESERVED_IN_LOGINS)}@" if login and target.user else ""
    # smb://HOST/x@y would be read as a domain and its user.
    path_parts = (write(target.share or "", "@"), write(target.path.lstrip("/")))
    path = "/".join(part for part in path_parts if part)
    if has_byte_names:
        path = _escape_bytes(path)
    slash = "/" if path else ""
    return f"{target.protocol}://{domain}{user}{host_and_port(target)}{slash}{_escape_last_blanks(path)}"


def host_and_port(target: Target) -> str:
    """Its server, as in the URL: with the port where that is not the usual one, so that two of a host differ."""
    host = f"[{target.host}]" if ":" in target.host else target.host
    has_usual_port = target.port_number == (target.abilities.default_port or 0)
    return host if has_usual_port else f"{host}:{target.port}"


def _escape_last_blanks(path: str) -> str:
    """Blanks at the end belong to the name; nobody sees them, and a URL that is typed again is taken without them."""
    visible_part = path.rstrip()
    return visible_part + quote(path[len(visible_part) :])


_RESERVED_IN_LOGINS = "%@/:;\\"
"""What parts a domain, a user, a password and a host, in a URL or as smbclient takes them."""

_LOOKS_ESCAPED = re.compile(r"%(?=[0-9A-Fa-f]{2})")


def _escape_what_looks_escaped(text: str, reserved: str = "") -> str:
    """Also each sign of ``reserved``, which has a meaning of its own there."""
    if "%" not in reserved:
        text = _LOOKS_ESCAPED.sub("%25", text)
    return "".join(quote(sign, safe="") if sign in reserved else sign for sign in text)


def _escape(text: str, reserved: str = "") -> str:
    """Only what would be read as something else: a written escape, ``reserved``, and what is not printed."""
    if "%" not in reserved:
        text = _LOOKS_ESCAPED.sub("%25", text)
    return "".join(quote(char, safe="") if char in reserved or _is_unprintable(char) else char for char in text)


def _escape_bytes(path: str) -> str:
    """A path on FTP or a disk, with the bytes of names that are no text (PEP 383) as escapes."""
    return _BYTES.sub(_escaped_bytes, path)


_BYTES = re.compile("[\udc80-\udcff]+")


def _escaped_bytes(match: re.Match[str]) -> str:
    return quote(match[0], safe="", errors="surrogateescape")


def _is_unprintable(char: str) -> bool:
    """Not the surrogates: they stand for bytes of a name that are no text, and cannot be quoted."""
    return not char.isprintable() and not "\ud800" <= char < "\ue000"
