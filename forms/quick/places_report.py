"""Quick tests of one target from several machines, on paper and as JSON."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from forms import layout, report, wording
from forms.findings import legs, places
from forms.quick import answer, line_names
from forms.quick.limits import LineLimit
from forms.quick.places import QuickPlace, QuickPlaces
from forms.quick.summary import LineFigures
from storage.quick.records import ACCESSES, Access
from storage.records import Command, Target, format_target

SCHEMA = "sharebench/quick-places/1"


def quick_places_report(summary: QuickPlaces, target: Target) -> report.Report:
    text = places_answer(summary)
    return report.Report(
        form="quick places",
        title=f"Quick test from {wording.count(len(summary.places), 'machine')}",
        name="Places",
        fields=report.fields_of(
            report.answer_field(text),
            ("Target", wording.plain(format_target(target, escaped=False))),
            *((place.host, wording.plain(place.error), layout.Tone.BAD) for place in summary.places if place.error),
        ),
        tables=tuple(_tables(summary)),
        advice=tuple(_advice(summary)),
        document=partial(quick_places_document, summary, target, text),
    )


def places_answer(summary: QuickPlaces) -> str:
    """Which machine is slow, at which lines, and what limits it there; or that none is shown to be."""
    measured = summary.measured
    fastest = summary.fastest
    if fastest is None:
        return "No machine measured anything."
    if len(measured) == 1 and fastest.quick is not None:
        return f"Measured from {fastest.host} alone. {answer.quick_answer(fastest.quick).text}"

    if not summary.slow:
        alike = f"No machine is shown to be slower than another{_range_text(measured)}."
        return " ".join([alike, *_shared_limit_texts(measured)])

    slowest, *others = summary.slow
    sentences = [f"From {slowest.host} it is slow: {_slow_text(summary, slowest, fastest)}."]
    for place in others:
        names = line_names.names_of(summary.slower_figures(place), place.figures)
        sentences.append(f"From {place.host} it is slower than from {fastest.host}, too, at {names}.")
    return " ".join(sentences)


def _slow_text(summary: QuickPlaces, place: QuickPlace, fastest: QuickPlace) -> str:
    """``its link is full at SEQ1M (SEQ1M Q8T1 read 1.196 MB/s, from fast 118.0 MB/s); …``, a part for each leg."""
    lines_by_leg: dict[legs.Leg | None, list[LineFigures]] = {}
    for figures in summary.slower_figures(place):
        lines_by_leg.setdefault(place.leg_of(figures), []).append(figures)

    parts = []
    for leg, lines in lines_by_leg.items():
        limit = legs.LEG_TEXTS[leg] if leg is not None else "it is not known what limits it"
        names = line_names.names_of(lines, place.figures)
        shown_name = lines[0].line.quoted_name
        rates = _rates_text(lines[0], fastest)
        if names != shown_name:
            rates = f"{shown_name} {rates}"
        parts.append(f"{limit} at {names} ({rates})")
    return "; ".join(parts)


def _rates_text(figures: LineFigures, fastest: QuickPlace) -> str:
    """``1.196 MB/s, from fast 118.0 MB/s``."""
    rate = wording.rate(figures.bytes_per_second)
    base = fastest.figures_of(figures.line.quoted_name)
    return rate if base is None else f"{rate}, from {fastest.host} {wording.rate(base.bytes_per_second)}"


def _range_text(measured: Sequence[QuickPlace]) -> str:
    """``: SEQ1M Q8T1 read 117.2 MB/s to 118.0 MB/s``, of the first line that all measured; empty without one."""
    for figures in measured[0].figures:
        name = figures.line.quoted_name
        of_all = [place.figures_of(name) for place in measured]
        rates = [of_place.bytes_per_second for of_place in of_all if of_place is not None]
        if len(rates) == len(measured):
            return f": {name} {wording.rate(min(rates))} to {wording.rate(max(rates))}"
    return ""


def _shared_limit_texts(measured: Sequence[QuickPlace]) -> Iterator[str]:
    """What limits lines from each machine alike: the server, which all of them share; nothing where that is not so."""
    first = measured[0]
    shared_lines = [figures for figures in first.figures if _is_server_limit_of_all(figures, measured)]
    if shared_lines and first.quick is not None:
        limit = answer.limit_name(LineLimit.SERVER, first.quick)
        names = line_names.names_of(shared_lines, first.figures)
        yield f"From each of them {limit} limits {names}."


def _is_server_limit_of_all(figures: LineFigures, measured: Sequence[QuickPlace]) -> bool:
    of_all = [place.figures_of(figures.line.quoted_name) for place in measured]
    return all(of_place is not None and of_place.limit is LineLimit.SERVER for of_place in of_all)


# The tables


def _tables(summary: QuickPlaces) -> Iterator[report.Table]:
    yield _path_table(summary)
    if summary.measured:
        yield _rates_table(summary, "Read", Command.GET)
        yield _rates_table(summary, "Write", Command.PUT)
        yield _limits_table(summary)


def _path_table(summary: QuickPlaces) -> report.Table:
    columns = report.columns_of(
        "From",
        ("Round trip (ms)", report.ReportKind.MILLISECONDS),
        ("Link (bits/sec)", report.ReportKind.WHOLE),
        ("% of link, at most", report.ReportKind.PERCENT),
        "",
    )

    rows = []
    for place in summary.places:
        round_trip = place.round_trip_seconds
        milliseconds = 1000 * round_trip if round_trip is not None else None
        state = "" if place.figures else "not measured"
        rows.append(report.row_of(place.host, milliseconds, place.link_bits_per_second, place.percent_of_link, state))
    return report.Table(columns=columns, rows=tuple(rows))


def _rates_table(summary: QuickPlaces, verb: str, command: Command) -> report.Table:
    rows = []
    for place in summary.measured:
        slower = summary.slower_figures(place)
        cells = []
        for access in ACCESSES:
            figures = place.figures_of_access(access, command)
            cells.append(_rate_cell(figures, is_slower=figures in slower))
        rows.append(report.row_of(place.host, *cells))

    caption = f"{verb}, MB/s"
    if summary.slow and summary.fastest is not None:
        caption += (
            f" ({layout.Sign.SLOWER} slower than from {summary.fastest.host} by more than equal quick tests differ)"
        )
    return report.Table(columns=_columns(report.ReportKind.DECIMAL), rows=tuple(rows), caption=caption)


def _columns(kind: report.ReportKind) -> tuple[report.Column, ...]:
    return report.columns_of("From", *((access.quoted_name, kind) for access in ACCESSES))


def _rate_cell(figures: LineFigures | None, *, is_slower: bool) -> str | None:
    if figures is None:
        return None
    rate = places.megabytes_text(figures.bytes_per_second)
    return f"{layout.Sign.SLOWER} {rate}" if is_slower else rate


def _limits_table(summary: QuickPlaces) -> report.Table:
    rows = []
    for place in summary.measured:
        rows.append(report.row_of(place.host, *(_limit_cell(place, access) for access in ACCESSES)))

    all_figures = [figures for place in summary.measured for figures in place.figures]
    caption = "Limited by (reads / writes, where these differ"
    if any(figures.is_limit_doubtful for figures in all_figures):
        caption += "; ?: the three runs do not agree"
    return report.Table(columns=_columns(report.ReportKind.TEXT), rows=tuple(rows), caption=f"{caption})")


def _limit_cell(place: QuickPlace, access: Access) -> str:
    """``link``, or ``link / server`` of reads and writes."""
    doubt_by_limit: dict[str, bool] = {}
    for command in (Command.GET, Command.PUT):
        figures = place.figures_of_access(access, command)
        if figures is not None and figures.limit is not None:
            was_doubtful = doubt_by_limit.get(figures.limit.value, False)
            doubt_by_limit[figures.limit.value] = was_doubtful or figures.is_limit_doubtful
    return " / ".join(f"{limit}?" if is_doubtful else limit for limit, is_doubtful in doubt_by_limit.items())


def _advice(summary: QuickPlaces) -> Iterator[str]:
    return places.show_each({place.host: place.quick.id for place in summary.places if place.quick is not None})


# The document


def quick_places_document(summary: QuickPlaces, target: Target, text: str) -> dict[str, Any]:
    slowest = next(iter(summary.slow), None)
    return places.places_document(
        SCHEMA,
        target,
        text,
        [_place_document(summary, place) for place in summary.places],
        slow_host=slowest.host if slowest is not None else None,
        fastest_host=summary.fastest.host if summary.fastest is not None else None,
    )


def _place_document(summary: QuickPlaces, place: QuickPlace) -> dict[str, Any]:
    """What was not measured is null."""
    quick = place.quick
    return {
        "from": place.host,
        "id": quick.id if quick is not None else None,
        "status": quick.status.value if quick is not None else None,
        "error": place.error or None,
        "round_trip_seconds": place.round_trip_seconds,
        "link_bits_per_second": place.link_bits_per_second,
        "percent_of_link": place.percent_of_link,
        "lines": [_line_document(summary, place, figures) for figures in place.figures],
    }


def _line_document(summary: QuickPlaces, place: QuickPlace, figures: LineFigures) -> dict[str, Any]:
    """A line as in a quick test, beside that of the fastest machine: null for that one itself."""
    leg = place.leg_of(figures)
    comparison = summary.comparisons.get(place.host)
    pairs = comparison.pairs if comparison is not None else ()
    decided = next((pair.decision for pair in pairs if pair.name == figures.line.quoted_name), None)
    low, high = figures.interval or (None, None)
    return {
        "name": figures.line.name,
        "bytes_per_second": figures.bytes_per_second,
        "low_bytes_per_second": low,
        "high_bytes_per_second": high,
        "operations_per_second": figures.operations_per_second,
        "request_seconds": figures.request_seconds,
        "percent_of_link": figures.percent_of_link,
        "limit": figures.limit.value if figures.limit is not None else None,
        "leg": leg.value if leg is not None else None,
        "verdict": decided.verdict.value if decided is not None else None,
        "change_percent": decided.change_percent if decided is not None else None,
    }
