"""The ladder of an experiment as text for a terminal of 80 columns, and as a JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from forms import wording
from forms.experiments.ladder import Gain, Ladder, Rung
from forms.layout import cut, pad, visible, wrap
from forms.tuning.change_evidence import SettingState
from storage.records import Decision, SeriesStatus

SCHEMA = "sharebench/experiment/1"
WIDTH = 80
_RATE = 13
_INDENT = " " * 5
_NOTHING = "Gained in all: nothing yet, since no change is in force."
_DECISIONS = {Decision.KEPT: "kept", Decision.REVERTED: "put back", None: "undecided"}


def ladder_text(ladder: Ladder) -> str:
    """Rung by rung: the change, its average, the verdict against what it was made from, and what became of it.

    ``|`` marks the way to the settings in force, ``x`` a change that was put back, ``!`` why a figure does not speak
    for its change, ``?`` why it may not.
    """
    lines = wrap(f"Experiment {visible(ladder.name)}: {_measured(ladder)}", WIDTH)
    for rung in ladder.rungs:
        lines += ["", *_of(rung)]
    lines += ["", *_indented("", gain_sentence(ladder), "")]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def change_words(rung: Rung) -> str:
    """What made the rung, such as ``strict sync = no (was Yes)``; ``base`` or ``measured again`` without a change."""
    change = rung.change
    if change is None:
        return "measured again" if rung.base_number is not None else "base"
    before = f" (was {change.previous or 'empty'})" if change.previous is not None else ""
    return wording.plain(f"{change.name} = {change.value or 'empty'}{before}")


def ladder_document(ladder: Ladder) -> dict[str, Any]:
    """The JSON object ``sharebench/experiment/1`` of a ladder; nothing is rounded."""
    return {
        "schema": SCHEMA,
        "experiment": ladder.name,
        "rungs": [_rung_document(rung) for rung in ladder.rungs],
        "gains": [_gain_document(gain) for gain in ladder.gains],
    }


def _gain_document(gain: Gain) -> dict[str, Any]:
    found = gain.comparison
    return {
        "command": gain.command.value,
        "kept_path": [rung.series.id for rung in gain.path],
        "base": gain.path[0].series.id,
        "other": gain.path[-1].series.id,
        "verdict": found.verdict if found else None,
        "change_percent": found.change_percent if found else None,
        "interval_percent": list(found.interval_percent) if found and found.interval_percent else None,
        "p_value": found.p_value if found else None,
    }


def _rung_document(rung: Rung) -> dict[str, Any]:
    found = rung.comparison
    return {
        "number": rung.number,
        "series": rung.series.id,
        "created_at": rung.series.created_at,
        "status": rung.series.status.value,
        "command": rung.series.command.value,
        "base": found.base_id if found else rung.series.base_id,
        "base_number": rung.base_number,
        "change": {**asdict(rung.change), "also_changed": list(rung.change.also_changed)} if rung.change else None,
        "standing": rung.standing.value if rung.standing else None,
        "doubts": list(rung.doubts),
        "average_bytes_per_second": rung.average_bytes_per_second,
        "valid_runs": len(rung.series.measured()),
        "verdict": found.verdict if found else None,
        "change_percent": found.change_percent if found else None,
        "interval_percent": list(found.interval_percent) if found and found.interval_percent else None,
        "p_value": found.p_value if found else None,
        "needed_runs": found.needed_runs if found else None,
        "decision": rung.decision.value if rung.decision else None,
        "on_kept_path": rung.on_kept_path,
    }


def _measured(ladder: Ladder) -> str:
    ways = dict.fromkeys(f"{r.series.command} {wording.place(r.series.target)}" for r in ladder.rungs)
    return f"{len(ladder.rungs)} series, {wording.listed(list(ways))}"


def _of(rung: Rung) -> Iterator[str]:
    mark = "|" if rung.on_kept_path else "x" if rung.decision is Decision.REVERTED else " "
    room = WIDTH - len(_INDENT) - _RATE - 1
    words = cut(change_words(rung), room)
    average = pad(wording.rate(rung.average_bytes_per_second), _RATE, right=True)
    yield f"{mark}{rung.number:>3} {pad(words, room)} {average}"
    yield f"{_INDENT}series {rung.series.id}{_state(rung)}"
    if rung.comparison is not None:
        yield from _indented(_INDENT, f"[{rung.comparison.sign}] from {rung.base_number}: {rung.comparison.sentence}")
    elif rung.base_number is None and rung.change is not None:
        yield f"{_INDENT}[?] the series that it was made from is not in this experiment"
    if rung.proof:
        yield from _indented(_INDENT, f"proven: {rung.proof}")
    label = f"{rung.standing}: " if rung.standing else ""
    for index, doubt in enumerate(rung.doubts):
        yield from _indented(_INDENT, f"{rung.mark} {label if index == 0 else ''}{doubt}")


def _state(rung: Rung) -> str:
    undecided = rung.change is None and rung.decision is None
    said = [] if undecided else [_DECISIONS[rung.decision]]
    if rung.series.status is not SeriesStatus.COMPLETE:
        said.insert(0, rung.series.status.value)
    return "".join(f", {word}" for word in said)


def gain_sentence(ladder: Ladder) -> str:
    """What the changes in force gained together, in a sentence for each direction."""
    return " ".join(_gained(gain, several=len(ladder.gains) > 1) for gain in ladder.gains) or _NOTHING


def _gained(gain: Gain, *, several: bool) -> str:
    changes = [(rung.change, rung.standing) for rung in gain.counted if rung.change]
    way = f" ({gain.command})" if several else ""
    found = gain.comparison
    if found is None or not changes:
        return _NOTHING.replace(":", f"{way}:")
    names = wording.listed(
        [
            f"{change.name} = {change.value or 'empty'}{'' if worth is SettingState.PROVEN else f' ({worth})'}"
            for change, worth in changes
        ]
    )
    way = f"{way}, {gain.path[0].number} to {gain.path[-1].number}, by {names}"
    return wording.plain(f"Gained in all{way}: [{found.sign}] {found.sentence}")


def _indented(indent: str, text: str, hanging: str = "  ") -> Iterator[str]:
    first, *rest = wrap(wording.plain(text), WIDTH - len(indent) - len(hanging))
    yield indent + first
    for line in rest:
        yield indent + hanging + line
