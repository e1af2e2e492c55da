"""When a watch reports, and a check of it on paper and as JSON.

A check is judged by the rule of all verdicts, against the baseline's series, with the history of the path. What would
change the state is measured again at once. Recovered: not slower than the baseline, or, where that is inconclusive,
faster than the series that showed the slowdown.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from forms import wording
from forms.comparison.comparison import Comparison, basis_sentence
from forms.comparison.report import comparison_document
from forms.comparison.verdict import moment
from forms.layout import Tone, Toned
from forms.report import Report, fields_of
from forms.stats.decision import Limits, Verdict
from forms.stats.distributions import student_t
from storage.looks import Watch, WatchState
from storage.records import Series, with_zone

BASELINE_NIGHTS = 3
NIGHT_SECONDS = 12 * 3600.0
"""Series at least this far apart are of different nights."""
FOUND_IN_ONE = 0.478
"""Standard errors at which one night finds 68.4 %, and one of two nights 9 in 10."""


class Outcome(StrEnum):
    SLOWER = "slower"
    NOT_SLOWER = "not slower"
    UNDECIDED = "undecided"
    POSTPONED = "postponed"
    COLLECTED = "collected"
    UNMEASURABLE = "unmeasurable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirm:
    """``needed`` of at most ``most`` series have to agree."""

    needed: int = 2
    most: int = 2


def outcome_of(verdict: Verdict, against_slow: Verdict | None = None) -> Outcome:
    """``verdict`` against the baseline; ``against_slow`` against the series that showed the slowdown, if any."""
    if verdict is Verdict.SLOWER:
        return Outcome.SLOWER
    decided = verdict is not Verdict.UNKNOWN or against_slow is Verdict.FASTER
    return Outcome.NOT_SLOWER if decided else Outcome.UNDECIDED


def settled(outcomes: Sequence[Outcome], confirm: Confirm, *, slowed: bool, retries: bool = True) -> Outcome | None:
    """What the series of one check say together; None where another has to be measured.
    ``retries``: what cannot be measured is tried once more.
    """
    if Outcome.POSTPONED in outcomes:
        return Outcome.POSTPONED
    if outcomes[-1] is Outcome.UNMEASURABLE:
        again = retries and outcomes.count(Outcome.UNMEASURABLE) == 1
        return None if again else Outcome.UNMEASURABLE
    outcomes = [one for one in outcomes if one is not Outcome.UNMEASURABLE]
    first = outcomes[0]
    if first is not (Outcome.NOT_SLOWER if slowed else Outcome.SLOWER):
        return first
    agreeing = outcomes.count(first)
    if agreeing >= confirm.needed:
        return first
    return outcomes[-1] if len(outcomes) - agreeing > confirm.most - confirm.needed else None


def state_after(state: WatchState, outcome: Outcome, *, slowed: bool) -> WatchState:
    """The state that a check leaves; ``slowed``: a slowdown was reported and is not over."""
    match outcome:
        case Outcome.SLOWER:
            return WatchState.SLOWER
        case Outcome.UNMEASURABLE:
            return WatchState.UNMEASURABLE
        case Outcome.POSTPONED:
            return state
        case Outcome.UNDECIDED:
            return WatchState.SLOWER if slowed else WatchState.STEADY
        case Outcome.NOT_SLOWER | Outcome.COLLECTED:
            return WatchState.STEADY


def nights(series: Sequence[Series]) -> int:
    count, newest = 0, -math.inf
    for at in sorted(map(moment, series)):
        if at - newest >= NIGHT_SECONDS:
            count, newest = count + 1, at
    return count


def smallest_slowdown_percent(found: Comparison, limits: Limits) -> float | None:
    """The slowdown that one of two nights reports nine times in ten; None without an interval."""
    if found.interval_percent is None or found.variation is None:
        return None
    low, high = (math.log1p(end / 100) for end in found.interval_percent)
    half = (high - low) / 2
    error = half / student_t(found.limits.level, found.variation.freedom)
    noise = -math.log1p(-limits.noise_percent / 100) if limits.noise_percent < 100 else math.inf
    return -100 * math.expm1(-(max(half, noise) + FOUND_IN_ONE * error))


SCHEMA = "sharebench/watch/1"
TONES = {
    WatchState.STEADY: Tone.GOOD,
    WatchState.RECOVERED: Tone.GOOD,
    WatchState.SLOWER: Tone.BAD,
    WatchState.UNMEASURABLE: Tone.BAD,
    WatchState.POSTPONED: Tone.CAUTION,
}
EXIT_CODES = {
    Outcome.SLOWER: 1,
    Outcome.NOT_SLOWER: 0,
    Outcome.UNDECIDED: 3,
    Outcome.POSTPONED: 3,
    Outcome.COLLECTED: 3,
    Outcome.UNMEASURABLE: 4,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    watch: Watch
    before: Watch
    outcome: Outcome
    comparison: Comparison | None = None
    series: Series | None = None
    nights: int = 0
    limits: Limits = field(default_factory=Limits)

    @property
    def changed(self) -> bool:
        return self.watch.standing is not self.before.told

    @property
    def has_standing(self) -> bool:
        """Whether any check has compared or failed: none is steady before its baseline is complete."""
        compared = self.nights >= BASELINE_NIGHTS and self.outcome is not Outcome.COLLECTED
        return compared or self.watch.standing is not WatchState.STEADY

    @property
    def smallest_percent(self) -> float | None:
        return smallest_slowdown_percent(self.comparison, self.limits) if self.comparison else None


def watch_answer(watch: Watch) -> Toned:
    if watch.state is WatchState.POSTPONED and watch.standing is WatchState.STEADY:
        text = "Still collecting the baseline" if watch.is_measured else "Postponed: busy at the last check"
        return Toned(text, TONES[watch.state])
    return Toned(_standing(watch), TONES[watch.standing])


def _standing(watch: Watch) -> str:
    return f"{_SENTENCES[watch.standing]} since {with_zone(watch.since)}"


_SENTENCES = {
    WatchState.STEADY: "Not slower than its baseline",
    WatchState.SLOWER: "Slower than its baseline",
    WatchState.UNMEASURABLE: "Cannot be measured",
}


def check_sentence(check: Check) -> str:
    watch, comparison = check.watch, check.comparison
    if check.outcome is Outcome.UNMEASURABLE:
        return f"Cannot be measured: {wording.plain(watch.why)}."
    if check.outcome is Outcome.POSTPONED:
        return f"Postponed: {wording.plain(watch.why)}. The next check decides."
    if check.outcome is Outcome.COLLECTED:
        missing = BASELINE_NIGHTS - check.nights
        if watch.why:
            why = f"{watch.why[:1].upper()}{watch.why[1:]}"
            return f"Baseline {watch.baseline}: {check.nights} of {BASELINE_NIGHTS} nights. {why}."
        if missing <= 0:
            return f"Baseline {watch.baseline} is complete: {BASELINE_NIGHTS} nights. The next check compares with it."
        return (
            f"Collecting the baseline {watch.baseline}: {check.nights} of {BASELINE_NIGHTS} nights. Nothing is compared"
            " until then."
        )
    said = comparison.headline if comparison else ""
    if watch.state is WatchState.RECOVERED:
        said = f"Recovered. {said}"
    elif check.outcome is Outcome.UNDECIDED and watch.standing is WatchState.SLOWER:
        said = f"Still reported as slower. {said}"
    return said


def smallest_sentence(check: Check) -> str | None:
    smallest = check.smallest_percent
    if smallest is None:
        return None
    return f"A slowdown of {wording.percent(smallest)} or more is reported within two nights, 9 times in 10."


def check_document(check: Check) -> dict[str, Any]:
    watch = check.watch
    return {
        "schema": SCHEMA,
        **asdict(watch),
        "recording": watch.series_id,
        "changed": check.changed,
        "sentence": check_sentence(check),
        "baseline_nights": check.nights,
        "baseline_nights_needed": BASELINE_NIGHTS,
        "smallest_slowdown_percent": check.smallest_percent,
        "comparison": comparison_document(check.comparison) if check.comparison else None,
    }


def watch_report(check: Check) -> Report:
    watch = check.watch
    path = f"{watch.command} {wording.plain(watch.subject)}"
    none = "no night collected yet" if watch.series_id else "no series judged yet"
    collected = wording.count(check.nights, "night") if check.nights else none
    return Report(
        form="watch",
        title=f"Watch: {path}",
        name="Watch",
        fields=fields_of(
            ("Answer", check_sentence(check), TONES[watch.state]),
            ("State", _standing(watch) if check.has_standing else ""),
            ("Path", path),
            ("Baseline", f"{wording.plain(watch.baseline)}, {collected}"),
            ("Checked", with_zone(watch.attempted_at)),
            ("Measured", with_zone(watch.succeeded_at) if watch.succeeded_at else ""),
            ("Judged by", basis_sentence(check.comparison) if check.comparison else ""),
            ("Reports", smallest_sentence(check)),
        ),
        document=lambda: check_document(check),
    )
