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
from forms.diagnosis import admin_request
from forms.diagnosis import summary as diagnosis_summary
from forms.diagnosis.chosen_complaint import chosen_complaint, complaint_answer, finding_of_complaint
from forms.diagnosis.figures import Figure, figures
from forms.diagnosis.judgement import JudgedFigure, judged_figures
from forms.diagnosis.next_act import advised_act, advised_command
from forms.diagnosis.rules import complaints
from forms.findings import report as findings_report
from forms.findings.finding import Finding, NextAct, Severity
from forms.series.imitation import imitation_fields
from forms.who.busiest import busiest_text
from storage import isolation, looks, records
from storage.json_reader import named

SCHEMA = "sharebench/diagnosis/1"
_MEASURED_CAPTION = "Measured (✓ fine, ! not so, ? could not be judged, blank: nothing to compare with)"
COMPARISON_SCHEMA = "sharebench/diagnosis-comparison/1"
STAGE_NAMES = {
    looks.StageName.SETTINGS: "the server's settings",
    looks.StageName.CONNECT: "the first connect",
    looks.StageName.DISTANCE: "the distance",
    looks.StageName.SMALL_FILES: "many small files",
    looks.StageName.WINDOW: "opening a window",
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
        "next_step": _next_step_document(diagnosis),
        "findings": [complaint_document(complaint) for complaint in complaints(diagnosis)],
        "figures": [judged.to_json() for judged in judged_figures(diagnosis)],
    }


def _next_step_document(diagnosis: looks.Diagnosis) -> dict[str, str] | None:
    advised = advised_act(diagnosis)
    if advised is None:
        return None
    return {"act": advised.act.value, "command": advised_command(diagnosis)}


def complaint_document(complaint: Finding) -> dict[str, Any]:
    """A finding with the keys of ``sharebench/findings/1``."""
    document = {name: value for name, value in findings_report.finding_document(complaint).items() if name != "series"}
    return document | {
        "cost": complaint.cost,
        "certainty": complaint.sure,
        "setting": complaint.setting or None,
    }


def diagnosis_answer(diagnosis: looks.Diagnosis) -> layout.Toned:
    """The verdict on the complaint that was named first; else the costliest thing that is wrong, or that nothing is."""
    findings = complaints(diagnosis)
    wrong = [finding for finding in findings if finding.is_wrong]
    complete = [stage for stage in diagnosis.stages if stage.status is records.SeriesStatus.COMPLETE]
    if not complete and not wrong:
        reason = f": {wording.plain(diagnosis.error)}" if diagnosis.error else ""
        return layout.Toned(f"Nothing was measured{reason}.", layout.Tone.CAUTION)

    name = chosen_complaint(diagnosis)
    if name is not None:
        return _answer_to_complaint(diagnosis, name, wrong)
    if wrong:
        sign = findings_report.SIGNS[wrong[0].severity]
        return layout.Toned(f"{sign} {_costliest_text(wrong)}", sign.tone)
    return _answer_without_complaints(diagnosis, findings)


def _costliest_text(findings: Sequence[Finding]) -> str:
    """The first of them, and the number of the others."""
    more = f" {len(findings) - 1} more below." if len(findings) > 1 else ""
    return f"{findings[0].title}.{more}"


def _answer_to_complaint(diagnosis: looks.Diagnosis, name: looks.StageName, wrong: Sequence[Finding]) -> layout.Toned:
    """The verdict on that complaint, and then what else is wrong."""
    answer = complaint_answer(diagnosis, name).toned
    finding = finding_of_complaint(diagnosis, name)
    others = [other for other in wrong if finding is None or other.key != finding.key]
    if not others:
        return answer

    tone = layout.Tone.CAUTION if answer.tone is layout.Tone.GOOD else answer.tone
    return layout.Toned(f"{answer.text} Something else is wrong: {_costliest_text(others)}", tone)


def _answer_without_complaints(diagnosis: looks.Diagnosis, findings: Sequence[Finding]) -> layout.Toned:
    """That nothing is wrong in the stages that were judged; ✓ only where that is all of them."""
    unexplained = [judged for judged in judged_figures(diagnosis) if judged.severity is Severity.WARNING]
    if unexplained:
        names = wording.listed([f"{judged.figure.name} ({judged.figure.text})" for judged in unexplained])
        return layout.Toned(
            f"! {names}: far from what is usual here; nothing that was measured says why.", layout.Tone.CAUTION
        )

    judged_names = [name for name in diagnosis.planned if is_judged(diagnosis, name)]
    other_names = [STAGE_NAMES[name] for name in diagnosis.planned if name not in judged_names]
    stages = wording.count(len(judged_names), "stage")
    if other_names:
        stages = f"{len(judged_names)} of {wording.count(len(diagnosis.planned), 'stage')}"
    unjudged = f"; not judged: {wording.listed(other_names)}" if other_names else ""

    advice = next((finding for finding in findings if finding.setting or finding.next_act is not None), None)
    if advice is not None:
        return layout.Toned(
            f"{layout.Sign.ADVICE} {advice.title}. No other reason for complaints found in {stages}{unjudged}.",
            layout.Tone.CAUTION if other_names else layout.Tone.PLAIN,
        )

    notes = f" {wording.count(len(findings), 'thing')} worth knowing below." if findings else ""
    if other_names:
        return layout.Toned(f"? No reason for complaints found in {stages}{unjudged}.{notes}", layout.Tone.CAUTION)
    return layout.Toned(f"✓ No reason for complaints found in {stages}.{notes}", layout.Tone.GOOD)


def is_judged(diagnosis: looks.Diagnosis, name: looks.StageName) -> bool:
    """Whether the stage was measured to its end, and saw what it is to judge."""
    if diagnosis.stage(name) is None:
        return False
    if name is not looks.StageName.SETTINGS or diagnosis.audit is None:
        return True
    # Without the server's files an audit knows only what the server tells any client.
    return diagnosis.audit.scope is not looks.AuditScope.SESSION


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
            *imitation_fields(diagnosis.settings.like, diagnosis.client),
            ("Folder", diagnosis.folder and f"{wording.plain(diagnosis.folder)}, read only"),
            ("Settings", audit_report.audit_answer(diagnosis.audit) if diagnosis.audit else ""),
            *not_measured,
            ("Busy", _busy_text(diagnosis), layout.Tone.CAUTION),
            ("Busy server", _busy_server_text(diagnosis), layout.Tone.CAUTION),
            ("Not measured yet", wording.listed(missing) if missing else "", layout.Tone.CAUTION),
        ),
        tables=tuple(_tables(diagnosis)),
        advice=tuple(_advice(diagnosis)),
        document=partial(diagnosis_document, diagnosis),
    )


def _busy_text(diagnosis: looks.Diagnosis) -> str:
    """That this client had too much to do for its times to be right, and what helps; empty where it had not."""
    loads = [stage.number("machine.load_per_processor") or 0.0 for stage in diagnosis.stages]
    highest = max(loads, default=0.0)
    if highest < diagnosis_summary.BUSY_LOAD:
        return ""

    busiest = diagnosis_summary.busiest_program_text(diagnosis)
    most = f", most of all with {busiest}" if busiest else ""
    return (
        f"this client{most}: up to {highest:.1f} processes waited for each processor, and times are right below"
        f" {diagnosis_summary.BUSY_LOAD:g}. What is marked ? needs a quieter client: end that work, or measure from"
        " another machine with `sharebench diagnose --from HOST`. Signs of ✓ and ! hold."
    )


def _busy_server_text(diagnosis: looks.Diagnosis) -> str:
    """How busy the server was, and whose session did most; empty where it was not, or nobody could see it."""
    stage = diagnosis.stage(looks.StageName.SETTINGS)
    busy_percent = stage.number("cpu.busy_percent_before") if stage else None
    if stage is None or busy_percent is None:
        return ""

    busiest = busiest_text(stage.facts)
    most = f"; the busiest session was {busiest}" if busiest else ""
    return f"its processors were {wording.percent(busy_percent)} busy{most}"


def _tables(diagnosis: looks.Diagnosis) -> Iterator[report.Table]:
    findings = complaints(diagnosis)
    wrong = [finding for finding in findings if finding.is_wrong]
    notes = [finding for finding in findings if not finding.is_wrong]
    if wrong:
        yield findings_report.findings_table(wrong, "What is wrong, the costliest first")
    if notes:
        yield findings_report.findings_table(notes, "Worth knowing")

    yield from _questions_table(diagnosis)

    measured = judged_figures(diagnosis)
    # Copies have a table of their own, put and get beside each other.
    keys_of_copies = set(chain.from_iterable(map(_keys_of, diagnosis_summary.patterns())))
    others = [judged for judged in measured if judged.figure.key not in keys_of_copies]
    if others:
        yield _figures_table(others)
    yield from _copies_table(measured)
    yield from _sources_table(others)


def _questions_table(diagnosis: looks.Diagnosis) -> Iterator[report.Table]:
    """What to ask of who administers the server, where that is what comes next."""
    advised = advised_act(diagnosis)
    if advised is None or advised.act is not NextAct.ASK:
        return

    rows = [
        report.row_of(question.command, question.look_for)
        for question in admin_request.questions(chosen_complaint(diagnosis))
    ]
    yield report.Table(
        columns=report.columns_of("To be run on the server, where it only reads", "Look for"),
        rows=tuple(rows),
        caption="For who administers the server",
        sentences=True,
    )


def _figures_table(measured: Sequence[JudgedFigure]) -> report.Table:
    """The figures, stage by stage, each with its sign and what it is held against."""
    rows: list[report.Row] = []
    stage_above: looks.StageName | None = None
    for judged in measured:
        figure = judged.figure
        if figure.stage is not stage_above:
            stage_above = figure.stage
            name = STAGE_NAMES[figure.stage]
            heading = report.Cell(value=f"{name[:1].upper()}{name[1:]}")
            rows.append(report.Row(cells=(heading,), role=report.Role.HEADING))

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
    """What it is held against, and what is to be said of it."""
    reference = judged.reference.text if judged.reference is not None else ""
    return "; ".join(filter(None, (reference, judged.why))) or wording.ABSENT


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
        columns = report.columns_of("Copied as by", "Put", "Get", "Requests a file", "Requests after")
        caption = "Small files a second, beside what is usual on this path; estimated from the requests of the programs"
        yield report.Table(columns=columns, rows=tuple(rows), caption=caption)


def _copied_text(judged: JudgedFigure) -> str:
    """``✓ 70/s, usual 75/s``."""
    text = f"{judged.sign} {judged.figure.text}".lstrip()
    return text if judged.reference is None else f"{text}, usual {judged.reference.text}"


def _sources_table(measured: Sequence[JudgedFigure]) -> Iterator[report.Table]:
    """Where the references are from."""
    names_by_source: dict[str, list[str]] = {}
    for judged in measured:
        if judged.reference is not None:
            names_by_source.setdefault(judged.reference.source, []).append(judged.figure.name)

    rows = [report.row_of(source, ", ".join(names)) for source, names in names_by_source.items()]
    if rows:
        yield report.Table(
            columns=report.columns_of("Source", "Of"),
            rows=tuple(rows),
            caption="Where the references are from",
            sentences=True,
            is_detail=True,
        )


def _advice(diagnosis: looks.Diagnosis) -> Iterator[str]:
    """The command that comes next."""
    command = advised_command(diagnosis)
    if not command:
        return
    advised = advised_act(diagnosis)
    if advised is not None and advised.act is NextAct.ASK:
        yield (
            "Next, without access to the server: send the table above to who administers it. With the output of"
            f" testparm in a file, `{command}` judges it here; with ssh, `sharebench audit TARGET --server-ssh"
            " [USER@]HOST` reads all of it."
        )
        return
    yield f"Next: {wording.plain(command)}"


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
