"""The cheapest step that would settle a comparison of whole series, with the commands to type."""

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter

from forms import wording
from forms.stats import settle
from forms.stats.decision import Limits
from forms.stats.settle import Settles
from forms.stats.variation import Variation, in_pairs
from forms.tuning.differences import Difference, differences_prose
from forms.tuning.smb_conf import spelling
from storage import records
from storage.plan import Settings
from storage.recommended import DEFAULT_WARMUPS

_BY_HAND_SECONDS = 60.0
"""About what it takes to change a server by hand."""

_OPENING_SECONDS = 3.0
"""About what a series takes beside its runs, on the loopback: to log in, and to look at other load and the server."""

_KERNEL = ("net.", "vm.")
"""How the names of the kernel's parameters begin."""

VERSUS_DIFFERENCES = {"client.in_flight": "in-flight", "client.block_bytes": "block", "client.name": "client"}
"""The differences between two series that an option of this client makes, and what a change of each is called."""

_VERSUS = {"in-flight": "--in-flight", "block": "--block", "client": "--client"}
"""The option of ``run --versus`` that makes each of these changes."""

_NEGOTIATED = ("client.dialect", "client.encryption", "client.signing")
"""The differences in what client and server agreed on, whether it was asked for or not."""

REQUIRED = {"settings.sign": "--sign", "settings.encrypt": "--encrypt", "flushed": "--flush"}
"""The differences in what this client was asked to require, and the option that asks for it."""

NAMES_OF_REQUIRED = {"settings.sign": "client sign", "settings.encrypt": "client encrypt", "flushed": "flush"}
"""What a change of each is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlingStep(Settles):
    """A way to settle a comparison, as commands, with the time that it takes."""

    seconds: float
    """How long the whole step takes, changes by hand included."""
    commands: tuple[str, ...]
    """To type in this order; with ALTERNATING repeatedly."""

    setting: str | None = None
    """The server's setting and value that a trial tries (``NAME=VALUE``); None of any other way."""
    series_a_side: int | None = None
    """With ALTERNATING: how many series a side there are in the end; else None."""
    between: str = ""
    """For people: what this client was told otherwise, which interleaved runs then compare."""
    first_id: str = ""
    """The series to measure again first."""
    by_hand: bool = False
    """Whether the server's setting is changed by hand before it, or before each further series."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenComparison:
    """An inconclusive comparison of whole series: what the steps that could settle it depend on."""

    base: tuple[records.Series, ...]
    other: tuple[records.Series, ...]
    change_percent: float
    variation: Variation
    differing: Sequence[Difference]
    claimed: records.Change | None
    """The change from the base to the other that somebody said was made."""
    limits: Limits
    widening: float = 1.0
    """By how many times the interval is wider because several steps are judged together; 1 for a single one."""

    @property
    def first_base(self) -> records.Series:
        return self.base[0]

    @property
    def first_other(self) -> records.Series:
        return self.other[0]

    @property
    def series(self) -> tuple[records.Series, ...]:
        return (*self.base, *self.other)

    @property
    def is_same_path(self) -> bool:
        return not any(difference.name in {"command", "target"} for difference in self.differing)

    @property
    def setting(self) -> str | None:
        """The server's setting that ``sharebench try`` could change, with its value."""
        return _server_setting(self.claimed, self.differing, self.first_other)

    @property
    def versus(self) -> str | None:
        """The options of this client that ``run --versus`` could interleave."""
        return _client_options(self.claimed, self.differing, self.first_other)

    @property
    def changes_server(self) -> bool:
        """Whether somebody has to change the server by hand before the other side is measured again."""
        is_claimed = self.claimed is not None or any(difference.parameter for difference in self.differing)
        return self.is_same_path and not self.versus and is_claimed

    @property
    def other_is_newest(self) -> bool:
        return max(series.moment for series in self.other) > max(series.moment for series in self.base)

    @property
    def alternating_series(self) -> int:
        """The number of series that already alternate."""
        moments = [series.moment for series in self.series]
        return len(moments) if in_pairs(moments, len(self.base)) else 0

    @property
    def session_spread(self) -> float:
        """What averages of series are assumed to differ by: their runs, and sessions of which there are no repeats."""
        runs_each = sum(len(series.measured()) for series in self.series) / len(self.series)
        by_runs = self.variation.run_deviation / math.sqrt(runs_each)
        return math.hypot(by_runs, settle.UNKNOWN_SESSION)

    @property
    def transfer_seconds(self) -> float:
        return sum(self._run_seconds) / max(1, len(self._run_seconds))

    @property
    def series_seconds(self) -> float:
        """What one more series takes, with the change before it."""
        beside_runs = _BY_HAND_SECONDS if self.changes_server else _OPENING_SECONDS
        return sum(self._run_seconds) / len(self.series) + beside_runs

    @property
    def _run_seconds(self) -> list[float]:
        all_runs = chain.from_iterable(series.runs for series in self.series)
        return [run.seconds for run in all_runs if run.seconds]


def cheapest_step(comparison: OpenComparison) -> SettlingStep | None:
    """The step that takes least time, of those that would settle it; None where none would."""
    return min(_possible_steps(comparison), key=attrgetter("seconds"), default=None)


def _possible_steps(comparison: OpenComparison) -> Iterator[SettlingStep]:
    # Sides of different paths have nothing to try or to interleave: each is measured again where it is.
    ways = [_step_by_alternating(comparison)]
    if comparison.is_same_path:
        ways = [_step_by_trial(comparison), _step_by_interleaving(comparison), _step_by_base_again(comparison), *ways]
    yield from (step for step in ways if step)


def _step_by_trial(comparison: OpenComparison) -> SettlingStep | None:
    setting = comparison.setting
    way = settle.by_pairs(comparison.change_percent, comparison.variation.run_deviation, comparison.limits)
    if setting is None or way is None:
        return None

    base = comparison.first_base
    server_ssh = base.plan.monitor.server_ssh if base.plan else None
    ssh = f" --server-ssh {shlex.quote(server_ssh)}" if server_ssh else ""
    return SettlingStep(
        way=way.way,
        count=way.count,
        shows_percent=way.shows_percent,
        seconds=way.count * 2 * settle.slot_seconds(comparison.transfer_seconds),
        commands=(f"sharebench try {shlex.quote(setting)}{_options_of_path(base)}{ssh}",),
        setting=setting,
        first_id=base.id,
        by_hand=comparison.changes_server and comparison.other_is_newest,
    )


def _step_by_interleaving(comparison: OpenComparison) -> SettlingStep | None:
    versus = comparison.versus
    way = settle.by_interleaved_runs(comparison.change_percent, comparison.variation.run_deviation, comparison.limits)
    if versus is None or way is None:
        return None

    # Of what differs only what this client was told is interleaved; the rest of it follows from that.
    client_settings = {*VERSUS_DIFFERENCES, *REQUIRED}
    return SettlingStep(
        way=way.way,
        count=way.count,
        shows_percent=way.shows_percent,
        seconds=interleaved_seconds(way.count, comparison.transfer_seconds),
        commands=(_versus_command(comparison.first_base, versus, way.count),),
        between=differences_prose(
            difference for difference in comparison.differing if difference.name in client_settings
        ),
        first_id=comparison.first_base.id,
    )


def _step_by_base_again(comparison: OpenComparison) -> SettlingStep | None:
    way = settle.by_base_again(
        comparison.change_percent / comparison.widening,
        comparison.variation.runs,
        base=len(comparison.base),
        other=len(comparison.other),
        repeats=comparison.variation.repeats,
        spread=comparison.session_spread,
    )
    if way is None:
        return None

    # Where several steps are judged together, a change must be as much larger as the intervals are wider.
    return SettlingStep(
        way=way.way,
        count=way.count,
        shows_percent=way.shows_percent * comparison.widening,
        seconds=way.count * comparison.series_seconds,
        commands=(_command_to_repeat(comparison.first_base),),
        first_id=comparison.first_base.id,
    )


def _step_by_alternating(comparison: OpenComparison) -> SettlingStep | None:
    # How many of the series there are now count already.
    have = comparison.alternating_series
    way = settle.by_alternating(comparison.change_percent, comparison.session_spread, comparison.limits, have=have)
    if way is None:
        return None

    # An odd series of the base came last, so the other side is next.
    turns = [comparison.first_base, comparison.first_other]
    if have % 2 and not comparison.other_is_newest:
        turns.reverse()
    return SettlingStep(
        way=way.way,
        count=way.count,
        shows_percent=way.shows_percent,
        seconds=way.count * comparison.series_seconds,
        commands=tuple(map(_command_to_repeat, turns)),
        series_a_side=(way.count + have) // 2,
        first_id=turns[0].id,
        by_hand=comparison.changes_server,
    )


def _command_to_repeat(series: records.Series) -> str:
    return f"sharebench run --again {series.id}"


def interleaved_seconds(runs: int, run_seconds: float) -> float:
    """How long ``runs`` a side take, with their warm-up runs."""
    return 2 * ((runs + DEFAULT_WARMUPS) * run_seconds + _OPENING_SECONDS)


def _server_setting(
    claimed: records.Change | None, differing: Sequence[Difference], other: records.Series
) -> str | None:
    if not other.target.abilities.through_samba:
        return None
    if claimed is not None and claimed.evidence is not records.Evidence.CONTRADICTED:
        return f"{claimed.name}={claimed.value}" if _can_be_tried(claimed) else None

    # Of several differences nobody knows which one the change comes from.
    parameters = [difference for difference in differing if difference.parameter]
    client_differs = any(difference.name in VERSUS_DIFFERENCES for difference in differing)
    if len(parameters) != 1 or client_differs or parameters[0].other is None:
        return None
    return f"{parameters[0].parameter}={parameters[0].other}"


def _can_be_tried(change: records.Change) -> bool:
    """Whether ``sharebench try`` can make it: a parameter of smb.conf, of the kernel or of a network card."""
    is_parameter = spelling(change.name).parameter is not None
    return is_parameter or change.name.startswith(_KERNEL) or "@" in change.name


def _client_options(
    claimed: records.Change | None, differing: Sequence[Difference], other: records.Series
) -> str | None:
    names = {difference.name for difference in differing}
    options = []
    for place, name in VERSUS_DIFFERENCES.items():
        if place in names:
            value = getattr(other.client, place.removeprefix("client."))
            options.append(f"{_VERSUS[name]} {typed_value(name, value)}")

    required_of_other = {difference.name for difference in differing if difference.other}
    required = [option for name, option in REQUIRED.items() if name in required_of_other]
    options += required
    if not options:
        return None

    # What was negotiated otherwise without being asked for, or what the server has, no option of ours can repeat.
    is_negotiated = bool(names & set(_NEGOTIATED)) and not required
    is_of_server = any(difference.parameter for difference in differing)
    is_of_client = claimed is None or claimed.name in {*_VERSUS, *NAMES_OF_REQUIRED.values()}
    if is_negotiated or is_of_server or not is_of_client:
        return None
    return " ".join(options)


def typed_value(name: str, value: object) -> str:
    """A value of one of ``VERSUS_DIFFERENCES``, as it is typed on the command line."""
    return wording.typed_size(value) if name == "block" and isinstance(value, int) else str(value)


def _versus_command(base: records.Series, options: str, runs: int) -> str:
    settings = base.plan.settings if base.plan else Settings()
    of_base = ""
    if settings.in_flight:
        of_base += f" --in-flight {settings.in_flight}"
    if settings.block_bytes:
        of_base += f" --block {wording.typed_size(settings.block_bytes)}"
    return f"sharebench run --runs {runs} --versus {shlex.quote(options)}{of_base}{_options_of_path(base)}"


def _options_of_path(base: records.Series) -> str:
    """The direction, the file and the target of a series, as they are typed."""
    plan = base.plan
    is_put = base.command is records.Command.PUT
    makes_file = plan is not None and plan.counts.make_file

    options = []
    if is_put:
        options.append("--put")
    if base.flushed:
        options.append("--flush")
    if makes_file:
        options.append("--make-file")
    if plan and plan.counts.size_bytes and (is_put or makes_file):
        options.append(f"--size {wording.typed_size(plan.counts.size_bytes)}")
    if plan and plan.counts.files:
        options.append(f"--files {plan.counts.files}")
    options.append(shlex.quote(wording.plain(records.format_target(base.target))))
    return f" {' '.join(options)}"
