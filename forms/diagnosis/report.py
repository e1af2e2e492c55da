"""The form of a diagnosis and its JSON document, and those of two diagnoses compared.

A diagnosis measures stages, in each of which rules look for complaints: findings of what users wait for.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from forms import layout, report, wording
from forms.audit import report as audit_report
from forms.comparison.blame_report import with_blame
from forms.diagnosis import summary as diagnosis_summary
from forms.diagnosis.figures import Figure, figures
from forms.diagnosis.rules import complaints
from forms.findings import report as findings_report
from forms.findings.finding import Finding
from storage import isolation, looks, records
from storage.json_reader import named

SCHEMA = "sharebench/diagnosis/1"
COMPARISON_SCHEMA = "sharebench/diagnosis-comparison/1"
BUSY = 1.5
"""Load per processor from which times are doubtful."""
STAGE_NAMES = {
    looks.StageName.SETTINGS: "the server's settings",
    looks.StageName.CONNECT: "the first connect",
    looks.StageName.DISTANCE: "the distance",
    looks.StageName.SMALL_FILES: "many small files",
    looks.StageName.FOLDERS: "large folders",
    looks.StageName.PROTECTION: "signing and encryption",
    looks.StageName.LONG_RUN: "a long run",
    looks.StageName.CARDS: "several connections",
}


def diagnosis_document(diagnosis: looks.Diagnosis) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        **named(diagnosis, "id", "created_at", "status", "error", "label", "note", "question"),
        **looks.recording_of(diagnosis).content,
        "audit": diagnosis.audit and audit_report.audit_document(diagnosis.audit),
        "answer": diagnosis_answer(diagnosis).text,
        "findings": [complaint_document(complaint) for complaint in complaints(diagnosis)],
        "figures": [figure.to_json() for figure in figures(diagnosis)],
    }


def complaint_document(complaint: Finding) -> dict[str, Any]:
    """A finding with the keys of ``sharebench/findings/1``."""
    document = {name: value for name, value in findings_report.finding_document(complaint).items() if name != "series"}
    return document | {
        "cost": complaint.cost,
        "certainty": complaint.sure,
        "setting": complaint.setting or None,
    }


def diagnosis_answer(diagnosis: looks.Diagnosis) -> layout.Toned:
    """The costliest thing that is wrong; or that nothing is, or nothing was measured."""
    findings = complaints(diagnosis)
    wrong = [finding for finding in findings if finding.is_wrong]
    if wrong:
        costliest = wrong[0]
        sign = findings_report.SIGNS[costliest.severity]
        more = f" {len(wrong) - 1} more below." if len(wrong) > 1 else ""
        return layout.Toned(f"{sign} {costliest.title}.{more}", sign.tone)

    complete = [stage for stage in diagnosis.stages if stage.status is records.SeriesStatus.COMPLETE]
    if not complete:
        reason = f": {wording.plain(diagnosis.error)}" if diagnosis.error else ""
        return layout.Toned(f"Nothing was measured{reason}.", layout.Tone.CAUTION)

    notes = f" {wording.count(len(findings), 'thing')} worth knowing below." if findings else ""
    are_all_complete = len(complete) == len(diagnosis.planned)
    return layout.Toned(
        f"✓ No reason for complaints found in {wording.count(len(complete), 'stage')}.{notes}",
        layout.Tone.GOOD if are_all_complete else layout.Tone.CAUTION,
    )


def diagnosis_report(diagnosis: looks.Diagnosis) -> report.Report:
    answer = diagnosis_answer(diagnosis)
    measured = {stage.name for stage in diagnosis.stages}
    missing = [STAGE_NAMES[name] for name in diagnosis.planned if name not in measured]
    not_measured = [
        (
            "Not measured",
            f"{STAGE_NAMES[stage.name]}: {wording.plain(stage.error or stage.status)}",
            layout.Tone.CAUTION,
        )
        for stage in diagnosis.stages
        if stage.status is not records.SeriesStatus.COMPLETE
    ]

    return report.Report(
        form="diagnosis",
        title=f"Diagnosis of {wording.plain(records.format_target(diagnosis.target, login=False, escaped=False))}",
        name="Diagnosis",
        fields=report.fields_of(
            report.answer_field(answer.text, answer.tone),
            ("Share", wording.plain(records.format_target(diagnosis.target, escaped=False))),
            ("Folder", diagnosis.folder and f"{wording.plain(diagnosis.folder)}, read only"),
            ("Settings", audit_report.audit_answer(diagnosis.audit) if diagnosis.audit else ""),
            *not_measured,
            ("Busy", _busy_text(diagnosis), layout.Tone.CAUTION),
            ("Not measured yet", wording.listed(missing) if missing else "", layout.Tone.CAUTION),
        ),
        tables=tuple(_tables(diagnosis)),
        document=partial(diagnosis_document, diagnosis),
    )


def _busy_text(diagnosis: looks.Diagnosis) -> str:
    """That this machine had too much to do for its times to be right; empty where it had not."""
    loads = [stage.number("machine.load_per_processor") or 0.0 for stage in diagnosis.stages]
    highest = max(loads, default=0.0)
    if highest < BUSY:
        return ""

    return f"this machine: up to {highest:.1f} processes wait for each processor, so times may be too long here"


def _tables(diagnosis: looks.Diagnosis) -> Iterator[report.Table]:
    findings = complaints(diagnosis)
    wrong = [finding for finding in findings if finding.is_wrong]
    notes = [finding for finding in findings if not finding.is_wrong]
    if wrong:
        yield findings_report.findings_table(wrong, "What is wrong, the costliest first")
    if notes:
        yield findings_report.findings_table(notes, "Worth knowing")

    measured = figures(diagnosis)
    # Copies have a table of their own, put and get beside each other.
    keys_of_copies = set(chain.from_iterable(map(_keys_of, diagnosis_summary.patterns())))
    others = [figure for figure in measured if figure.key not in keys_of_copies]
    if others:
        rows = [
            report.row_of(figure.name, figure.text, figure.range_text, STAGE_NAMES[figure.stage]) for figure in others
        ]
        columns = report.columns_of("Measured", "Value", "95 % interval", "About")
        yield report.Table(columns=columns, rows=tuple(rows), caption="Measured")

    yield from _copies_table(measured)


def _keys_of(pattern: diagnosis_summary.CopyPattern) -> tuple[str, str]:
    return f"{pattern.key}_put", f"{pattern.key}_get"


def _copies_table(measured: Sequence[Figure]) -> Iterator[report.Table]:
    """How fast small files are copied as several programs do it."""
    texts = {figure.key: figure.text for figure in measured}
    rows = []
    for pattern in diagnosis_summary.patterns():
        rates = [texts.get(key, "") for key in _keys_of(pattern)]
        if any(rates):
            requests = f"{len(pattern.put)}, {len(pattern.get)}"
            rows.append(report.row_of(pattern.name, *rates, requests, pattern.source))
    if rows:
        columns = report.columns_of("Copied as by", "Put", "Get", "Requests", "Pattern after")
        caption = "Small files a second, not verified against the programs"
        yield report.Table(columns=columns, rows=tuple(rows), caption=caption)


def diagnosis_comparison(base: looks.Diagnosis, other: looks.Diagnosis) -> report.Report:
    """Which findings are new or gone, and the figures side by side."""
    base_complaints = _complaints_only_in(base, other)
    new_complaints = _complaints_only_in(other, base)
    answer = "The same findings."
    if new_complaints or base_complaints:
        answer = f"{wording.count(len(new_complaints), 'finding')} new, {len(base_complaints)} gone."

    comparison = report.Report(
        form="diagnosis comparison",
        title="Two diagnoses compared",
        name="Comparison",
        fields=report.fields_of(
            report.answer_field(answer),
            ("Base", f"{records.with_zone(base.created_at)}: {diagnosis_answer(base).text}"),
            ("Other", f"{records.with_zone(other.created_at)}: {diagnosis_answer(other).text}"),
        ),
        tables=(
            *report.changes_table(
                [(finding.title, finding.evidence) for finding in base_complaints],
                [
                    (finding.title, finding.evidence, findings_report.SIGNS[finding.severity].tone)
                    for finding in new_complaints
                ],
            ),
            *_figures_side_by_side(base, other),
        ),
        document=partial(_comparison_document, base, other),
    )
    return with_blame(comparison, _profile_rounds(base), _profile_rounds(other))


def _comparison_document(base: looks.Diagnosis, other: looks.Diagnosis) -> dict[str, Any]:
    return {
        "schema": COMPARISON_SCHEMA,
        "base": base.id,
        "other": other.id,
        "gone": [complaint_document(finding) for finding in _complaints_only_in(base, other)],
        "new": [complaint_document(finding) for finding in _complaints_only_in(other, base)],
        "figures": {
            "base": [figure.to_json() for figure in _figures_by_key(base).values()],
            "other": [figure.to_json() for figure in _figures_by_key(other).values()],
        },
    }


def _figures_by_key(diagnosis: looks.Diagnosis) -> dict[str, Figure]:
    return {figure.key: figure for figure in figures(diagnosis)}


def _figures_side_by_side(base: looks.Diagnosis, other: looks.Diagnosis) -> Iterator[report.Table]:
    base_figures = _figures_by_key(base)
    other_figures = _figures_by_key(other)
    named_figures = other_figures | base_figures
    rows = []
    for key in dict.fromkeys([*base_figures, *other_figures]):
        of_base = base_figures.get(key)
        of_other = other_figures.get(key)
        rows.append(
            report.row_of(named_figures[key].name, of_base.text if of_base else "", of_other.text if of_other else "")
        )
    if rows:
        yield report.Table(columns=report.columns_of("Measured", "Base", "Other"), rows=tuple(rows), caption="Measured")


def _profile_rounds(diagnosis: looks.Diagnosis) -> list[dict[str, isolation.ProfileCounter]]:
    """What smbd counted while small files were copied."""
    stage = diagnosis.stage(looks.StageName.SMALL_FILES)
    return isolation.profile_rounds(stage.facts if stage else {})


def _complaints_only_in(diagnosis: looks.Diagnosis, other: looks.Diagnosis) -> list[Finding]:
    keys_of_other = {complaint.key for complaint in complaints(other)}
    return [complaint for complaint in complaints(diagnosis) if complaint.key not in keys_of_other]
