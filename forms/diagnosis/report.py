"""The form of a diagnosis.

A diagnosis measures stages, in each of which rules look for complaints: findings of what users wait for.
"""

from collections.abc import Iterator
from functools import partial

from forms import layout, report, wording
from forms.audit import report as audit_report
from forms.diagnosis import summary as diagnosis_summary
from forms.diagnosis.answer_since import answer_since
from forms.diagnosis.document import diagnosis_document
from forms.diagnosis.explained_complaint import ExplainedComplaint
from forms.diagnosis.next_act import advised_act, advised_command
from forms.diagnosis.stage_names import STAGE_NAMES
from forms.diagnosis.tables import diagnosis_tables
from forms.findings.finding import NextAct
from forms.series.imitation import imitation_fields
from forms.who.busiest import busiest_text
from storage import looks, records


def diagnosis_report(
    diagnosis: looks.Diagnosis,
    before: looks.Diagnosis | None = None,
    explained: ExplainedComplaint | None = None,
) -> report.Report:
    """``before`` is an earlier diagnosis of the same share, which the answer is held against.

    ``explained`` is what an audit between both found to fit the earlier one.
    """
    answer = answer_since(diagnosis, before, explained)
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
        tables=tuple(diagnosis_tables(diagnosis, before)),
        advice=tuple(_advice(diagnosis, before)),
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
        f" {diagnosis_summary.BUSY_LOAD:g}. What is marked ✓ or ! is certain all the same, though not by how much; what"
        " is marked ? needs a quieter client: end that work, or measure from another machine with `sharebench diagnose"
        " --from HOST`."
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


def _advice(diagnosis: looks.Diagnosis, before: looks.Diagnosis | None) -> Iterator[str]:
    """The command that comes next."""
    command = advised_command(diagnosis, before)
    if not command:
        return
    advised = advised_act(diagnosis, before)
    if advised is not None and advised.act is NextAct.ASK:
        yield (
            "Next: run the commands under “For who administers the server” there, or send them to who can. With the"
            f" output of testparm in a file, `{command}` judges it here; with ssh, `sharebench audit TARGET"
            " --server-ssh [USER@]HOST` reads all of it."
        )
        return
    yield f"Next: {wording.plain(command)}"
