"""What several stages of a diagnosis measure: round trips, reads, and how busy this machine's processors are."""

import time
from collections import defaultdict

from app.clients import base
from app.clients.smb import share as smb_share
from app.clients.smb import transfer, wire
from app.server import host_activity, machine_meter
from app.server.host_facts import read_text
from forms.diagnosis.summary import ALL_TICKS, BUSY_TICKS
from storage import looks, records

LARGEST_WINDOW_BYTES = 2 * base.MAX_BLOCK_BYTES
"""The most bytes in flight that are asked for."""

Samples = defaultdict[str, list[float]]
"""What a stage measures, by the name of the measure; each value is one measurement."""


def stage_of(name: looks.StageName, samples: Samples, facts: dict[str, records.FactValue]) -> looks.Stage:
    return looks.Stage(name=name, samples={key: tuple(values) for key, values in samples.items()}, facts=facts)


def read_part(
    share: smb_share.Share, file: wire.OpenedFile, size_bytes: int, window: transfer.Window, meter: base.Meter
) -> float:
    """Bytes a second of reading the beginning of a file."""
    part = wire.OpenedFile(file.file_id, min(size_bytes, file.size_bytes), is_folder=False)
    return part.size_bytes / transfer.read_file(share.channel, share.tree_id, part, window, meter, None)


def echo_seconds(share: smb_share.Share, count: int) -> tuple[float, ...]:
    """The round trips of empty requests, one after the other."""
    round_trips = []
    for _ in range(count):
        began = time.perf_counter()
        share.channel.ask(wire.frame(*wire.ECHO))
        round_trips.append(time.perf_counter() - began)
    return tuple(round_trips)


def processors() -> host_activity.ProcessorTicks:
    """What this machine's processors have done since it started."""
    return host_activity.parse_cpu(read_text("/proc/stat")) or host_activity.ProcessorTicks()


def busy_percent_since(before: host_activity.ProcessorTicks) -> float:
    """How busy this machine's processors were; where that cannot be read, fully, so that nobody is blamed for it."""
    percent = machine_meter.busy_percent(before, processors())
    return 100.0 if percent is None else percent


class ProcessorsAtSamples:
    """What this machine's processors have worked since it was made, at each sample of a transfer."""

    def __init__(self) -> None:
        self._before = processors()
        self._at_samples: list[host_activity.ProcessorTicks] = []

    def look(self) -> None:
        """Once a sample: it reads a small file."""
        self._at_samples.append(processors())

    def samples(self, step: int) -> dict[str, tuple[float, ...]]:
        """Of each ``step``-th sample, by the names of `forms.diagnosis.summary`."""
        kept = self._at_samples[::step]
        return {
            BUSY_TICKS: tuple(float(now.busy - self._before.busy) for now in kept),
            ALL_TICKS: tuple(float(now.total - self._before.total) for now in kept),
        }
