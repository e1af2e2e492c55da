"""Comparisons as text for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forms import layout, wording
from forms.comparison.summary import ComparisonRow, ComparisonSummary

WIDTH = 80
_NAME = 16
_SIDE = 31


def comparison_text(form: ComparisonSummary) -> str:
    """The comparison form: both series side by side, the verdict in words, what differs, what to keep in mind."""
    lines = [
        "Comparison",
        "",
        *_row("", "base", "other", " "),
        *(line for row in form.rows if row.base or row.other for line in _of(row)),
    ]
    if form.differences:
        lines += ["", "What else differs"]
        lines += [line for row in form.differences for line in _of(row)]
    lines += ["", *_wrapped(f"[{form.comparison.sign}] {form.comparison.sentence}")]
    for remark in form.remarks:
        lines += _wrapped(f"  ! {remark}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _of(row: ComparisonRow) -> Iterator[str]:
    return _row(row.name, row.base, row.other, "≠" if row.differs else " ")


def _row(name: str, base: str, other: str, mark: str) -> Iterator[str]:
    """One row on as many lines as its widest cell needs."""
    columns = [layout.wrap(name, _NAME), layout.wrap(base, _SIDE - 1), layout.wrap(other, _SIDE - 1)]
    for index in range(max(map(len, columns))):
        left, middle, right = (lines[index] if index < len(lines) else "" for lines in columns)
        yield f"{layout.pad(left, _NAME)} {mark if index == 0 else ' '} {layout.pad(middle, _SIDE - 1)} {right}"


def _wrapped(text: str) -> list[str]:
    return layout.hanging(text, WIDTH)


def verdict_lines(forms: Sequence[ComparisonSummary]) -> str:
    """One line or two a comparison, for several at once: sign, both names, the sentence."""
    lines: list[str] = []
    for form in forms:
        comparison = form.comparison
        lines += _wrapped(
            f"[{comparison.sign}] {comparison.other_name} against {comparison.base_name}"
            f" ({form.other.series.command}): {comparison.sentence}"
        )
        for remark in form.remarks:
            lines += _wrapped(f"  ! {wording.plain(remark)}")
    return "\n".join(lines) + "\n"
