"""What each figure of a diagnosis is held against: what its path allows, else what is usual, with the source.

What a path allows follows from the measured round trip, the requests and bytes of the work, the link, and this
machine's own limits; a server adds its usual time for a request. ``usual.toml`` has the usual values.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from forms import wording
from forms.diagnosis import path, rules, rules_long_run, rules_small_files, summary
from forms.diagnosis.figures import WINDOW_QUESTIONS, Figure
from forms.tuning.smb_conf import toml_data
from forms.tuning.usual_server import usual_request_seconds, usual_server
from storage.looks import Diagnosis, Stage, StageName

OWN_PATH = "this path, as it was measured"
"""The source of what the path itself allows."""

_NIELSEN = "a pause of a second is noticed (Nielsen 1993); a round trip for each part of a login"
_COMMANDS = ("put", "get")

_NO_ROUND_TRIP = frozenset({"lookup", "this_machine"})
"""Legs of a login that ask the server nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureReference:
    """What one figure is held against; numbers are in the figure's unit."""

    text: str
    """For people, with the number."""
    source: str
    allowed: float | None = None
    """The best that the path allows; None of a usual range."""
    least: float | None = None
    most: float | None = None
    """From the least to the most the figure is as it should be; None where there is no such end."""

    def holds(self, value: float) -> bool:
        """Whether the value is as it should be."""
        is_enough = self.least is None or value >= self.least
        is_little_enough = self.most is None or value <= self.most
        return is_enough and is_little_enough

    def to_json(self) -> dict[str, object]:
        return {
            "text": self.text,
            "source": self.source,
            "allowed": self.allowed,
            "least": self.least,
            "most": self.most,
        }


def figure_references(diagnosis: Diagnosis) -> dict[str, FigureReference]:
    """By the key of the figure; figures without a reference are left out."""
    references = dict(_usual_references())
    for name, references_of in _REFERENCES_OF_STAGE.items():
        stage = diagnosis.stage(name)
        if stage is not None:
            references.update(references_of(stage, diagnosis))
    return references


def _usual_references() -> Iterator[tuple[str, FigureReference]]:
    for key, row in toml_data("usual.toml", package="forms.diagnosis")["figure"].items():
        reference = FigureReference(
            text=row["text"],
            source=row["source"],
            least=row.get("least"),
            most=row.get("most"),
        )
        yield key, reference


def without_reference_text(figure: Figure) -> str:
    """Why there is nothing to hold a figure against."""
    reasons: Mapping[str, str] = toml_data("usual.toml", package="forms.diagnosis")["without"]
    for key, reason in reasons.items():
        if figure.key == key or (key.endswith("*") and figure.key.startswith(key.removesuffix("*"))):
            return reason
    return reasons["other"]


def _time_reference(allowed_seconds: float, text: str, source: str) -> FigureReference:
    return FigureReference(text=text, source=source, allowed=allowed_seconds, most=allowed_seconds / path.GOOD_SHARE)


def _rate_reference(allowed: float, text: str, source: str = OWN_PATH) -> FigureReference:
    return FigureReference(text=text, source=source, allowed=allowed, least=allowed * path.GOOD_SHARE)


# The link and this client


def _get_limits(diagnosis: Diagnosis) -> list[path.RateLimit]:
    """What limits a get, but for the distance."""
    limits = [limit for limit in (path.link_limit(diagnosis), _protection_limit(diagnosis)) if limit is not None]
    ceiling = diagnosis.ceiling_bytes_per_second
    if ceiling is not None and ceiling > 0:
        limits.append(path.RateLimit(name="this client by itself", bytes_per_second=ceiling))
    return limits


def _protection_limit(diagnosis: Diagnosis) -> path.RateLimit | None:
    """How fast this machine signs or encrypts, where the server asks for that."""
    stage = diagnosis.stage(StageName.PROTECTION)
    if stage is None:
        return None

    is_encrypted = str(stage.facts.get("plain.encryption") or "none") != "none"
    speed = stage.number("cipher_bytes_per_second" if is_encrypted else "signer_bytes_per_second")
    if speed is None or speed <= 0:
        return None
    doing = "encrypting" if is_encrypted else "signing"
    return path.RateLimit(name=f"{doing} on this client", bytes_per_second=speed)


def _lowest(limits: list[path.RateLimit]) -> path.RateLimit | None:
    return min(limits, key=_rate_of_limit, default=None)


def _rate_of_limit(limit: path.RateLimit) -> float:
    return limit.bytes_per_second


# The stages


def _connect_references(stage: Stage, diagnosis: Diagnosis) -> Iterator[tuple[str, FigureReference]]:
    """A round trip for each leg that asks the server, and the second from which on the rule calls it slow."""
    round_trip = path.round_trip(stage, diagnosis)
    legs = [leg for leg in rules.LEGS if stage.of(f"{leg}_seconds") and leg not in _NO_ROUND_TRIP]
    if round_trip is None or not legs:
        return

    most_seconds = len(legs) * round_trip + rules.SLOW_CONNECT_SECONDS
    trips = wording.count(len(legs), "round trip")
    reference = FigureReference(
        text=f"less than {wording.seconds(most_seconds)}: {trips}, and 1 s",
        source=_NIELSEN,
        allowed=len(legs) * (round_trip + usual_request_seconds("long")),
        most=most_seconds,
    )
    yield "first_connect", reference
    yield "later_connect", reference


def _distance_references(stage: Stage, diagnosis: Diagnosis) -> Iterator[tuple[str, FigureReference]]:
    round_trip = path.round_trip(stage, diagnosis)
    rates = summary.rates_in_flight(stage)
    if round_trip is None or not rates:
        return

    link = path.link_limit(diagnosis)
    least_bytes = min(rates)
    on_the_link = least_bytes / link.bytes_per_second if link else 0.0
    one_request = least_bytes / (round_trip + on_the_link + usual_request_seconds("long"))
    yield (
        "least_in_flight",
        _rate_reference(
            one_request,
            f"{wording.rate(one_request)}: one such request at a time",
            f"{OWN_PATH}; {usual_server()['request_source']}",
        ),
    )

    # Beside a link or this machine's own limit, the largest window of a near server says nothing.
    limits = _get_limits(diagnosis)
    most_bytes = max(rates)
    window_name = f"{wording.binary_size(most_bytes)} each round trip"
    window = path.RateLimit(name=window_name, bytes_per_second=most_bytes / round_trip)
    lowest = _lowest([*limits, window]) if limits else None
    if lowest is not None and most_bytes != least_bytes:
        yield "most_in_flight", _rate_reference(lowest.bytes_per_second, lowest.text)

    if link is not None:
        needed = link.bytes_per_second * round_trip
        yield "granted", _at_least(needed, f"{wording.binary_size(int(needed))}: what fills the link at this distance")
        return
    asked_bytes = stage.number("asked_bytes_in_flight")
    if asked_bytes:
        yield "granted", _at_least(asked_bytes, f"{wording.binary_size(int(asked_bytes))}: what was asked for")


def _at_least(value: float, text: str) -> FigureReference:
    return FigureReference(text=text, source=OWN_PATH, allowed=value, least=value)


def _small_files_references(stage: Stage, diagnosis: Diagnosis) -> Iterator[tuple[str, FigureReference]]:
    round_trip = path.round_trip(stage, diagnosis)
    if round_trip is None:
        return

    source = f"{OWN_PATH}; {usual_server()['request_source']}"
    for command, requests in path.REQUESTS_OF_A_FILE.items():
        usual_seconds = path.usual_copy_seconds(requests, stage, diagnosis)
        most_seconds = path.fine_file_seconds(command, stage, diagnosis)
        assert usual_seconds is not None
        assert most_seconds is not None
        trips = f"{wording.count(len(requests), 'round trip')} of {wording.milliseconds(round_trip)} and the server"
        text = f"{_file_text(usual_seconds)} usual, fine up to {_file_text(most_seconds)}: {trips}"
        yield (
            f"{command}_file",
            FigureReference(text=text, source=source, allowed=usual_seconds, most=most_seconds),
        )

    streams = int(stage.number("streams") or 0)
    if streams > 1:
        at_once = FigureReference(
            text=f"{rules_small_files.RISING:g} times or more: to copy several files at once helps",
            source=f"{OWN_PATH}; from {rules_small_files.RISING:g} times on, copying several files at once helps",
            least=rules_small_files.RISING,
        )
        for command in _COMMANDS:
            yield f"{command}_streams", at_once

    for pattern in summary.patterns():
        for command, requests in (("put", pattern.put), ("get", pattern.get)):
            # How much faster several streams are depends on the processors of the server, which nobody knows here.
            seconds = path.usual_copy_seconds(requests, stage, diagnosis)
            assert seconds is not None
            yield f"{pattern.key}_{command}", _rate_reference(1 / seconds, f"{1 / seconds:,.0f}/s", source)


def _file_text(seconds: float) -> str:
    return f"{wording.milliseconds(seconds)} ({1 / seconds:,.0f}/s)" if seconds > 0 else wording.milliseconds(seconds)


def _window_references(stage: Stage, diagnosis: Diagnosis) -> Iterator[tuple[str, FigureReference]]:
    """A round trip, and the tenth of a second up to which an answer is felt as immediate."""
    most_seconds = (path.round_trip(stage, diagnosis) or 0.0) + rules.SLOW_QUESTION_SECONDS
    reference = FigureReference(
        text=f"less than {wording.milliseconds(most_seconds)}: a round trip, and 0.1 s",
        source="an answer within a tenth of a second is felt as immediate (Nielsen 1993)",
        most=most_seconds,
    )
    for key in WINDOW_QUESTIONS:
        yield key, reference


def _folders_references(stage: Stage, diagnosis: Diagnosis) -> Iterator[tuple[str, FigureReference]]:
    round_trip = path.round_trip(stage, diagnosis)
    counts = summary.sizes_of(stage, "list")
    if round_trip is None or not counts:
        return

    server = usual_server()
    ask_seconds = 2 * (round_trip + usual_request_seconds("long"))
    ask_text = (
        f"{wording.milliseconds(ask_seconds)}: 2 round trips of {wording.milliseconds(round_trip)} and the server"
    )
    yield "ask", _time_reference(ask_seconds, ask_text, f"{OWN_PATH}; {server['request_source']}")

    scan_seconds = counts[-1] * float(server["scan_seconds"])
    missing_seconds = round_trip + usual_request_seconds("long") + scan_seconds
    missing_text = f"{wording.milliseconds(missing_seconds)}: a round trip and a scan"
    yield "missing", _time_reference(missing_seconds, missing_text, f"{OWN_PATH}; {server['scan_source']}")


def _protection_references(_stage: Stage, diagnosis: Diagnosis) -> Iterator[tuple[str, FigureReference]]:
    lowest = _lowest(_get_limits(diagnosis))
    if lowest is not None:
        yield "as_it_is", _rate_reference(lowest.bytes_per_second, lowest.text)


def _long_run_references(stage: Stage, diagnosis: Diagnosis) -> Iterator[tuple[str, FigureReference]]:
    """A put is held against what limits it here as well; the ceiling of a get says nothing of it."""
    limits = [limit for limit in (path.link_limit(diagnosis), _protection_limit(diagnosis)) if limit is not None]
    lowest = _lowest(limits)
    if lowest is not None:
        for key in ("whole", "before", "after"):
            yield key, _rate_reference(lowest.bytes_per_second, lowest.text)
    elif len(stage.of("at_seconds")) > 2 * summary.LEAST_SEGMENT_SAMPLES:
        # A run of fewer samples is too short to show that it becomes slow.
        percent = f"{100 * rules_long_run.FADES_TO:.0f} %"
        source = "sharebench complains of a run that falls below that and stays there"
        yield "whole", FigureReference(text=f"keeps {percent} of its speed to the end", source=source)


_REFERENCES_OF_STAGE: Mapping[StageName, Callable[[Stage, Diagnosis], Iterator[tuple[str, FigureReference]]]] = {
    StageName.CONNECT: _connect_references,
    StageName.DISTANCE: _distance_references,
    StageName.SMALL_FILES: _small_files_references,
    StageName.WINDOW: _window_references,
    StageName.FOLDERS: _folders_references,
    StageName.PROTECTION: _protection_references,
    StageName.LONG_RUN: _long_run_references,
}
