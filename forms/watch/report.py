"""When a watch reports, and a check of it on paper, as JSON, and as Prometheus text.

A check is judged by the rule of all verdicts, against the baseline's series; what would change the state is measured
again at once. Recovered: not slower than the baseline, or, if inconclusive, faster than the series that was slower.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from forms import wording
from forms.comparison.comparison import Comparison, basis_sentence
from forms.comparison.report import comparison_document
from forms.layout import Tone, Toned
from forms.load.summary import percentile_seconds
from forms.report import Report, fields_of
from forms.series.summary import run_form
from forms.stats.decision import Limits, Verdict
from forms.stats.distributions import student_t
from storage.load.records import Load
from storage.looks import Watch, WatchState
from storage.records import Series, Target, with_zone

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
    """What one check's series say together; None: measure another. ``retries``: the unmeasurable is tried once more."""
    if Outcome.POSTPONED in outcomes:
        return Outcome.POSTPONED
    if outcomes[-1] is Outcome.UNMEASURABLE:
        return None if retries and outcomes.count(Outcome.UNMEASURABLE) == 1 else Outcome.UNMEASURABLE
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
    for at in sorted(one.moment for one in series):
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
    if watch.state is WatchState.RECOVERED and comparison and comparison.verdict is Verdict.UNKNOWN:
        # Faster than the series that were slower: the rule of outcome_of. How near the baseline is stays open.
        said = "Recovered: faster again than when it was slow. Against the baseline the runs show no difference"
        ends = comparison.interval_percent
        is_shown = ends is not None and not wording.is_too_wide(*ends)
        reach = wording.interval_text(*ends) if ends and is_shown else ""
        said = f"{said}{reach}."
    elif watch.state is WatchState.RECOVERED:
        said = f"Recovered. {said}"
    elif check.outcome is Outcome.UNDECIDED and watch.standing is WatchState.SLOWER:
        said = f"Still reported as slower. {said}"
    return said


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
    smallest = None if check.smallest_percent is None else wording.percent(check.smallest_percent)
    none = "no night collected yet" if watch.series_id else "no series judged yet"
    collected = wording.count(check.nights, "night") if check.nights else none
    compared = check.nights >= BASELINE_NIGHTS and check.outcome is not Outcome.COLLECTED
    return Report(
        form="watch",
        title=f"Watch: {path}",
        name="Watch",
        fields=fields_of(
            ("Answer", check_sentence(check), TONES[watch.state]),
            ("State", _standing(watch) if compared or watch.standing is not WatchState.STEADY else ""),
            ("Path", path),
            ("Baseline", f"{wording.plain(watch.baseline)}, {collected}"),
            ("Checked", with_zone(watch.attempted_at)),
            ("Measured", with_zone(watch.succeeded_at) if watch.succeeded_at else ""),
            ("Judged by", basis_sentence(check.comparison) if check.comparison else ""),
            ("Reports", smallest and f"A slowdown of {smallest} or more is reported within two nights, 9 times in 10."),
        ),
        document=lambda: check_document(check),
    )


_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", '"': '\\"'})
_HELP = {
    "throughput_bytes_per_second": "Mean throughput of the valid measured runs.",
    "throughput_low_bytes_per_second": "Lower end of the mean's 95 % confidence interval.",
    "throughput_high_bytes_per_second": "Upper end of the mean's 95 % confidence interval.",
    "link_ratio": "Throughput as a share of the link's nominal speed.",
    "success": "1 if the last attempt measured the path.",
    "last_attempt_timestamp_seconds": "When the path was last tried.",
    "last_success_timestamp_seconds": "When the path was last measured.",
    "verdict": "1 for the verdict of the last check against the baseline.",
    "watch_state": "1 for the state that the last check found.",
    "change_ratio": "Change against the baseline; -0.1 is 10 % slower.",
    "load_users_carried": "Most users without overload; 0 if unknown.",
    "load_requests_per_second": "Completed requests.",
    "load_response_p95_seconds": "95th percentile of the response time, measured from the scheduled start.",
    "load_errors": "Failed requests.",
}


@dataclass(frozen=True, slots=True)
class MetricSample:
    metric: str
    value: float
    labels: Mapping[str, str]


def series_samples(series: Series | None, labels: Mapping[str, str], attempted_at: str = "") -> list[MetricSample]:
    """A series' throughput; zeros where there is none. ``attempted_at`` replaces the series' time."""
    form = run_form(series) if series else None
    average = form.average_rate if form else None
    low, high = (form.confidence if form else None) or (average or 0.0, average or 0.0)
    share = form.average.percent_of_link if form and form.average else None
    values = {
        "throughput_bytes_per_second": average,
        "throughput_low_bytes_per_second": max(0.0, low),
        "throughput_high_bytes_per_second": high,
        "link_ratio": (share or 0.0) / 100,
        "success": float(average is not None),
        "last_attempt_timestamp_seconds": _seconds(attempted_at or (series.created_at if series else "")),
        "last_success_timestamp_seconds": _seconds(series.created_at) if series and average is not None else 0.0,
    }
    return [MetricSample(metric, value or 0.0, labels) for metric, value in values.items()]


def check_samples(check: Check, series: Series | None, labels: Mapping[str, str]) -> list[MetricSample]:
    """A check of a watch; ``series`` is what the check measured, if anything."""
    watch, comparison = check.watch, check.comparison
    samples = {one.metric: one for one in series_samples(series, labels, watch.attempted_at)}
    newest = MetricSample("last_success_timestamp_seconds", _seconds(watch.succeeded_at or ""), labels)
    said = comparison.verdict if comparison else None
    verdicts = [
        MetricSample("verdict", float(said is verdict), {**labels, "verdict": name})
        for verdict, name in _VERDICTS.items()
    ]
    states = [
        MetricSample("watch_state", float(watch.state is state), {**labels, "state": state.value})
        for state in WatchState
    ]
    change = (comparison.change_percent if comparison else None) or 0.0
    found = {**samples, newest.metric: newest}
    return [*found.values(), *verdicts, *states, MetricSample("change_ratio", change / 100, labels)]


_VERDICTS = {one: "inconclusive" if one is Verdict.UNKNOWN else one.value for one in Verdict}


def load_samples(
    load: Load | None, labels: Mapping[str, str], users: Sequence[int] = (), attempted_at: str = ""
) -> list[MetricSample]:
    """A load's points, zeros for ``users`` without a valid one; the carried users are 0 where no capacity is known."""
    points, capacity = (load.valid_points(), load.capacity) if load else ((), None)
    times = {
        "success": float(bool(points)),
        "last_attempt_timestamp_seconds": _seconds(attempted_at or (load.created_at if load else "")),
        "last_success_timestamp_seconds": _seconds(load.created_at) if load and points else 0.0,
        "load_users_carried": float(capacity.carried or 0) if capacity else 0.0,
    }
    samples = [MetricSample(metric, value, labels) for metric, value in times.items()]
    for count in {*users, *(load.choices.users if load else ())} - {point.users for point in points}:
        of_users = {**labels, "users": str(count)}
        samples += [MetricSample(metric, 0.0, of_users) for metric in _OF_A_POINT]
    for point in points:
        of_point = {**labels, "users": str(point.users)}
        of_point |= {"size_bytes": str(point.size_bytes)} if point.size_bytes else {}
        slowest, errors = percentile_seconds(point.response, 0.95), float(sum(point.errors.values()))
        values = (point.requests_per_second or 0.0, slowest or 0.0, errors)
        samples += [MetricSample(*each, of_point) for each in zip(_OF_A_POINT, values, strict=True)]
    return samples


_OF_A_POINT = ("load_requests_per_second", "load_response_p95_seconds", "load_errors")


def labels_of(target: Target, command: str, name: str) -> dict[str, str]:
    """What tells paths apart: server, share, command and the name that a person gave; no user, no file."""
    share = target.share or ""
    own = target.user and share.casefold() == target.user.casefold()
    place = {"protocol": target.protocol, "host": target.host or "", "share": "~" if own else share}
    return {**place, "command": command, "name": name}


def prometheus_text(samples: list[MetricSample]) -> bytes:
    """Text format 0.0.4, base units; every metric is written, 0 where not measured, as ``sharebench_success`` says."""
    return "".join(f"{line}\n" for line in _lines(samples)).encode(errors="replace")


def _lines(samples: list[MetricSample]) -> Iterator[str]:
    for metric, about in _HELP.items():
        found = [one for one in samples if one.metric == metric]
        if not found:
            continue
        yield f"# HELP sharebench_{metric} {about}"
        yield f"# TYPE sharebench_{metric} gauge"
        for one in found:
            labels = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in one.labels.items())
            yield f"sharebench_{metric}{{{labels}}} {one.value!r}"


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp() if text else 0.0
