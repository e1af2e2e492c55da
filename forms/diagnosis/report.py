"""Diagnoses on paper and as JSON, alone or two side by side."""

from collections.abc import Iterator, Sequence
from typing import Any

from forms import wording
from forms.audit.report import audit_answer, audit_document
from forms.comparison.blame import with_blame
from forms.diagnosis.figures import figures
from forms.diagnosis.rules import complaints
from forms.diagnosis.summary import patterns
from forms.findings.finding import Finding
from forms.findings.report import SIGNS, finding_document, findings_table
from forms.layout import Tone, Toned
from forms.report import Report, Table, changes_table, columns_of, fields_of, row_of
from forms.wording import plain
from storage.isolation import profile_rounds
from storage.json_reader import named
from storage.looks import Diagnosis, StageName, recording_of
from storage.records import SeriesStatus, format_target, with_zone

SCHEMA = "sharebench/diagnosis/1"
COMPARISON_SCHEMA = "sharebench/diagnosis-comparison/1"
BUSY = 1.5
"""Load per processor from which times are doubtful."""
STAGE_NAMES = {
    StageName.SETTINGS: "the server's settings",
    StageName.CONNECT: "the first connect",
    StageName.DISTANCE: "the distance",
    StageName.SMALL_FILES: "many small files",
    StageName.FOLDERS: "large folders",
    StageName.PROTECTION: "signing and encryption",
    StageName.LONG_RUN: "a long run",
    StageName.CARDS: "several connections",
}


def diagnosis_document(diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        **named(diagnosis, "id", "created_at", "status", "error", "label", "note", "question"),
        **recording_of(diagnosis).content,
        "audit": diagnosis.audit and audit_document(diagnosis.audit),
        "answer": diagnosis_answer(diagnosis).text,
        "findings": [complaint_document(one) for one in complaints(diagnosis)],
        "figures": [one.to_json() for one in figures(diagnosis)],
    }


def complaint_document(complaint: Finding) -> dict[str, Any]:
    """A finding with the keys of ``sharebench/findings/1``."""
    found = {name: value for name, value in finding_document(complaint).items() if name != "series"}
    return {**found, "cost": complaint.cost, "certainty": complaint.sure, "setting": complaint.setting or None}


def diagnosis_answer(diagnosis: Diagnosis) -> Toned:
    found = complaints(diagnosis)
    wrong = [one for one in found if one.is_wrong]
    done = [stage for stage in diagnosis.stages if stage.status is SeriesStatus.COMPLETE]
    if wrong:
        first = wrong[0]
        more = f" {len(wrong) - 1} more below." if len(wrong) > 1 else ""
        return Toned(f"{SIGNS[first.severity]} {first.title}.{more}", SIGNS[first.severity].tone)
    if not done:
        return Toned(f"Nothing was measured{f': {plain(diagnosis.error)}' if diagnosis.error else ''}.", Tone.CAUTION)
    known = f" {wording.count(len(found), 'thing')} worth knowing below." if found else ""
    return Toned(
        f"✓ No reason for complaints found in {wording.count(len(done), 'stage')}.{known}",
        Tone.GOOD if len(done) == len(diagnosis.planned) else Tone.CAUTION,
    )


def diagnosis_report(diagnosis: Diagnosis) -> Report:
    answer, caution = diagnosis_answer(diagnosis), Tone.CAUTION
    ended = [one for one in diagnosis.stages if one.status is not SeriesStatus.COMPLETE]
    busiest = max((stage.number("machine.load_per_processor") or 0.0 for stage in diagnosis.stages), default=0.0)
    busy = f"this machine: up to {busiest:.1f} processes wait for each processor, so times may be too long here"
    missing = [STAGE_NAMES[name] for name in diagnosis.planned if name not in {one.name for one in diagnosis.stages}]
    return Report(
        form="diagnosis",
        title=f"Diagnosis of {plain(format_target(diagnosis.target, login=False, escaped=False))}",
        name="Diagnosis",
        fields=fields_of(
            ("Answer", answer.text, answer.tone),
            ("Share", plain(format_target(diagnosis.target, escaped=False))),
            ("Folder", diagnosis.folder and f"{plain(diagnosis.folder)}, read only"),
            ("Settings", audit_answer(diagnosis.audit) if diagnosis.audit else ""),
            *(("Not measured", f"{STAGE_NAMES[one.name]}: {plain(one.error or one.status)}", caution) for one in ended),
            ("Busy", busy if busiest >= BUSY else "", caution),
            ("Not measured yet", wording.listed(missing) if missing else "", caution),
        ),
        tables=tuple(_tables(diagnosis)),
        document=lambda: diagnosis_document(diagnosis),
    )


def _tables(diagnosis: Diagnosis) -> Iterator[Table]:
    found, measured = complaints(diagnosis), figures(diagnosis)
    for caption, wrong in (("What is wrong, the costliest first", True), ("Worth knowing", False)):
        if of_these := [one for one in found if one.is_wrong is wrong]:
            yield findings_table(of_these, caption)
    rates = {one.key: one.text for one in measured}
    copied = [(one, [f"{one.key}_{command}" for command in ("put", "get")]) for one in patterns()]
    apart = {key for _, keys in copied for key in keys}
    if others := [one for one in measured if one.key not in apart]:
        columns = columns_of("Measured", "Value", "95 % interval", "About")
        rows = tuple(row_of(one.name, one.text, one.range_text, STAGE_NAMES[one.stage]) for one in others)
        yield Table(columns=columns, rows=rows, caption="Measured")
    rows = tuple(
        row_of(one.name, *(rates.get(key, "") for key in keys), f"{len(one.put)}, {len(one.get)}", one.source)
        for one, keys in copied
        if rates.keys() & keys
    )
    if rows:
        columns = columns_of("Copied as by", "Put", "Get", "Requests", "Pattern after")
        yield Table(columns=columns, rows=rows, caption="Small files a second, not verified against the programs")


def diagnosis_comparison(base: Diagnosis, other: Diagnosis) -> Report:
    before, after = ({one.key: one for one in figures(each)} for each in (base, other))
    gone, new = _only_in(base, other), _only_in(other, base)
    pairs = ((before.get(key), after.get(key)) for key in dict.fromkeys([*before, *after]))
    rows = tuple(
        row_of(next(one.name for one in pair if one), *(one.text if one else "" for one in pair)) for pair in pairs
    )
    changed = f"{wording.count(len(new), 'finding')} new, {len(gone)} gone." if new or gone else "The same findings."
    tables = [Table(columns=columns_of("Measured", "Base", "Other"), rows=rows, caption="Measured")] if rows else []
    report = Report(
        form="diagnosis comparison",
        title="Two diagnoses compared",
        name="Comparison",
        fields=fields_of(
            ("Answer", changed),
            *(
                (name, f"{with_zone(one.created_at)}: {diagnosis_answer(one).text}")
                for name, one in (("Base", base), ("Other", other))
            ),
        ),
        tables=(
            *changes_table(
                [(one.title, one.evidence) for one in gone],
                [(one.title, one.evidence, SIGNS[one.severity].tone) for one in new],
            ),
            *tables,
        ),
        document=lambda: {
            "schema": COMPARISON_SCHEMA,
            "base": base.id,
            "other": other.id,
            "gone": [complaint_document(one) for one in gone],
            "new": [complaint_document(one) for one in new],
            "figures": {name: [one.to_json() for one in found.values()]
                        for name, found in (("base", before), ("other", after))},
        },
    )  # fmt: skip
    stages = (one.stage(StageName.SMALL_FILES) for one in (base, other))
    return with_blame(report, *(profile_rounds(stage.facts if stage else {}) for stage in stages))


def _only_in(one: Diagnosis, other: Diagnosis) -> Sequence[Finding]:
    known = {each.key for each in complaints(other)}
    return [each for each in complaints(one) if each.key not in known]
