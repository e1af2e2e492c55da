"""Series, loads and checks of watches as metrics in the text format of Prometheus, which dashboards read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from forms.load.summary import percentile_seconds
from forms.series.summary import run_form
from forms.stats.decision import Verdict
from forms.stats.summary import confidence_interval
from forms.watch.rule import Check
from storage.load.records import Load, LoadPoint
from storage.records import Series, Target
from storage.watch.records import WatchState

_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", '"': '\\"'})
_HELP = {
    "throughput_bytes_per_second": "Mean throughput of the valid measured runs.",
    "throughput_low_bytes_per_second": "Lower end of the mean's 95 % confidence interval.",
    "throughput_high_bytes_per_second": "Upper end of the mean's 95 % confidence interval.",
    "operations_per_second": "Mean rate of the random requests of the valid measured runs.",
    "operations_low_per_second": "Lower end of the mean's 95 % confidence interval.",
    "operations_high_per_second": "Upper end of the mean's 95 % confidence interval.",
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
_LOAD_POINT_METRICS = ("load_requests_per_second", "load_response_p95_seconds", "load_errors")
_VERDICT_LABELS = {
    Verdict.FASTER: "faster",
    Verdict.SLOWER: "slower",
    Verdict.SAME: "same",
    Verdict.UNKNOWN: "inconclusive",
}


@dataclass(frozen=True, slots=True)
class MetricSample:
    """A value of a metric; its labels tell which path it is of."""

    metric: str
    value: float
    labels: Mapping[str, str]


def series_samples(series: Series | None, labels: Mapping[str, str], attempted_at: str = "") -> list[MetricSample]:
    """A series' throughput, or operations per second of random requests; zeros where there is none.

    ``attempted_at`` replaces the series' time.
    """
    form = run_form(series) if series else None
    average = form.average_rate if form else None
    confidence = form.confidence if form else None
    if series is not None and series.is_random:
        rate_samples = _operations_values(series.operation_rates())
    else:
        low, high = confidence or (average or 0.0, average or 0.0)
        rate_samples = {
            "throughput_bytes_per_second": average or 0.0,
            "throughput_low_bytes_per_second": max(0.0, low),
            "throughput_high_bytes_per_second": high,
        }
    share = form.average.percent_of_link if form and form.average else None
    created_at = series.created_at if series else ""

    values = {
        **rate_samples,
        "link_ratio": (share or 0.0) / 100,
        "success": float(average is not None),
        "last_attempt_timestamp_seconds": _timestamp(attempted_at or created_at),
        "last_success_timestamp_seconds": _timestamp(created_at) if average is not None else 0.0,
    }
    return [MetricSample(metric, value, labels) for metric, value in values.items()]


def _operations_values(rates: Sequence[float]) -> dict[str, float]:
    """The mean of the runs' rates of random requests, with the ends of its interval; zeros without a run."""
    average = sum(rates) / len(rates) if rates else 0.0
    low, high = confidence_interval(rates) or (average, average)
    return {
        "operations_per_second": average,
        "operations_low_per_second": max(0.0, low),
        "operations_high_per_second": high,
    }


def check_samples(check: Check, series: Series | None, labels: Mapping[str, str]) -> list[MetricSample]:
    """A check of a watch; ``series`` is what the check measured, if anything."""
    watch = check.watch
    comparison = check.comparison
    samples = {sample.metric: sample for sample in series_samples(series, labels, watch.attempted_at)}
    # The path may have been measured last by an earlier check.
    last_success = "last_success_timestamp_seconds"
    samples[last_success] = MetricSample(last_success, _timestamp(watch.succeeded_at or ""), labels)

    check_verdict = comparison.verdict if comparison else None
    verdicts = [
        MetricSample("verdict", float(check_verdict is verdict), {**labels, "verdict": label})
        for verdict, label in _VERDICT_LABELS.items()
    ]
    states = [
        MetricSample("watch_state", float(watch.state is state), {**labels, "state": state.value})
        for state in WatchState
    ]
    change_percent = comparison.change_percent if comparison else None
    change = MetricSample("change_ratio", (change_percent or 0.0) / 100, labels)
    return [*samples.values(), *verdicts, *states, change]


def load_samples(
    load: Load | None, labels: Mapping[str, str], users: Sequence[int] = (), attempted_at: str = ""
) -> list[MetricSample]:
    """A load's points, zeros for ``users`` without a valid one; the carried users are 0 where no capacity is known."""
    points = load.valid_points() if load else ()
    capacity = load.capacity if load else None
    created_at = load.created_at if load else ""
    values = {
        "success": float(bool(points)),
        "last_attempt_timestamp_seconds": _timestamp(attempted_at or created_at),
        "last_success_timestamp_seconds": _timestamp(created_at) if points else 0.0,
        "load_users_carried": float(capacity.carried or 0) if capacity else 0.0,
    }
    samples = [MetricSample(metric, value, labels) for metric, value in values.items()]

    planned_users = load.choices.users if load else ()
    for count in {*users, *planned_users} - {point.users for point in points}:
        point_labels = {**labels, "users": str(count)}
        samples += [MetricSample(metric, 0.0, point_labels) for metric in _LOAD_POINT_METRICS]
    for point in points:
        samples += _point_samples(point, labels)
    return samples


def _point_samples(point: LoadPoint, labels: Mapping[str, str]) -> list[MetricSample]:
    point_labels = {**labels, "users": str(point.users)}
    if point.size_bytes:
        point_labels["size_bytes"] = str(point.size_bytes)
    values = (
        point.requests_per_second or 0.0,
        percentile_seconds(point.response, 0.95) or 0.0,
        float(sum(point.errors.values())),
    )
    return [
        MetricSample(metric, value, point_labels) for metric, value in zip(_LOAD_POINT_METRICS, values, strict=True)
    ]


def labels_of(target: Target, command: str, name: str) -> dict[str, str]:
    """What tells paths apart: server, share, command and the name that a person gave; no user, no file."""
    share = target.share or ""
    # A home directory is called as its user, who is not told.
    is_home = target.user and share.casefold() == target.user.casefold()
    return {
        "protocol": target.protocol,
        "host": target.host or "",
        "share": "~" if is_home else share,
        "command": command,
        "name": name,
    }


def prometheus_text(samples: list[MetricSample]) -> bytes:
    """Text format 0.0.4, base units; a sample is 0 where nothing was measured, as ``sharebench_success`` says."""
    return "".join(f"{line}\n" for line in _lines(samples)).encode(errors="replace")


def _lines(samples: list[MetricSample]) -> Iterator[str]:
    for metric, about in _HELP.items():
        of_metric = [sample for sample in samples if sample.metric == metric]
        if not of_metric:
            continue
        yield f"# HELP sharebench_{metric} {about}"
        yield f"# TYPE sharebench_{metric} gauge"
        for sample in of_metric:
            labels = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in sample.labels.items())
            yield f"sharebench_{metric}{{{labels}}} {sample.value!r}"


def _timestamp(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp() if moment else 0.0
