"""Measurements as Prometheus text, for the textfile collector of node_exporter.

Base units, gauges. Every metric is always written: what was not measured is 0, and ``sharebench_success`` says so.
Labels name the path's server, share and command, never a user or a file.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from forms.load.summary import percentile_seconds
from forms.series.summary import run_form
from forms.stats.decision import Verdict
from forms.watch.report import Check
from storage.loads.records import Load
from storage.looks import WatchState
from storage.records import Series, Target

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
    tried = attempted_at or (series.created_at if series else "")
    values = {
        "throughput_bytes_per_second": average,
        "throughput_low_bytes_per_second": max(0.0, low),
        "throughput_high_bytes_per_second": high,
        "link_ratio": (share or 0.0) / 100,
        "success": float(average is not None),
        "last_attempt_timestamp_seconds": _seconds(tried),
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
    """The text format, version 0.0.4: each metric's samples together, after its help and type."""
    return "".join(f"{line}\n" for line in _lines(samples)).encode(errors="replace")


def _lines(samples: list[MetricSample]) -> Iterator[str]:
    for metric, about in _HELP.items():
        found = [one for one in samples if one.metric == metric]
        if not found:
            continue
        yield f"# HELP sharebench_{metric} {about}"
        yield f"# TYPE sharebench_{metric} gauge"
        for one in found:
            labels = ",".join(f'{name}="{_escaped(value)}"' for name, value in one.labels.items())
            yield f"sharebench_{metric}{{{labels}}} {one.value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp() if text else 0.0
