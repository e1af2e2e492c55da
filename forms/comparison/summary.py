"""The comparison form of two series, and the matrix of several (Using Samba, table B-1)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from forms import wording
from forms.comparison.comparison import Comparison
from forms.comparison.verdict import Sides, compare_several
from forms.findings.series_warnings import DRIFT_PERCENT
from forms.series.summary import SeriesSummary, run_form
from forms.stats.decision import Limits, Verdict
from forms.stats.summary import drift, half_width, lag_1, mean
from forms.tuning.differences import shown, told
from storage.records import Change, Command, Evidence, JSONValue, QuietVerdict, Series, with_zone


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    name: str
    base: str
    other: str
    differs: bool | None = None  # None for what is no setting


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSummary:
    comparison: Comparison
    bases: tuple[SeriesSummary, ...]
    others: tuple[SeriesSummary, ...]
    rows: tuple[ComparisonRow, ...]
    differences: tuple[ComparisonRow, ...]
    remarks: tuple[str, ...]

    @property
    def base(self) -> SeriesSummary:
        return self.bases[0]

    @property
    def other(self) -> SeriesSummary:
        return self.others[0]


def comparison_form(base: Series, other: Series, limits: Limits | None = None) -> ComparisonSummary:
    return comparisons([Sides(base=(base,), other=(other,))], limits)[0]


def comparisons(several: Sequence[Sides], limits: Limits | None = None) -> list[ComparisonSummary]:
    """All comparisons of one command, with a joint error of at most alpha."""
    found = compare_several(several, limits or Limits())
    return [_summary(comparison, sides) for comparison, sides in zip(found, several, strict=True)]


def _summary(comparison: Comparison, sides: Sides) -> ComparisonSummary:
    bases, others = tuple(map(run_form, sides.base)), tuple(map(run_form, sides.other))
    properties = _properties(bases[0], others[0]), _properties(others[0], bases[0])
    rows = tuple(
        ComparisonRow(name, mine, theirs, differs=mine != theirs if name in _SETTINGS and mine and theirs else None)
        for (name, mine), (_, theirs) in zip(*properties, strict=True)
    )
    return ComparisonSummary(
        comparison=comparison,
        bases=bases,
        others=others,
        rows=rows,
        differences=tuple(
            ComparisonRow(d.label, _value(d.name, d.base), _value(d.name, d.other), differs=True)
            for d in told(comparison.differences)
            if d.name not in _SAID
        ),
        remarks=tuple(_remarks(comparison, sides)),
    )


_NAMED = 4
_TWO_FIGURES = 100
_SETTINGS = frozenset({"Command", "Target", "Size", "Link", "Client", "Protocol", "Samba"})
_OF_CLIENT = ("name", "version", "dialect")
_SAID = {"command", "target", "size_bytes", "link_bits_per_second", *(f"client.{part}" for part in _OF_CLIENT)}


def _properties(form: SeriesSummary, beside: SeriesSummary) -> list[tuple[str, str]]:
    """Rates stand in the unit of the faster side, unless this one is too slow for two figures in it."""
    series, client = form.series, form.series.client
    sizes = {run.size_bytes for run in series.measured()}
    average = form.average_rate
    fastest = max(average or 0.0, beside.average_rate or 0.0)
    unit = fastest if average is None or average * _TWO_FIGURES >= fastest else average
    low, high = (wording.rate(end, beside=unit) if end > 0 else "0" for end in form.confidence or (0.0, 0.0))
    deviation = form.deviation.bytes_per_second if form.deviation else None
    share = form.average.percent_of_link if form.average else None
    parts = [f"SMB {client.dialect}" if client.dialect else series.target.protocol]
    parts += [f"signed ({client.signing})"] if client.is_signed else []
    parts += [f"encrypted ({client.encryption})"] if client.is_encrypted else []
    return [
        ("Series", series.id),
        ("Label", wording.plain(series.label)),
        ("When", with_zone(series.created_at)),
        ("Command", series.command.value),
        ("Target", wording.place(series.target)),
        ("Size", wording.binary_size(sizes.pop()) if len(sizes) == 1 else "several" if sizes else wording.ABSENT),
        ("Link", wording.link_rate(series.link_bits_per_second) if series.link_bits_per_second else ""),
        ("Client", wording.plain(f"{client.name} {client.version}".strip())),
        ("Protocol", wording.plain(", ".join(parts))),
        ("Samba", wording.plain(str(series.environment.get("server", {}).get("samba.version", "")))),
        ("Valid runs", str(len(series.measured()))),
        ("Average", wording.rate(average, beside=unit)),
        ("Deviation", wording.rate(deviation, beside=unit)),
        ("95 %, runs alone", f"{low} to {high}" if form.confidence else wording.ABSENT),
        ("% of link", "" if share is None else wording.cell_percent(share)),
    ]


def _remarks(comparison: Comparison, sides: Sides) -> list[str]:
    base, other = sides.base[0], sides.other[0]
    said = [
        f"The {name} is the mean of {len(side)} series: those measured again with the same settings count together."
        for name, side in (("base", sides.base), ("other", sides.other))
        if len(side) > 1
    ]
    if sides.stands_in:
        said.append("These two stand for the series that were named: their runs were interleaved, which tells more.")
    if base.command is not other.command:
        said.append(f"A {base.command} and a {other.command} are different work: compare like with like.")
    files = [{run.size_bytes for run in one.measured()} for one in (base, other)]
    if base.target.abilities.moves_files and [len(one) for one in files] == [1, 1] and files[0] != files[1]:
        sizes = ", then ".join(wording.file_size(size) for one in files for size in one)
        said.append(f"The files differ in size ({sizes}), and so may their rates.")
    if comparison.change is not None:
        said.append(_change_sentence(comparison.change))
    elif comparison.differences and comparison.verdict in (Verdict.FASTER, Verdict.SLOWER):
        named = [
            f"{d.label} ({_value(d.name, d.base)}, then {_value(d.name, d.other)})"
            for d in told(comparison.differences)
        ]
        more = [f"{len(named) - _NAMED} more"] if len(named) > _NAMED else []
        said.append(f"What differs, and may be the reason: {wording.listed([*named[:_NAMED], *more])}.")
    elsewhere = any(one.name == "target" or one.name.startswith("server.") for one in comparison.differences)
    if comparison.differences and comparison.server_seen and not elsewhere:
        said.append("The server's settings are the same.")
    both = (sides.base, "base", comparison.base_name), (sides.other, "other", comparison.other_name)
    measured = [
        (f'the {name} series "{called}"' if len(side) == 1 else f'{name} {number} "{wording.name_of(series)}"', series)
        for side, name, called in both
        for number, series in enumerate(side, 1)
    ]
    if busy := [name for name, series in measured if series.quiet_verdict is QuietVerdict.BUSY]:
        again = " Measure again at a quiet one." if comparison.busy_ids and not comparison.interleaved else ""
        said.append(f"Measured at a busy time: {wording.listed(busy)}.{again}")
    for name, series in measured:
        whose = f"{name[0].upper()}{name[1:]}"
        if (
            (own := series.change)
            and own.evidence is Evidence.CONTRADICTED
            and not (comparison.change and series is other)
        ):
            said.append(f"{whose}: {_change_sentence(own)}")
        said += _doubts(series, whose, interleaved=comparison.interleaved)
    return said


def _doubts(series: Series, named: str, *, interleaved: bool) -> Iterator[str]:
    unusual = sum(row.unusual is not None for row in run_form(series).rows)
    if unusual:
        yield f"{named} has {wording.count(unusual, 'unusual run')}: open its form to see why."
    if interleaved:
        return
    trend, dependence = drift(series.rates()), lag_1(series.rates())
    if trend is not None and trend.significant and abs(trend.percent) >= DRIFT_PERCENT:
        way = "rose" if trend.percent > 0 else "fell"
        yield (
            f"{named} {way} by {wording.percent(abs(trend.percent))} over its runs (Mann-Kendall p ="
            f" {trend.p_value:.3f}): its average depends on when it stopped."
        )
    elif dependence is not None:
        yield (
            f"{named} has runs that depend on each other (correlation of neighbours {dependence:.2f}): they tell less"
            " than as many independent ones."
        )


def _change_sentence(change: Change) -> str:
    also = f"; also changed: {wording.listed(list(change.also_changed))}" if change.also_changed else ""
    remark = f" {change.remark}" if change.remark else ""
    seen = "in effect" if change.evidence is Evidence.CONFIRMED else change.evidence
    return wording.plain(f"Change {wording.changed(change)}: {seen}{also}.{remark}")


def _value(name: str, value: JSONValue) -> str:
    return wording.ABSENT if value is None else shown(name, value)


FTP = "FTP"


@dataclass(frozen=True, slots=True)
class _MatrixCell:
    series: Series
    bytes_per_second: float | None
    half_width_bytes_per_second: float | None
    percent_of_ftp: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _MatrixRow:
    name: str
    cells: tuple[_MatrixCell | None, ...]
    """One per column; None where nothing was measured (the book's *n.a.*)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolMatrix:
    """The matrix: FTP's column first, the others in the order given."""

    columns: tuple[str, ...]
    rows: tuple[_MatrixRow, ...]

    @property
    def has_ftp(self) -> bool:
        return FTP in self.columns


def protocol_matrix(series: Sequence[Series], heading_of: Callable[[Series], str] | None = None) -> ProtocolMatrix:
    """A column per set-up, a row per command and host; a later series for a taken cell gets its own column."""
    names: Mapping[str, str] = {one.id: (heading_of or heading)(one) for one in series}
    if heading_of is None:
        names = _of_columns(series, names)
    hosts = list(dict.fromkeys(one.target.host for one in series))
    commands = [command for command in Command if any(one.command is command for one in series)]
    places: dict[tuple[str, str, Command], Series] = {}
    columns: list[str] = []
    for one in series:
        name = names[one.id]
        column, number = name, 2
        while (column, one.target.host, one.command) in places:
            column, number = f"{name} ({number})", number + 1
        places[column, one.target.host, one.command] = one
        if column not in columns:
            columns.append(column)
    columns.sort(key=lambda column: column != FTP)
    rows = [
        _MatrixRow(
            name=str(command) if len(hosts) < 2 else f"{wording.plain(host) or 'local'} {command}",
            cells=tuple(_cells([places.get((column, host, command)) for column in columns], columns)),
        )
        for host in hosts
        for command in commands
        if any((column, host, command) in places for column in columns)
    ]
    return ProtocolMatrix(columns=tuple(columns), rows=tuple(rows))


def heading(series: Series) -> str:
    if series.target.abilities.is_yardstick:
        return FTP
    if series.label:
        return wording.plain(series.label)
    if series.change is not None:
        return wording.plain(f"{series.change.name} = {series.change.value}")
    return protocol_name(series)


def protocol_name(series: Series) -> str:
    protocol = series.target.abilities
    return FTP if protocol.is_yardstick else wording.plain(protocol.label)


def sides_of(groups: Sequence[Sequence[Series]]) -> list[Sides]:
    """Each group against the first of its host and command; two groups against each other."""
    if len(groups) == 2:
        return [Sides(base=tuple(groups[0]), other=tuple(groups[1]))]
    first: dict[tuple[str, Command], Sequence[Series]] = {}
    found = []
    for group in groups:
        base = first.setdefault((group[0].target.host, group[0].command), group)
        if base is not group:
            found.append(Sides(base=tuple(base), other=tuple(group)))
    return found


def _of_columns(series: Sequence[Series], names: Mapping[str, str]) -> Mapping[str, str]:
    rows: dict[tuple[str, Command], list[Series]] = {}
    for one in series:
        rows.setdefault((one.target.host, one.command), []).append(one)
    short = dict(names)
    for (host, command), row in rows.items():
        labels = [set(names[one.id].casefold().split()) for one in row if names[one.id] != FTP]
        shared = set.intersection(*labels) if len(labels) > 1 else set()
        own = {command.value, host.casefold(), host.casefold().partition(".")[0], *shared}
        for one in row:
            kept = [word for word in names[one.id].split() if word.casefold() not in own]
            short[one.id] = " ".join(kept) or protocol_name(one)
    distinct = all(len({short[one.id] for one in row}) == len({names[one.id] for one in row}) for row in rows.values())
    return short if len(rows) > 1 and distinct and len({*short.values()}) < len({*names.values()}) else names


def _cells(row: Sequence[Series | None], columns: Sequence[str]) -> Iterator[_MatrixCell | None]:
    ftp = next((mean(one.rates()) for one, column in zip(row, columns, strict=True) if one and column == FTP), None)
    for one, column in zip(row, columns, strict=True):
        rates = one.rates() if one else []
        average = mean(rates)
        percent = 100 * average / ftp if average is not None and ftp and column != FTP else None
        yield _MatrixCell(one, average, half_width(rates), percent) if one else None
