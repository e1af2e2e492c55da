"""Two profiles of smbd call by call: what takes the time that one recording spends more than the other."""

import math
import statistics as basic
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

from forms import wording
from forms.layout import Tone
from forms.report import Field, Report, ReportKind, Table, columns_of, row_of
from forms.stats.changes import within_series
from forms.stats.readings import plain_reading
from forms.stats.summary import confidence_interval
from storage.isolation import PROCESSOR, ProfileCounter

Round = Mapping[str, ProfileCounter]
OWN = "smbd itself"
"""Its processor time; where a side has none, the time of requests beyond all calls, waits for a processor included."""
LEVEL = 0.99
"""Of each interval: there are many calls. 30 of 380 pairs of the few equal recordings it was chosen on blamed one."""
LEAST_SHARE = 0.05
"""Of the base's time; a smaller effect is not blamed."""
LEAST_ROUNDS = 3
_NAMED = 3
SHOWN = 15
_UNITS = {"smb2_create": "create", "SMBntcreateX": "create", "syscall_openat": "open", "syscall_open": "open"}
"""What is counted per, the first that both sides have."""
_REQUESTS, _CALL = ("smb2_", "SMB", "Trans2_"), "syscall_"
_NO_WORK = ("negprot", "sesssetup", "logoff", "tcon", "tdis", "cancel", "notify", "break")
"""Requests of the login, and those that wait."""
_SESSION = 0.25
"""By how much the time of a call differs between equal recordings, as a logarithm, beside what rounds differ by."""
_PROCESSOR_SESSION = 0.05
"""The same of smbd's processor time: of 94 equal pairs none blamed it, nor would any at 0.02."""
_FASTEST = 0.6
_MANY = 1000.0
_OFTEN = 0.1
"""Calls per unit from which a call tells how fast the machine is."""


class _Effect(NamedTuple):
    """Seconds per unit, and the interval of what surely changed."""

    seconds: float = 0.0
    low: float = 0.0
    high: float = 0.0

    @property
    def sure_seconds(self) -> float:
        return min(abs(self.low), abs(self.high)) if self.low * self.high > 0 else 0.0


_NOTHING = _Effect()


@dataclass(frozen=True, slots=True)
class _Side:
    """One call in each round of one side: (calls, seconds) per unit."""

    uses: tuple[tuple[float, float], ...]

    @property
    def calls(self) -> float:
        return basic.fmean(calls for calls, _ in self.uses)

    @property
    def seconds(self) -> float:
        return self.calls / basic.fmean(self.rates) if self.rates else 0.0

    @property
    def rates(self) -> list[float]:
        """Calls in a second of their own time, in the fastest rounds: a busy machine only ever lengthens a call."""
        found = sorted((calls / seconds for calls, seconds in self.uses if calls and seconds), reverse=True)
        return found[: max(LEAST_ROUNDS, math.ceil(_FASTEST * len(found)))]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallChange:
    """One call of smbd, or smbd's own work, on both sides; everything per create."""

    name: str
    base_calls: float
    other_calls: float
    base_seconds: float
    other_seconds: float
    change_seconds: float
    blamed_seconds: float = 0.0
    """What surely changed; 0 where nothing did."""
    low_seconds: float = 0.0
    high_seconds: float = 0.0

    @property
    def called(self) -> str:
        return wording.plain(self.name.removeprefix(_CALL))

    def why(self, unit: str) -> str:
        if self.name == OWN:
            return ""
        if abs(self.other_calls - self.base_calls) > LEAST_SHARE * self.base_calls:
            return f", {self.base_calls:.1f} → {self.other_calls:.1f} calls per {unit}"
        before, after = self.base_seconds / self.base_calls, self.other_seconds / self.other_calls
        return f", {1e6 * before:,.0f} → {1e6 * after:,.0f} µs a call"


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    per: str
    base_rounds: int
    other_rounds: int
    base_seconds: float
    other_seconds: float
    calls: tuple[CallChange, ...]
    slower_alike_factor: float = 1.0
    """How many times as long all calls take: a slower or busier machine, for which no call is to blame."""

    @property
    def sure(self) -> bool:
        return min(self.base_rounds, self.other_rounds) >= LEAST_ROUNDS

    @property
    def change_percent(self) -> float:
        return 100 * (self.other_seconds / self.base_seconds - 1)

    @property
    def blamed(self) -> tuple[CallChange, ...]:
        return tuple(one for one in self.calls if one.blamed_seconds)

    @property
    def sentence(self) -> str:
        """The answer: ``38 % more time in smbd: 31 of it in openat, 2.1 → 5.3 calls per create.``"""
        if not self.blamed:
            return "No call of smbd is to blame: calls and their times differ no more than equal recordings do."
        change, parts = self.change_percent, []
        for one in self.blamed[:_NAMED]:
            percent = 100 * one.blamed_seconds / self.base_seconds
            amount = f"{abs(percent):.0f} of it" if percent * change > 0 else wording.with_minus(f"{percent:+.0f}")
            parts.append(f"{amount} in {one.called}{one.why(self.per)}")
        once = "" if self.sure else " Fewer than three rounds were measured, so there is no interval."
        return f"{abs(change):.0f} % {'more' if change > 0 else 'less'} time in smbd: {'; '.join(parts)}.{once}"


def blame(base: Sequence[Round], other: Sequence[Round]) -> Blame | None:
    """What changed between the rounds of two profiles; None where they have nothing in common to count by."""
    base, other = ([one for one in side if one] for side in (base, other))
    unit = next((name for name in _UNITS if base and other and all(name in one for one in (*base, *other))), None)
    if unit is None:
        return None
    timed = all(PROCESSOR in one for one in (*base, *other))
    both = {name: (before, after) for name, before, after in
            _calls([[_uses(one, unit, timed=timed) for one in side] for side in (base, other)])}  # fmt: skip
    wholes = [sum(sides[at].seconds for sides in both.values()) for at in (0, 1)]
    many = min(len(base), len(other)) >= LEAST_ROUNDS
    alike = _alike(both.values()) if many else 1.0
    effects = {name: _judged(*sides, alike) if many else _Effect(*[sides[1].seconds - sides[0].seconds] * 3)
               for name, sides in both.items()}  # fmt: skip
    if many and OWN in both:
        # a busy machine lengthens all calls, but hardly a processor's time: what surely changed did so with and without
        slower, session = ((alike, 1.0), _PROCESSOR_SESSION) if timed else ((alike,), _SESSION)
        effects[OWN] = min((_beyond_calls(both, one, session) for one in slower), key=lambda one: one.sure_seconds)
    effects = {name: one for name, one in effects.items() if one.sure_seconds >= LEAST_SHARE * wholes[0]}
    calls = [
        CallChange(
            name=name, base_calls=before.calls, other_calls=after.calls, base_seconds=before.seconds,
            other_seconds=after.seconds, change_seconds=after.seconds - before.seconds,
            **dict(zip(("blamed_seconds", "low_seconds", "high_seconds"), effects.get(name, _NOTHING), strict=True)),
        )
        for name, (before, after) in both.items()
    ]  # fmt: skip
    more = wholes[1] - wholes[0]
    calls.sort(key=lambda one: (not one.blamed_seconds, one.blamed_seconds * more < 0,
                                -effects.get(one.name, _NOTHING).sure_seconds, -abs(one.change_seconds)))  # fmt: skip
    return Blame(
        per=_UNITS[unit], base_rounds=len(base), other_rounds=len(other), base_seconds=wholes[0],
        other_seconds=wholes[1], calls=tuple(calls), slower_alike_factor=alike,
    )  # fmt: skip


def _uses(one: Round, unit: str, *, timed: bool) -> dict[str, tuple[float, float]]:
    """(calls, seconds) per unit of each call, smbd's own work included."""
    count = max(1, one[unit].calls)
    calls = {name: each for name, each in one.items() if name.startswith(_CALL)}
    found = {name: (each.calls / count, each.microseconds / 1e6 / count) for name, each in calls.items()}
    requests = [
        each.microseconds for name, each in one.items() if name.startswith(_REQUESTS) and not name.endswith(_NO_WORK)
    ]
    if requests or timed:
        beyond = sum(requests) - sum(each.microseconds for each in calls.values())
        own = one[PROCESSOR].microseconds if timed else beyond
        found[OWN] = (1.0, max(own, 0) / 1e6 / count)
    return found


def _calls(sides: Sequence[Sequence[Mapping[str, tuple[float, float]]]]) -> Iterator[tuple[str, _Side, _Side]]:
    names = dict.fromkeys(name for side in sides for one in side for name in one)
    if not all(OWN in one for side in sides for one in side):  # a printed profile without requests
        names.pop(OWN, None)
    for name in names:
        before, after = (_Side(tuple(one.get(name, (0.0, 0.0)) for one in side)) for side in sides)
        yield name, before, after


def _alike(both: Iterable[tuple[_Side, _Side]]) -> float:
    """How many times as long a call takes, in the middle of all calls that are frequent."""
    ratios = [
        basic.median(before.rates) / basic.median(after.rates)
        for before, after in both
        if min(before.calls, after.calls) >= _OFTEN and before.rates and after.rates
    ]
    return basic.median(ratios) if ratios else 1.0


def _judged(before: _Side, after: _Side, alike: float) -> _Effect:
    sure = [one for one in (_by_number(before, after, alike), _by_time(before, after, alike)) if one.sure_seconds]
    return _Effect(*map(sum, zip(*sure, strict=True))) if sure else _NOTHING


def _beyond_calls(both: Mapping[str, tuple[_Side, _Side]], alike: float, session: float) -> _Effect:
    """Smbd's own work, less what changed with the number of calls: each call's result is work as well."""
    base, other = (sum(sides[at].calls for name, sides in both.items() if name != OWN) for at in (0, 1))
    more = other / base if base else 1.0
    before, after = both[OWN]
    if not before.rates or not after.rates:
        return _NOTHING
    longer = basic.median(before.rates) / basic.median(after.rates) / alike
    explained = min(max(longer, min(1.0, more)), max(1.0, more))
    return _Effect(*(explained * one for one in _by_time(before, after, alike * explained, session)))


def _by_number(before: _Side, after: _Side, alike: float) -> _Effect:
    """The change in calls at the lesser of both sides' times: whoever asks for the same makes the same calls."""
    (low, high), (least, most) = (
        confidence_interval([calls for calls, _ in side.uses], LEVEL) or (0.0, 0.0) for side in (before, after)
    )
    times = [1 / basic.median(side.rates) / slower for side, slower in ((before, 1.0), (after, alike)) if side.rates]
    each = min(times, default=0.0)
    return _Effect((after.calls - before.calls) * each, (least - high) * each, (most - low) * each)


def _by_time(before: _Side, after: _Side, alike: float, session: float = _SESSION) -> _Effect:
    """The change in the time of a call, for the slower side's calls: with :func:`_by_number` it is the whole change."""
    rates, slower = before.rates, [rate * alike for rate in after.rates]
    has_enough = min(len(rates), len(slower)) >= LEAST_ROUNDS
    found = within_series([plain_reading(rates)], [plain_reading(slower)]) if has_enough else None
    if found is None:
        return _NOTHING
    error = math.hypot(found.error, session)
    known = min(_MANY, found.freedom * (error / found.error) ** 4) if found.error > 0 else _MANY  # Welch-Satterthwaite
    low, high = replace(found, error=error, freedom=known).interval_percent(LEVEL)
    middle = basic.fmean(rates)
    factors = (middle / basic.fmean(slower), 1 / (1 + high / 100), 1 / (1 + low / 100))
    return _Effect(*((after if factor > 1 else before).calls / middle * (factor - 1) for factor in factors))


BLAME = "Blame"


def with_blame(report: Report, base: Sequence[Round], other: Sequence[Round]) -> Report:
    found = blame(base, other)
    if found is None:
        return report
    field = Field(name=BLAME, text=found.sentence, tone=Tone.CAUTION if found.blamed else Tone.PLAIN)
    told = {**asdict(found), "sentence": found.sentence, "change_percent": found.change_percent, "level": LEVEL}
    at = int(report.answer is not None)
    if found.blamed:
        report = replace(report, fields=(*report.fields[:at], field, *report.fields[at:]))
    else:
        report = replace(report, results=(*report.results, replace(field, is_detail=True)))
    return replace(
        report,
        tables=(*report.tables, replace(_table(found), is_detail=True)),
        document=lambda: {**report.document(), "blame": told},
    )


def _table(found: Blame) -> Table:
    headings = ["Base, calls", "Other, calls", "Base, µs", "Other, µs", "Change, µs", "To blame, µs", "from", "to"]
    rows = []
    for one in found.calls[:SHOWN]:
        calls = [None, None] if one.name == OWN else [one.base_calls, one.other_calls]
        times = [1e6 * each for each in (one.base_seconds, one.other_seconds, one.change_seconds)]
        blamed = [1e6 * each for each in (one.blamed_seconds, one.low_seconds, one.high_seconds)]
        tone = Tone.CAUTION if one.blamed_seconds else Tone.PLAIN
        rows.append(row_of(one.called, *calls, *times, *(blamed if one.blamed_seconds else [None] * 3), tone=tone))
    return Table(
        columns=columns_of("Call", *((heading, ReportKind.DECIMAL) for heading in headings)),
        rows=tuple(rows),
        caption=f"smbd's time call by call, for each {found.per}; those to blame first",
    )
