"""The first cell of a run, as people write it: ``3``, ``Run 3``, ``2*``, ``3 (cold)``, ``W1``, ``Warm-up``."""

import re
from typing import NamedTuple

from storage.records import Phase

MOST_DIGITS = 9
"""Of the number of a run; none that a form has is longer."""

_WARM_UP = r"w(?:arm[\s_-]?(?:ing[\s_-]?)?up)?|wu"
_NUMBERED_WORD = (
    r"(?:run|test|trial|pass|measurement|iteration|no|nr|n°|nº|№"
    r"|lauf|durchlauf|messung|versuch|essai|mesure|passage|prueba|teste|prova|próba|körning|прогон|тест)(?![a-z])"
)

_NUMBERED = re.compile(
    rf"""
    [(\[]?
    (?:{_NUMBERED_WORD}[\s.:_-]*)*
    (?P<warm_up>{_WARM_UP})?
    [\s_-]*
    (?:{_NUMBERED_WORD}[\s.:_-]*)?
    \#?\s*
    (?P<number>\d+)(?!\d)
    (?:[.,]0+(?!\d))?        # 1.0, as a spreadsheet shows a number
    (?P<mark>(?![.,:-]\d|/\d+/|\s*%).*)
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""A run with its number. Not a date or a time of the day (``10:30``), and not a share (``95 % interval``)."""

_WARM_UP_ALONE = re.compile(rf"(?P<warm_up>{_WARM_UP})(?P<mark>(?!\w).*)", re.IGNORECASE | re.DOTALL)
_WARM_UP_MARK = re.compile(r"warm[\s_-]?(?:ing[\s_-]?)?up(?: run)?", re.IGNORECASE)
_REJECTED_MARK = re.compile(
    r"[\u0335\u0336]|\b(?:reject|discard|exclud|ignor|invalid|not counted|fail|abort"
    r"|ungültig|verworfen|nicht gewertet|gestrichen|abgebrochen|fehlgeschlagen"
    r"|rejeté|exclu|non valide|échou|échec|annul|inválid|descartad|anulad|nieważn|ogiltig|недействит)",
    re.IGNORECASE,
)
"""Begins a word that leaves a run out, or strikes it through.

That it was slow or unusual leaves it in, for the user to decide.
"""

_REJECTED_ALONE = re.compile(rf"(?:{_REJECTED_MARK.pattern})\w*[.!]?", re.IGNORECASE)
"""A remark that says no more than that."""

_NAME_OF_SEVERAL = re.compile(
    r"""
    (?:st|nd|rd|th)?[\s.-]*(?:percentile|perzentil|quantil|quartil|centile|pct\b).*
    | (?:x|er|of\s+\d+|runs?|läufe|times)?[\s.:(-]*
      (?:averag|avg|ø|mean\b|median|min(?:imum)?\b|max(?:imum)?\b|deviation|std|total\b|sum\b
      |mittel|durchschnitt|summe|moyenne|médiane|écart|średni).*
    | (?:[+&]|\.\.+|…|to\b|bis\b)\s*\d+(?:\s*[+&]\s*\d+)*
    | (?:[kmgt]i?b(?:it|yte)?s?|[kmgt]bps|gbe|bytes?|bits?|ms|sec|seconds)\b.*
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""What makes another row of a number: ``3 runs average``, ``90th percentile``, ``1+2``, ``10 Gbit/s``."""

_BEFORE_MARKS = " \t.:,;)]-\N{EN DASH}—"
"""What ends a number, or stands between it and its mark: ``3.``, ``(3)``, ``3 - cold``."""
_BRACKETED = re.compile(r"[(\[](.*)[)\]]", re.DOTALL)


class RunName(NamedTuple):
    """What the first cell of a run says."""

    phase: Phase
    number: int | None
    """None for a warm-up run without a number."""
    mark: str
    """What stands beside the number: ``*``, ``cold``; empty for nothing."""

    @property
    def leaves_out(self) -> bool:
        """Whether the mark says that the run does not count."""
        return bool(_REJECTED_MARK.search(self.mark))


def leaves_out(remark: str) -> bool:
    """Whether a remark says of a run that it does not count, and nothing else."""
    return _REJECTED_ALONE.fullmatch(remark.strip()) is not None


def run_name_in(text: str) -> RunName | None:
    """The run that a first cell names; None where it names none."""
    text = text.strip()
    if text.isdecimal():
        return RunName(Phase.MEASURED, _number_of(text), "")

    match = _NUMBERED.fullmatch(text)
    number = _number_of(match["number"]) if match else None
    match = match or _WARM_UP_ALONE.fullmatch(text)
    if match is None:
        return None

    mark = match["mark"].lstrip(_BEFORE_MARKS).rstrip()
    bracketed = _BRACKETED.fullmatch(mark)
    mark = bracketed[1].strip() if bracketed else mark
    # The dots of 1..3 and the hyphen of 3-average stand before marks, too.
    if _NAME_OF_SEVERAL.fullmatch(mark) or _NAME_OF_SEVERAL.fullmatch(match["mark"].strip()):
        return None
    is_warm_up = match["warm_up"] is not None
    if _WARM_UP_MARK.fullmatch(mark):
        is_warm_up = True
        mark = ""
    return RunName(Phase.WARM_UP if is_warm_up else Phase.MEASURED, number, mark)


def _number_of(digits: str) -> int:
    """The number of a run; 0, which no run has, for one of more digits than any."""
    return int(digits) if len(digits) <= MOST_DIGITS else 0
