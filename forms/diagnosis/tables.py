"""The tables of a diagnosis: what was measured, what was copied, questions for the admin, and the references."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from forms import report
from forms.diagnosis import admin_request
from forms.diagnosis import summary as diagnosis_summary
from forms.diagnosis.chosen_complaint import chosen_complaint, finding_of_complaint
from forms.diagnosis.findings_since import findings_since
from forms.diagnosis.judgement import JudgedFigure, judged_figures
from forms.diagnosis.next_act import advised_act
from forms.diagnosis.stage_names import stage_title
from forms.findings import report as findings_report
from forms.findings.finding import Finding, NextAct
from storage import looks

_MEASURED_CAPTION = "Measured (✓ as it should be, ! not so, ? could not be judged, blank: nothing to compare with)"


def diagnosis_tables(diagnosis: looks.Diagnosis, before: looks.Diagnosis | None = None) -> Iterator[report.Table]:
    """``before`` is an earlier diagnosis of the same share."""
    findings = findings_since(diagnosis, before)
    wrong = [finding for finding in findings if finding.is_wrong]
    notes = [finding for finding in findings if not finding.is_wrong]
    if wrong:
        listed_findings = _without_the_answer(diagnosis, wrong)
        yield findings_report.findings_table(listed_findings, "What is wrong, the costliest first")
    if notes:
        yield findings_report.findings_table(notes, "Worth knowing")

    yield from _questions_table(diagnosis, before)

    measured = judged_figures(diagnosis, findings)
    # Copies have a table of their own, put and get beside each other.
    keys_of_copies = set(chain.from_iterable(map(_keys_of, diagnosis_summary.patterns())))
    others = [judged for judged in measured if judged.figure.key not in keys_of_copies]
    if others:
        yield _figures_table(others)
    yield from _copies_table(measured)
    yield from _sources_table(others)


def _without_the_answer(diagnosis: looks.Diagnosis, findings: Sequence[Finding]) -> list[Finding]:
    """The findings, where the one that stands above as the answer is named by what is to blame alone."""
    name = chosen_complaint(diagnosis)
    answer = finding_of_complaint(diagnosis, name) if name is not None else None
    listed_findings = []
    for finding in findings:
        is_told_above = answer is not None and finding.key == answer.key and bool(finding.cause)
        cause = f"{finding.cause[:1].upper()}{finding.cause[1:]}"
        listed_findings.append(replace(finding, title=f"{cause} is slow") if is_told_above else finding)
    return listed_findings


def _questions_table(diagnosis: looks.Diagnosis, before: looks.Diagnosis | None) -> Iterator[report.Table]:
    """What to ask of who administers the server, where that is what comes next."""
    advised = advised_act(diagnosis, before)
    if advised is None or advised.act is not NextAct.ASK:
        return

    asked = admin_request.questions(chosen_complaint(diagnosis), diagnosis.target.share)
    rows = [report.row_of(question.command, _look_for_text(question)) for question in asked]
    yield report.Table(
        columns=report.columns_of("To be run on the server, where it only reads", "Look for"),
        rows=tuple(rows),
        caption="For who administers the server",
        sentences=True,
    )


def _look_for_text(question: admin_request.Question) -> str:
    if not question.placeholder:
        return question.look_for
    return f"{question.look_for} ({question.placeholder})"


def _figures_table(measured: Sequence[JudgedFigure]) -> report.Table:
    """The figures, stage by stage, each with its sign and what it is held against."""
    rows: list[report.Row] = []
    stage_above: looks.StageName | None = None
    for judged in measured:
        figure = judged.figure
        if figure.stage is not stage_above:
            stage_above = figure.stage
            rows.append(report.heading_row(stage_title(figure.stage)))

        reference_text = _reference_text(judged)
        rows.append(
            report.row_of(
                judged.sign,
                figure.name,
                figure.text,
                figure.range_text,
                reference_text,
                tone=judged.tone,
            )
        )
    columns = report.columns_of("Sign", "Measured", "Value", "95 % interval", "Reference")
    return report.Table(columns=columns, rows=tuple(rows), caption=_MEASURED_CAPTION)


def _reference_text(judged: JudgedFigure) -> str:
    """What it is held against, or why there is nothing, and what is to be said of it."""
    reference = judged.reference.text if judged.reference is not None else judged.without_reference
    return "; ".join(filter(None, (reference, judged.why)))


def _keys_of(pattern: diagnosis_summary.CopyPattern) -> tuple[str, str]:
    return f"{pattern.key}_put", f"{pattern.key}_get"


def _copies_table(measured: Sequence[JudgedFigure]) -> Iterator[report.Table]:
    """How fast small files are copied as several programs do it."""
    texts = {judged.figure.key: _copied_text(judged) for judged in measured}
    rows = []
    for pattern in diagnosis_summary.patterns():
        rates = [texts.get(key, "") for key in _keys_of(pattern)]
        if any(rates):
            requests = f"{len(pattern.put)} put, {len(pattern.get)} get"
            rows.append(report.row_of(pattern.name, *rates, requests, pattern.source))
    if rows:
        columns = (
            *report.columns_of("Copied as by", "Saved", "Read"),
            report.Column(heading="Requests a file", kind=report.ReportKind.TEXT, is_detail=True),
            report.Column(heading="Requests after", kind=report.ReportKind.TEXT, is_detail=True),
        )
        caption = (
            "Small files a second, estimated from the requests of the programs, which ask for more than open, write or"
            " read, and close"
        )
        yield report.Table(columns=columns, rows=tuple(rows), caption=caption)


def _copied_text(judged: JudgedFigure) -> str:
    """``✓ 70/s (66/s to 74/s), usual 75/s``."""
    text = f"{judged.sign} {judged.figure.text}".lstrip()
    if judged.figure.variation is not None:
        text += f" ({judged.figure.range_text})"
    return text if judged.reference is None else f"{text}, usual {judged.reference.text}"


def _sources_table(measured: Sequence[JudgedFigure]) -> Iterator[report.Table]:
    """Where the references are from."""
    names_by_source: dict[str, list[str]] = {}
    for judged in measured:
        if judged.reference is not None:
            names_by_source.setdefault(judged.reference.source, []).append(judged.figure.name)

    rows = [report.row_of(source, "; ".join(names)) for source, names in names_by_source.items()]
    if rows:
        yield report.Table(
            columns=report.columns_of("Source", "Of"),
            rows=tuple(rows),
            caption="Where the references are from",
            sentences=True,
            is_detail=True,
        )
