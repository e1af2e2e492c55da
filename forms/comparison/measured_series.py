"""Series with their averages, by host, direction and set-up: what the rules about several series compare.

A *set-up* is how something was set when it was measured: a series' label, or else the change that it was measured
after. The set-ups of one place (protocol, port, share, path and client) are compared with each other.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from forms import wording
from forms.findings import path, series_warnings
from forms.stats import summary
from storage import records


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSeries:
    """A series with its average."""

    series: records.Series
    bytes_per_second: float
    """The mean of its valid runs."""
    is_loopback: bool

    @property
    def percent_of_link(self) -> float | None:
        """Of the link's nominal speed; None on the loopback, or where that is unknown."""
        link = None if self.is_loopback else self.series.link_bits_per_second
        return records.percent_of_link(self.bytes_per_second, link)

    @property
    def at_ceiling(self) -> bool:
        """Whether this client's own limit may be what limits it."""
        return series_warnings.at_ceiling(self.series)

    @property
    def is_smb(self) -> bool:
        """Whether it is a protocol whose speed is judged in percent of FTP's."""
        return self.series.target.abilities.is_held_to_yardstick

    @property
    def is_ftp(self) -> bool:
        return self.series.target.abilities.is_yardstick

    @property
    def is_bare_tcp(self) -> bool:
        return not self.series.target.abilities.moves_files

    @property
    def text(self) -> str:
        """``SMB 95.2 MB/s (76 % of 1 Gb/s)``."""
        protocol = wording.plain(self.series.target.abilities.label)
        text = f"{protocol} {wording.rate(self.bytes_per_second)}"
        share = self.percent_of_link
        if share is None:
            return text
        return f"{text} ({share:.0f} % of {wording.link_rate(self.series.link_bits_per_second)})"


def newest_of_set_ups(group: Sequence[MeasuredSeries]) -> list[MeasuredSeries]:
    """The newest series of each set-up, in the order in which the set-ups were first measured."""
    in_order = sorted(group, key=attrgetter("series.created_at"))
    newest = {(measured_place(measured), set_up_name(measured.series)): measured for measured in in_order}
    return list(newest.values())


def measured_place(measured: MeasuredSeries) -> object:
    """What two series must have in common for their set-ups to be compared, beside host and direction."""
    target = measured.series.target
    client_name = measured.series.client.name
    return target.protocol, target.port, target.share, target.path, client_name, measured.series.flushed


def set_up_name(series: records.Series) -> str:
    """The label, or ``NAME = VALUE`` of the change; empty without either."""
    name = series.label
    if not name and series.change:
        name = f"{series.change.name} = {series.change.value}"
    return wording.plain(name)


def with_set_up(measured: MeasuredSeries) -> str:
    """The name of its set-up for a sentence: ``" with large buffers"``; empty without one."""
    name = set_up_name(measured.series)
    return f" with {name}" if name else ""


def without_flushed(series: Sequence[records.Series]) -> list[records.Series]:
    """Without puts whose time includes the server's disk, which no FTP put and no other direction has."""
    return [one_series for one_series in series if not one_series.flushed]


def with_averages(series: Sequence[records.Series]) -> list[MeasuredSeries]:
    """The series that have a valid run, in their order."""
    all_measured = []
    for one_series in series:
        average = summary.mean(one_series.rates())
        if average is not None:
            is_loopback = path.is_loopback(one_series)
            all_measured.append(MeasuredSeries(series=one_series, bytes_per_second=average, is_loopback=is_loopback))
    return all_measured


def by_host_and_command(
    series: Sequence[records.Series],
) -> Iterator[tuple[tuple[str, records.Command], list[MeasuredSeries]]]:
    """((host, direction), its measured series), in alphabetical order."""

    def host_and_command(measured: MeasuredSeries) -> tuple[str, records.Command]:
        return measured.series.target.host, measured.series.command

    in_order = sorted(with_averages(series), key=host_and_command)
    for key, group in groupby(in_order, host_and_command):
        yield key, list(group)


def has_both_places(group: Sequence[MeasuredSeries]) -> bool:
    """Whether some were measured on the loopback and some over a network."""
    return len({measured.is_loopback for measured in group}) > 1


def fastest(group: Iterable[MeasuredSeries]) -> MeasuredSeries | None:
    return max(group, key=attrgetter("bytes_per_second"), default=None)
