"""What of smbd's time two recordings differ by, added to the form of their comparison and to its document.

A call of smbd is *blamed* where it surely took a part of the difference (``blame.py``).
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from forms import report, wording
from forms.comparison.blame import CALL_PREFIX, LEAST_SHARE, Blame, CallChange, Round, blame_calls
from forms.comparison.call_effects import LEVEL, OWN
from forms.layout import Tone

BLAME = "Blame"
"""The name of the field."""

_MOST_NAMED = 3
"""The sentence names no more calls than these, those that are most to blame."""

SHOWN = 15
"""The rows of the table, those that are most to blame first."""


def with_blame(form: report.Report, base: Sequence[Round], other: Sequence[Round]) -> report.Report:
    """The form of a comparison with what smbd's profiles say; unchanged where they say nothing."""
    blame = blame_calls(base, other)
    if blame is None:
        return form

    sentence = blame_sentence(blame)
    field = report.Field(name=BLAME, text=sentence, tone=Tone.CAUTION if blame.blamed else Tone.PLAIN)
    fields = form.fields
    results = form.results
    if blame.blamed:
        # The verdict stays the first thing that is read.
        place = 1 if form.answer is not None else 0
        fields = (*fields[:place], field, *fields[place:])
    else:
        results = (*results, replace(field, is_detail=True))

    blame_document = {**asdict(blame), "sentence": sentence, "change_percent": blame.change_percent, "level": LEVEL}

    def document_with_blame() -> dict[str, Any]:
        return {**form.document(), "blame": blame_document}

    return replace(
        form,
        fields=fields,
        results=results,
        tables=(*form.tables, replace(_calls_table(blame), is_detail=True)),
        document=document_with_blame,
    )


def blame_sentence(blame: Blame) -> str:
    """The answer: ``38 % more time in smbd: 31 of it in openat, 2.1 → 5.3 calls per create.``"""
    if not blame.blamed:
        return "No call of smbd is to blame: calls and their times differ no more than equal recordings do."

    change = blame.change_percent
    parts = []
    for call in blame.blamed[:_MOST_NAMED]:
        percent = 100 * call.blamed_seconds / blame.base_seconds
        amount = f"{abs(percent):.0f} of it" if percent * change > 0 else wording.with_minus(f"{percent:+.0f}")
        parts.append(f"{amount} in {call_name(call)}{_reason(call, blame.per)}")
    direction = "more" if change > 0 else "less"
    sentence = f"{abs(change):.0f} % {direction} time in smbd: {'; '.join(parts)}."
    if blame.sure:
        return sentence
    return f"{sentence} Fewer than three rounds were measured, so there is no interval."


def call_name(call: CallChange) -> str:
    """The name of the call of the operating system: ``openat``."""
    return wording.plain(call.name.removeprefix(CALL_PREFIX))


def _reason(call: CallChange, unit: str) -> str:
    """Whether there are more calls, or longer ones: ``, 2.1 → 5.3 calls per create``."""
    if call.name == OWN:
        return ""
    if abs(call.other_calls - call.base_calls) > LEAST_SHARE * call.base_calls:
        return f", {call.base_calls:.1f} → {call.other_calls:.1f} calls per {unit}"
    before = call.base_seconds / call.base_calls
    after = call.other_seconds / call.other_calls
    return f", {1e6 * before:,.0f} → {1e6 * after:,.0f} µs a call"


def _calls_table(blame: Blame) -> report.Table:
    headings = ["Base, calls", "Other, calls", "Base, µs", "Other, µs", "Change, µs", "To blame, µs", "from", "to"]
    return report.Table(
        columns=report.columns_of("Call", *((heading, report.ReportKind.DECIMAL) for heading in headings)),
        rows=tuple(_call_row(call) for call in blame.calls[:SHOWN]),
        caption=f"smbd's time call by call, for each {blame.per}; those to blame first",
    )


def _call_row(call: CallChange) -> report.Row:
    calls = [None, None] if call.name == OWN else [call.base_calls, call.other_calls]
    microseconds = [1e6 * seconds for seconds in (call.base_seconds, call.other_seconds, call.change_seconds)]
    if not call.blamed_seconds:
        return report.row_of(call_name(call), *calls, *microseconds, None, None, None)
    blamed = [1e6 * seconds for seconds in (call.blamed_seconds, call.low_seconds, call.high_seconds)]
    return report.row_of(call_name(call), *calls, *microseconds, *blamed, tone=Tone.CAUTION)
