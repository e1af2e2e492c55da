"""What a series is to be measured by, as it is kept with the series: never a password, a target or a command."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from storage.json_reader import JSONNode

DEFAULT_RUNS = 5
"""As many rows as the paper form has (Using Samba, table B-6)."""
DEFAULT_WARMUPS = 2
DEFAULT_MAX_RUNS = 30
MOST_RUNS, MOST_WARMUPS, MOST_IN_FLIGHT, MOST_SECONDS = 100_000, 1000, 512, 86_400.0
"""What the command line takes at most."""
DEFAULT_SIZE_BYTES = 64 * 1024**2
"""Of a file that is made, where nobody names a size and no rate is known."""


class QuietTime(StrEnum):
    """What to do about a busy time."""

    RECORD = "record"
    REQUIRE = "require"
    SKIP = "skip"


class CeilingPolicy(StrEnum):
    """What to do about the client's own limit: use or calibrate it, calibrate it again, or leave it out."""

    RECORD = "record"
    RENEW = "renew"
    SKIP = "skip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a client shall move the bytes; None means: as negotiated, or the client's own best."""

    block_bytes: int | None = None
    in_flight: int | None = None
    sign: bool = False
    """Sign although the server does not require it."""
    encrypt: bool = False
    """Encrypt although the server does not require it."""
    timeout_seconds: float = 30.0
    """A transfer with no progress for that long fails with StalledError; also the limit for connecting."""
    drop_cache: bool = False
    """``file://`` only: drop the file's pages from the page cache before each get."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChoices:
    """How the runs of a series are made: what the notebook and the measuring process both need to know."""

    client: str = ""
    """The client's name; empty for the usual one of the target's protocol."""
    settings: Settings = field(default_factory=Settings)
    runs: int = DEFAULT_RUNS
    warmups: int = DEFAULT_WARMUPS
    until_percent: float | None = None
    """Go on until the 95 % confidence interval of the mean is within ± this many percent."""
    max_runs: int = DEFAULT_MAX_RUNS
    size_bytes: int | None = None
    """The size of the file that is made, for a put or with ``make_file``."""
    make_file: bool = False
    """For a get: put a file first and remove it at the end; the target's path is then a folder."""
    verify: bool = False
    """After the timed runs, compare content."""

    def run_choices(self) -> dict[str, Any]:
        """These choices by name, for another record that has them."""
        return {one.name: getattr(self, one.name) for one in fields(RunChoices)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(RunChoices):
    """The choices that a series was measured by, so that it can be resumed or measured again."""

    quiet_time: QuietTime = QuietTime.RECORD
    server_ssh: str | None = None
    """``[USER@]HOST`` to read facts of the server through."""
    smb_conf: str | None = None
    """Where the server keeps its smb.conf, if not where its smbd was built to look."""
    ceiling: CeilingPolicy = CeilingPolicy.RECORD

    def to_json(self) -> dict[str, Any]:
        """The object that a document and a notebook have."""
        return asdict(self)


def plan_from_json(place: JSONNode) -> Plan | None:
    """What :meth:`Plan.to_json` wrote; None where nothing is known. Raises DocumentError."""
    if not place.object_or_empty():
        return None
    quiet_time, ceiling = place.maybe("quiet_time"), place.maybe("ceiling")
    return Plan(
        client=place.maybe("client").text_or_none() or "",
        settings=_settings_from(place.maybe("settings")),
        runs=place.maybe("runs").whole_or(DEFAULT_RUNS, at_most=MOST_RUNS),
        warmups=place.maybe("warmups").whole_or(DEFAULT_WARMUPS, at_most=MOST_WARMUPS),
        until_percent=place.maybe("until_percent").between(0, 100),
        max_runs=place.maybe("max_runs").whole_or(DEFAULT_MAX_RUNS, at_most=MOST_RUNS),
        size_bytes=place.maybe("size_bytes").whole_or_none(),
        make_file=place.maybe("make_file").flag(),
        verify=place.maybe("verify").flag(),
        quiet_time=QuietTime.RECORD if quiet_time.value is None else quiet_time.one_of(QuietTime),
        server_ssh=place.maybe("server_ssh").text_or_none(),
        smb_conf=place.maybe("smb_conf").text_or_none(),
        ceiling=CeilingPolicy.RECORD if ceiling.value is None else ceiling.one_of(CeilingPolicy),
    )


def _settings_from(place: JSONNode) -> Settings:
    if not place.object_or_empty():
        return Settings()
    timeout = place.maybe("timeout_seconds").between(0, MOST_SECONDS)
    in_flight = place.maybe("in_flight")
    if in_flight.value is not None:
        in_flight.whole_or(0, at_most=MOST_IN_FLIGHT)
    return Settings(
        block_bytes=place.maybe("block_bytes").whole_or_none(),
        in_flight=in_flight.whole_or_none(),
        sign=place.maybe("sign").flag(),
        encrypt=place.maybe("encrypt").flag(),
        timeout_seconds=Settings().timeout_seconds if timeout is None else timeout,
        drop_cache=place.maybe("drop_cache").flag(),
    )
