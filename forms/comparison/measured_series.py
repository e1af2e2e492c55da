"""Series with their averages, by host, direction and set-up: what the rules about several series compare.

A *set-up* is how something was set when it was measured: a series' label, or else the change that it was measured
after. The set-ups of one place (protocol, port, share, path and client) are compared with each other. Series that
repeat each other in a set-up are judged by the mean of their averages: the newest alone may be the unlucky one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

from forms import link_share, wording
from forms.findings import path, series_warnings
from forms.stats import summary
from forms.tuning.differences import is_repeat
from storage import records

REPEATS_WITHIN_SECONDS = 86_400.0
"""Of the newest series of a set-up: those from before may be of a server that was another one then."""


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
        of_link = link_share.share_text(share, wording.link_rate(self.series.link_bits_per_second))
        return f"{text} ({of_link})"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSetUp:
    """Series that measured the same, with the mean of their averages."""

    newest: MeasuredSeries
    repeats: tuple[MeasuredSeries, ...] = ()
    """The other series."""

    @property
    def all_measured(self) -> tuple[MeasuredSeries, ...]:
        return (self.newest, *self.repeats)

    @property
    def bytes_per_second(self) -> float:
        """The mean of the series' averages, in which every series weighs the same."""
        rates = [measured.bytes_per_second for measured in self.all_measured]
        return sum(rates) / len(rates)

    @property
    def all_series(self) -> tuple[records.Series, ...]:
        return tuple(measured.series for measured in self.all_measured)

    @property
    def text(self) -> str:
        """As of a single series, with the number of those that it is the mean of: ``… (mean of 2 series)``."""
        mean_text = replace(self.newest, bytes_per_second=self.bytes_per_second).text
        return f"{mean_text} (mean of {len(self.all_measured)} series)" if self.repeats else mean_text


def newest_of_set_ups(group: Sequence[MeasuredSeries]) -> list[MeasuredSeries]:
    """The newest series of each set-up, in the order in which the set-ups were first measured."""
    in_order = sorted(group, key=attrgetter("series.created_at"))
    newest = {(measured_place(measured), set_up_name(measured.series)): measured for measured in in_order}
    return list(newest.values())


def with_repeats(newest: MeasuredSeries, group: Sequence[MeasuredSeries]) -> MeasuredSetUp:
    """The set-up of the ``newest``, with those of the ``group`` that measured the same in the same environment then."""
    repeats = [
        measured
        for measured in group
        if measured is not newest
        and newest.series.moment - measured.series.moment <= REPEATS_WITHIN_SECONDS
        and set_up_name(measured.series) == set_up_name(newest.series)
        and is_repeat(newest.series, measured.series)
    ]
    return MeasuredSetUp(newest=newest, repeats=tuple(repeats))


def fastest_set_up(group: Sequence[MeasuredSeries]) -> MeasuredSetUp | None:
    """The set-up with the highest mean; None for no series."""
    in_order = sorted(group, key=attrgetter("series.created_at"), reverse=True)
    set_ups: list[MeasuredSetUp] = []
    for measured in in_order:
        is_counted = any(measured in set_up.all_measured for set_up in set_ups)
        if not is_counted:
            set_ups.append(with_repeats(measured, in_order))
    return max(set_ups, key=attrgetter("bytes_per_second"), default=None)


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
