"""Diagnoses of one share from several machines, on paper and as JSON."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from forms import layout, report, wording
from forms.diagnosis import figures
from forms.diagnosis.answer import diagnosis_answer
from forms.diagnosis.document import complaint_document
from forms.diagnosis.figure_changes import FigurePair
from forms.diagnosis.places import READ, READING, SAVED, DiagnosisPlace, DiagnosisPlaces
from forms.findings import legs, places
from storage.records import Target, format_target

SCHEMA = "sharebench/diagnosis-places/1"

_READING_NAME = "reading a large file"
_SMALL_FILES_NAMES = {SAVED: "saving small files", READ: "reading small files"}
"""What these figures are called beside those of other machines."""
_MOST_TOLD = 3
"""As many figures that are slower are told of the slowest machine."""


def diagnosis_places_report(summary: DiagnosisPlaces, target: Target) -> report.Report:
    text = places_answer(summary)
    findings_by_host = {place.host: place.findings for place in summary.places}
    place_fields = []
    for place in summary.places:
        state = _state_of(place)
        place_fields.append((place.host, state.text, state.tone))

    return report.Report(
        form="diagnosis places",
        title=f"Diagnosis from {wording.count(len(summary.places), 'machine')}",
        name="Places",
        fields=report.fields_of(
            report.answer_field(text),
            ("Share", wording.plain(format_target(target, escaped=False))),
            *place_fields,
        ),
        tables=(*_tables(summary), *legs.findings_of_places(findings_by_host)),
        advice=tuple(_advice(summary)),
        document=partial(diagnosis_places_document, summary, target, text),
    )


def _state_of(place: DiagnosisPlace) -> layout.Toned:
    """What was found from there, and why it is not all."""
    error = wording.plain(place.error)
    if place.diagnosis is None or not place.figures:
        return layout.Toned(error or "nothing was measured", layout.Tone.BAD)
    answer = diagnosis_answer(place.diagnosis, is_short=True)
    return layout.Toned(f"{answer.text} Not measured to the end: {error}", layout.Tone.BAD) if error else answer


def places_answer(summary: DiagnosisPlaces) -> str:
    """Which machine is slow, at what, and why; or that none is shown to be; then what is wrong from all of them."""
    fastest = summary.fastest
    if fastest is None:
        return "No machine measured anything."
    if len(summary.measured) == 1:
        return f"Measured from {fastest.host} alone."

    sentences = list(_slow_sentences(summary, fastest))
    if not sentences:
        sentences.append("No machine is shown to be slower than another.")
    if summary.too_busy:
        hosts = wording.listed([place.host for place in summary.too_busy])
        sentences.append(f"Whether it is slower from {hosts} is not certain: other programs were at work there.")
    if summary.shared_findings:
        title = summary.shared_findings[0].title
        sentences.append(f"From each of them: {title[:1].lower()}{title[1:]}.")
    elif not any(place.wrong for place in summary.measured):
        sentences.append("No reason for complaints was found from any.")
    return " ".join(sentences)


def _slow_sentences(summary: DiagnosisPlaces, fastest: DiagnosisPlace) -> Iterator[str]:
    """Of the slowest machine with what limits it; of others at what they are slower."""
    for number, place in enumerate(summary.slow):
        pairs = summary.told_pairs(place)[:_MOST_TOLD]
        if number == 0:
            yield f"From {place.host} it is slow: {_slow_text(summary, place, pairs, fastest)}."
        else:
            names = wording.listed([_name_of(pair) for pair in pairs])
            yield f"From {place.host} it is slower than from {fastest.host}, too: {names}."


def _slow_text(
    summary: DiagnosisPlaces, place: DiagnosisPlace, pairs: Sequence[FigurePair], fastest: DiagnosisPlace
) -> str:
    """``its link is full (reading a large file 1.196 MB/s, from fast 118.0 MB/s); …``, a part for each leg."""
    texts_by_leg: dict[legs.Leg | None, list[str]] = {}
    for pair in pairs:
        slow_value = _value_text(pair.other)
        text = f"{_name_of(pair)} {slow_value}, from {fastest.host} {_value_text(pair.base)}"
        texts_by_leg.setdefault(summary.leg_of(place, pair), []).append(text)

    parts = []
    for leg, texts in texts_by_leg.items():
        limit = legs.LEG_TEXTS[leg] if leg is not None else "what limits it is not known"
        parts.append(f"{limit} ({'; '.join(texts)})")
    return "; ".join(parts)


def _name_of(pair: FigurePair) -> str:
    """As in the middle of a sentence."""
    figure = pair.known_figure
    if figure.key in READING:
        return _READING_NAME
    name = _SMALL_FILES_NAMES.get(figure.key, figure.name)
    return f"{name[:1].lower()}{name[1:]}"


def _value_text(figure: figures.Figure | None) -> str:
    """Small files as how many in a second."""
    if figure is None:
        return wording.ABSENT
    if figure.key in _SMALL_FILES_NAMES and figure.value > 0:
        return figures.value_text(1 / figure.value, figures.Unit.PER_SECOND)
    return figure.text


# The tables


def _tables(summary: DiagnosisPlaces) -> Iterator[report.Table]:
    legend = ""
    if summary.slow and summary.fastest is not None:
        legend = f" ({layout.Sign.SLOWER} slower than from {summary.fastest.host} by more than it varied)"
    yield _large_files_table(summary, f"Large files{legend}")
    if any(place.files_per_second(SAVED) or place.files_per_second(READ) for place in summary.measured):
        yield _small_files_table(summary, f"Small files a second{legend}")


def _large_files_table(summary: DiagnosisPlaces, caption: str) -> report.Table:
    columns = report.columns_of(
        "From",
        ("Round trip (ms)", report.ReportKind.MILLISECONDS),
        ("Read MB/s", report.ReportKind.DECIMAL),
        ("Write MB/s", report.ReportKind.DECIMAL),
        ("% of link", report.ReportKind.PERCENT),
        "Limit",
        ("Findings", report.ReportKind.WHOLE),
    )
    rows = []
    for place in summary.places:
        if not place.figures:
            rows.append(report.row_of(place.host, None, None, None, None, "not measured", None))
            continue

        round_trip = place.round_trip_seconds
        is_read_slower = summary.is_slower_at(place, *READING)
        rows.append(
            report.row_of(
                place.host,
                1000 * round_trip if round_trip is not None else None,
                _with_mark(places.megabytes_text(place.read_bytes_per_second), is_slower=is_read_slower),
                places.megabytes_text(place.written_bytes_per_second),
                place.percent_of_link,
                place.leg.value if place.leg is not None else "",
                len(place.wrong),
            )
        )
    return report.Table(columns=columns, rows=tuple(rows), caption=caption)


def _with_mark(text: str, *, is_slower: bool) -> str:
    return f"{layout.Sign.SLOWER} {text}" if is_slower else text


def _small_files_table(summary: DiagnosisPlaces, caption: str) -> report.Table:
    rows = []
    for place in summary.measured:
        cells = []
        for key in (SAVED, READ):
            per_second = place.files_per_second(key)
            text = f"{per_second:,.0f}" if per_second is not None else ""
            cells.append(_with_mark(text, is_slower=summary.is_slower_at(place, key)))
        rows.append(report.row_of(place.host, *cells))
    columns = report.columns_of("From", ("Saved", report.ReportKind.WHOLE), ("Read", report.ReportKind.WHOLE))
    return report.Table(columns=columns, rows=tuple(rows), caption=caption)


def _advice(summary: DiagnosisPlaces) -> Iterator[str]:
    return places.show_each({place.host: place.diagnosis.id for place in summary.places if place.diagnosis is not None})


# The document


def diagnosis_places_document(summary: DiagnosisPlaces, target: Target, text: str) -> dict[str, Any]:
    slowest = next(iter(summary.slow), None)
    return places.places_document(
        SCHEMA,
        target,
        text,
        [_place_document(summary, place) for place in summary.places],
        slow_host=slowest.host if slowest is not None else None,
        fastest_host=summary.fastest.host if summary.fastest is not None else None,
    )


def _place_document(summary: DiagnosisPlaces, place: DiagnosisPlace) -> dict[str, Any]:
    """What was not measured is null."""
    diagnosis = place.diagnosis
    return {
        "from": place.host,
        "id": diagnosis.id if diagnosis is not None else None,
        "status": diagnosis.status.value if diagnosis is not None else None,
        "error": place.error or None,
        "answer": diagnosis_answer(diagnosis).text if diagnosis is not None else None,
        "round_trip_seconds": place.round_trip_seconds,
        "link_bits_per_second": place.link_bits_per_second,
        "percent_of_link": place.percent_of_link,
        "read_bytes_per_second": place.read_bytes_per_second,
        "write_bytes_per_second": place.written_bytes_per_second,
        "saved_files_per_second": place.files_per_second(SAVED),
        "read_files_per_second": place.files_per_second(READ),
        "limit": place.leg.value if place.leg is not None else None,
        "slower": [_slower_document(summary, place, pair) for pair in summary.slower_pairs(place)],
        "findings": [complaint_document(finding) for finding in place.findings],
    }


def _slower_document(summary: DiagnosisPlaces, place: DiagnosisPlace, pair: FigurePair) -> dict[str, Any]:
    """A figure that is certainly slower there than from the fastest machine."""
    leg = summary.leg_of(place, pair)
    figure = pair.known_figure
    return {
        "stage": figure.stage.value,
        "key": f"{figure.key}_{figure.unit.value}",
        "value": pair.other.value if pair.other is not None else None,
        "fastest_value": pair.base.value if pair.base is not None else None,
        "limit": leg.value if leg is not None else None,
    }
