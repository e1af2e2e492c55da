"""The path of a diagnosis: its round trip, what its link carries, and how long a usual server on it takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forms import wording
from forms.diagnosis import summary
from forms.tuning.usual_server import usual_request_seconds
from forms.worksheets.references import ethernet_payload
from storage.looks import Diagnosis, Stage, StageName

GOOD_SHARE = 2 / 3
"""Of what the path allows or a usual server does, the share from which on a figure is as it should be. A server's
usual time for a request is known to about a third, and a busy machine adds as much.
"""

FINE_SECONDS_IN_THE_SERVER = 0.001
"""Of a small file: 1,000 a second by one user, at which nobody waits, even where a usual server does more."""


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


_SAME_PATH_SECONDS = 0.001
"""Round trips that differ by less are those of one path: the rest is what busy processors take to wake up."""


def round_trip(stage: Stage, diagnosis: Diagnosis) -> float | None:
    """The round trip that a page tells: that of the distance, so that all figures are held against one.

    It is the stage's own where the distance was not measured, or where the path was clearly another meanwhile; None
    where neither was measured.
    """
    own_seconds = summary.round_trip(stage)
    distance = diagnosis.stage(StageName.DISTANCE)
    seconds = summary.round_trip(distance) if distance is not None else 0.0
    if own_seconds > 0 and (seconds <= 0 or abs(own_seconds - seconds) >= _SAME_PATH_SECONDS):
        seconds = own_seconds
    return seconds if seconds > 0 else None


REQUESTS_OF_A_FILE: Mapping[str, tuple[str, ...]] = {
    "put": ("create", "write", "close"),
    "get": ("open", "read", "close"),
}
"""What the stage of small files asks for, for each file."""


def usual_copy_seconds(requests: Sequence[str], stage: Stage, diagnosis: Diagnosis) -> float | None:
    """How long a usual server takes to copy a small file by these requests, one after the other.

    None where the round trip is not known. ``stage`` is that of small files.
    """
    seconds_on_the_way = round_trip(stage, diagnosis)
    if seconds_on_the_way is None:
        return None

    server_seconds = sum(map(usual_request_seconds, requests))
    return server_seconds + len(requests) * seconds_on_the_way + seconds_on_the_link(stage, diagnosis)


def fine_file_seconds(command: str, stage: Stage, diagnosis: Diagnosis) -> float | None:
    """Up to how long one small file may take to be as it should be; None where the round trip is not known."""
    requests = REQUESTS_OF_A_FILE[command]
    usual_seconds = usual_copy_seconds(requests, stage, diagnosis)
    if usual_seconds is None:
        return None

    seconds_on_the_way = usual_seconds - sum(map(usual_request_seconds, requests))
    return max(usual_seconds / GOOD_SHARE, seconds_on_the_way + FINE_SECONDS_IN_THE_SERVER)


def seconds_on_the_link(stage: Stage, diagnosis: Diagnosis) -> float:
    """How long the link takes for the data of a small file; 0 where its speed is unknown."""
    link = link_limit(diagnosis)
    file_bytes = stage.number("file_bytes") or 0.0
    return file_bytes / link.bytes_per_second if link is not None else 0.0
