"""What each figure of a diagnosis is held against: what its path allows, else what is usual, with the source.

What a path allows follows from the measured round trip, the requests and bytes of the work, the link, and this
machine's own limits; a server adds its usual time for a request. ``usual.toml`` has the usual values.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from forms import wording
from forms.diagnosis import rules, summary
from forms.diagnosis.figures import WINDOW_QUESTIONS
from forms.tuning.smb_conf import toml_data
from forms.worksheets.references import ethernet_payload
from storage.looks import Diagnosis, Stage, StageName

GOOD_SHARE = 2 / 3
"""Of what the path allows, the share from which on a figure is as it should be. A server's usual time for a request is
known to about a third, and a busy machine adds as much.
"""

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


def _usual_server() -> Mapping[str, float | str]:
    """What a usual server takes, by the names of ``usual.toml``."""
    server: Mapping[str, float | str] = toml_data("usual.toml", package="forms.diagnosis")["server"]
    return server


def _request_seconds() -> float:
    """What a usual server takes for a request."""
    return float(_usual_server()["request_seconds"])


def _time_reference(allowed_seconds: float, text: str, source: str) -> FigureReference:
    return FigureReference(text=text, source=source, allowed=allowed_seconds, most=allowed_seconds / GOOD_SHARE)


def _rate_reference(allowed: float, text: str, source: str = OWN_PATH) -> FigureReference:
    return FigureReference(text=text, source=source, allowed=allowed, least=allowed * GOOD_SHARE)


def _round_trip_of(stage: Stage, diagnosis: Diagnosis) -> float | None:
    """The stage's own round trip, else that of the distance; None where neither measured one."""
    distance = diagnosis.stage(StageName.DISTANCE)
    seconds = summary.round_trip(stage)
    if seconds <= 0 and distance is not None:
        seconds = summary.round_trip(distance)
    return seconds if seconds > 0 else None


# The link and this machine


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """What no transfer over this path exceeds for long."""

    name: str
    bytes_per_second: float

    @property
    def text(self) -> str:
        return f"{wording.rate(self.bytes_per_second)}: {self.name}"


def link_limit(diagnosis: Diagnosis) -> RateLimit | None:
    """What the link carries of file data; None where its speed is unknown, or nothing crosses it."""
    link = diagnosis.link_bits_per_second
    if not link or link <= 0 or diagnosis.loopback:
        return None
    return RateLimit(name=f"a link of {wording.link_rate(link)}", bytes_per_second=ethernet_payload(link / 1e6))


def _get_limits(diagnosis: Diagnosis) -> list[RateLimit]:
    """What limits a get, but for the distance."""
    limits = [limit for limit in (link_limit(diagnosis), _protection_limit(diagnosis)) if limit is not None]
    ceiling = diagnosis.ceiling_bytes_per_second
    if ceiling is not None and ceiling > 0:
        limits.append(RateLimit(name="this machine's client", bytes_per_second=ceiling))
    return limits


def _protection_limit(diagnosis: Diagnosis) -> RateLimit | None:
    """How fast this machine signs or encrypts, where the server asks for that."""
    stage = diagnosis.stage(StageName.PROTECTION)
    if stage is None:
        return None

    is_encrypted = str(stage.facts.get("plain.encryption") or "none") != "none"
    speed = stage.number("cipher_bytes_per_second" if is_encrypted else "signer_bytes_per_second")
    if speed is None or speed <= 0:
        return None
    doing = "encrypting" if is_encrypted else "signing"
    return RateLimit(name=f"{doing} on this machine", bytes_per_second=speed)


def _lowest(limits: list[RateLimit]) -> RateLimit | None:
    return min(limits, key=_rate_of_limit, default=None)


def _rate_of_limit(limit: RateLimit) -> float:
    return limit.bytes_per_second


# The stages


def _connect_references(stage: Stage, diagnosis: Diagnosis) -> Iterator[tuple[str, FigureReference]]:
    """A round trip for each leg that asks the server, and the second from which on the rule calls it slow."""
    round_trip = _round_trip_of(stage, diagnosis)
    legs = [leg for leg in rules.LEGS if stage.of(f"{leg}_seconds") and leg not in _NO_ROUND_TRIP]
    if round_trip is None or not legs:
        return

    most_seconds = len(legs) * round_trip + rules.SLOW_CONNECT_SECONDS
    trips = wording.count(len(legs), "round trip")
    reference = FigureReference(
        text=f"less than {wording.seconds(most_seconds)}: {trips}, and 1 s",
        source=_NIELSEN,
        allowed=len(legs) * (round_trip + _request_seconds()),
        most=most_seconds,
    )
    yield "first_connect", reference
    yield "later_connect", reference


def _distance_references(stage: Stage, diagnosis: Diagnosis) -> Iterator[tuple[str, FigureReference]]:
    round_trip = _round_trip_of(stage, diagnosis)
    rates = summary.rates_in_flight(stage)
    if round_trip is None or not rates:
        return

    link = link_limit(diagnosis)
    least_bytes = min(rates)
    on_the_link = least_bytes / link.bytes_per_second if link else 0.0
    one_request = least_bytes / (round_trip + on_the_link + _request_seconds())
    yield (
        "least_in_flight",
        _rate_reference(
            one_request,
            f"{wording.rate(one_request)}: one such request at a time",
            f"{OWN_PATH}; {_usual_server()['request_source']}",
        ),
    )

    # Beside a link or this machine's own limit, the largest window of a near server says nothing.
    limits = _get_limits(diagnosis)
    most_bytes = max(rates)
    window_name = f"{wording.binary_size(most_bytes)} each round trip"
    window = RateLimit(name=window_name, bytes_per_second=most_bytes / round_trip)
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
    round_trip = _round_trip_of(stage, diagnosis)
    if round_trip is None:
        return

    source = f"{OWN_PATH}; {_usual_server()['request_source']}"
    link = link_limit(diagnosis)
    file_bytes = stage.number("file_bytes") or 0.0
    on_the_link = file_bytes / link.bytes_per_second if link else 0.0

    round_trips = int(stage.number("round_trips") or 0)
    if round_trips > 0:
        file_seconds = round_trips * (round_trip + _request_seconds()) + on_the_link
        trips = f"{wording.count(round_trips, 'round trip')} of {wording.milliseconds(round_trip)}"
        text = f"{wording.milliseconds(file_seconds)}: {trips} and the server"
        for command in _COMMANDS:
            yield f"{command}_file", _time_reference(file_seconds, text, source)

    streams = int(stage.number("streams") or 0)
    if streams > 1:
        at_once = FigureReference(
            text=f"{rules.RISING:g} to {streams} times: as many streams",
            source=f"{OWN_PATH}; from {rules.RISING:g} times on, copying several files at once helps",
            least=rules.RISING,
        )
        for command in _COMMANDS:
            yield f"{command}_streams", at_once

    for pattern in summary.patterns():
        for command, requests in (("put", pattern.put), ("get", pattern.get)):
            seconds = len(requests) * (round_trip + _request_seconds()) + on_the_link
            rate = pattern.streams / seconds
            if on_the_link > 0:
                rate = min(rate, 1 / on_the_link)
            yield f"{pattern.key}_{command}", _rate_reference(rate, f"{rate:,.0f}/s", source)


def _window_references(stage: Stage, diagnosis: Diagnosis) -> Iterator[tuple[str, FigureReference]]:
    """A round trip, and the tenth of a second up to which an answer is felt as immediate."""
    most_seconds = (_round_trip_of(stage, diagnosis) or 0.0) + rules.SLOW_QUESTION_SECONDS
    reference = FigureReference(
        text=f"less than {wording.milliseconds(most_seconds)}: a round trip, and 0.1 s",
        source="an answer within a tenth of a second is felt as immediate (Nielsen 1993)",
        most=most_seconds,
    )
    for key in WINDOW_QUESTIONS:
        yield key, reference


def _folders_references(stage: Stage, diagnosis: Diagnosis) -> Iterator[tuple[str, FigureReference]]:
    round_trip = _round_trip_of(stage, diagnosis)
    counts = summary.sizes_of(stage, "list")
    if round_trip is None or not counts:
        return

    server = _usual_server()
    ask_seconds = 2 * (round_trip + _request_seconds())
    ask_text = (
        f"{wording.milliseconds(ask_seconds)}: 2 round trips of {wording.milliseconds(round_trip)} and the server"
    )
    yield "ask", _time_reference(ask_seconds, ask_text, f"{OWN_PATH}; {server['request_source']}")

    scan_seconds = counts[-1] * float(server["scan_seconds"])
    missing_seconds = round_trip + _request_seconds() + scan_seconds
    missing_text = f"{wording.milliseconds(missing_seconds)}: a round trip and a scan"
    yield "missing", _time_reference(missing_seconds, missing_text, f"{OWN_PATH}; {server['scan_source']}")


def _protection_references(_stage: Stage, diagnosis: Diagnosis) -> Iterator[tuple[str, FigureReference]]:
    lowest = _lowest(_get_limits(diagnosis))
    if lowest is not None:
        yield "as_it_is", _rate_reference(lowest.bytes_per_second, lowest.text)


def _long_run_references(stage: Stage, diagnosis: Diagnosis) -> Iterator[tuple[str, FigureReference]]:
    """A put is held against what limits it here as well; the ceiling of a get says nothing of it."""
    limits = [limit for limit in (link_limit(diagnosis), _protection_limit(diagnosis)) if limit is not None]
    lowest = _lowest(limits)
    if lowest is not None:
        for key in ("whole", "before", "after"):
            yield key, _rate_reference(lowest.bytes_per_second, lowest.text)
    elif len(stage.of("at_seconds")) > 2 * summary.LEAST_SEGMENT_SAMPLES:
        # A run of fewer samples is too short to show that it becomes slow.
        percent = f"{100 * rules.FADES_TO:.0f} %"
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
