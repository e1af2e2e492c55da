"""The words for the rungs of a ladder on its screen."""

from __future__ import annotations

from collections.abc import Iterator

from forms.experiments.ladder import Ladder, Rung
from forms.experiments.ladder_text import change_words
from forms.layout import cut, pad
from forms.numbers import signed_percent
from forms.wording import plain, rate
from storage.records import Decision

_NAME = 38


def rung_line(rung: Rung) -> str:
    """A rung in one line: the way it is on, its change, its average, its verdict, what became of it."""
    way = "|" if rung.on_kept_path else "x" if rung.decision is Decision.REVERTED else " "
    found = rung.comparison
    change = "" if found is None or found.change_percent is None else signed_percent(found.change_percent)
    sign = f"[{found.sign}]" if found else "   "
    words = pad(cut(change_words(rung), _NAME), _NAME)
    average = pad(rate(rung.average_bytes_per_second), 11, right=True)
    doubt = f" {rung.mark}" if rung.mark.strip() else ""
    decided = {Decision.KEPT: "kept", Decision.REVERTED: "put back", None: ""}[rung.decision]
    return f"{way}{rung.number:>2} {words} {average} {sign} {pad(change, 8, right=True)} {decided}{doubt}".rstrip()


def rung_words(rung: Rung) -> str:
    """All about a rung."""
    return "\n".join(_rung_words(rung))


def _rung_words(rung: Rung) -> Iterator[str]:
    series = rung.series
    yield f"{change_words(rung)} · series {series.id}" + (f" · {plain(series.label)}" if series.label else "")
    if rung.comparison is not None:
        yield f"[{rung.comparison.sign}] against rung {rung.base_number}: {rung.comparison.sentence}"
    if rung.standing is not None:
        remark = rung.change.remark if rung.change and rung.change.remark and not rung.doubts else ""
        yield f"The change is {rung.standing}.{f' {plain(remark)}' if remark else ''}"
    for doubt in rung.doubts:
        yield f"{rung.mark} {plain(doubt)}"


def gain_line(ladder: Ladder) -> str:
    """What was gained in all."""
    if ladder.gain is None or not ladder.gains[-1].counted:
        return "Gained in all: nothing yet, since no change is in force."
    path = ladder.kept_path
    return f"Gained in all, rung {path[0].number} to {path[-1].number}: [{ladder.gain.sign}] {ladder.gain.sentence}"
