"""Computes a document again from what it says was measured, and finds what does not follow or cannot be checked.

A signed file holds such documents: the *stated* one is in the file, the *computed* one is what this version of
sharebench exports of the same runs. What the file alone does not prove is *believed*, and named in the answer.
"""

import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app import __version__
from app.evidence import number_rules
from app.evidence.number_rules import NO_RULES, Document, NumberRules, rules_of
from app.exchange import importing, storing
from app.recording.kind import kind_of
from forms.layout import visible
from forms.load.summary import capacity_of
from storage.load.records import Load
from storage.notebook import Notebook

_TOLERANCE = 1e-9
"""Relative: other versions of Python and of the C library differ in the last digits of a square root or logarithm."""
_EXACT_PLACE = re.compile(
    r"(?:(?:^|.*\.)(?:runs\[\]|failed_attempts\[\]|points\[\]|average)\."
    r"(?:size_bytes|seconds|bytes_per_second|bits_per_second|percent_of_link"
    r"|requests_per_second|read_bytes_per_second|write_bytes_per_second)|.*\.max)"
)
"""Where a number is one division, or an exact sum and a division, which is the same everywhere: a byte more is seen."""
_WORDED = frozenset({"findings", "advice"})
"""Members that other versions fill with other sentences."""
_INDEX = re.compile(r"\[\d+\]")
_MOST_NAME_CHARACTERS = 60
_LATER_MEMBERS = frozenset({"flushed", "flush", "like", "judgement", "reference", "why", "next_step"})
"""Members that older versions did not write; they are computed all the same, since what those versions did is known."""
_NEVER_READ = frozenset({"running", "left_behind", "server_ssh", "smb_conf", "from_host"})
"""Members that lead to a process or a server, and are therefore read from no document."""


class UnlikeError(Exception):
    """The document does not follow from what was measured; the text names the first place."""


def recompute(documents: Sequence[Document], version: str) -> dict[str, tuple[str, ...]]:
    """By kind of recording, the names of the numbers that had to be believed.

    ``version`` is that of the sharebench that wrote the documents. Raises UnlikeError, DocumentError, UsageError.
    """
    believed: dict[str, set[str]] = {}
    checked: dict[str, set[str]] = {}
    folder = tempfile.TemporaryDirectory(prefix="sharebench-")
    with folder, Notebook(Path(folder.name) / "notebook.db") as notebook:
        for document in documents:
            recording = importing.recording_in(document)
            comparison = _Comparison(is_same_version=version == __version__)
            place = comparison.first_difference(document, _computed_again(notebook, recording))
            if place is None and isinstance(recording.record, Load):
                place = _wrong_capacity(recording.record, document)
            if place is not None:
                raise UnlikeError(_unlike_text(place, str(recording.record.id), version))

            numbers = _Numbers()
            numbers.sort(document)
            kind = recording.kind.name
            believed.setdefault(kind, set()).update(comparison.believed, numbers.believed)
            checked.setdefault(kind, set()).update(numbers.checked)
    return {kind: _shortest_names(believed[kind], checked[kind]) for kind in believed}


def _unlike_text(place: str, recording_id: str, version: str) -> str:
    text = f"{visible(place)[:_MOST_NAME_CHARACTERS]} of {visible(recording_id)} is not what its runs give"
    if version == __version__:
        return text
    return f"{text} in sharebench {__version__}; try the version that wrote it, {visible(version)[:20]}"


def _computed_again(notebook: Notebook, recording: importing.ImportedRecording) -> Any:
    """The document that this version makes of the recording."""
    with notebook.snapshot():  # which leaves nothing of it for the next
        storing.store(notebook, [recording], "the file", as_new=False)
        (head,) = notebook.recordings_of([recording.record.id])
        document = kind_of(head).form(notebook, head).document()
        return json.loads(json.dumps(document, allow_nan=False))


def _wrong_capacity(load: Load, document: Document) -> str | None:
    """Which number of a capacity its points do not give; None where all are right, or nobody can compute them."""
    stated = document.get("capacity")
    if not number_rules.is_capacity_of_points({}, document):
        return None
    computed = capacity_of(load)
    for name in ("carried", "not_carried"):
        if (stated or {}).get(name) != getattr(computed, name, None):
            return f"capacity.{name}"
    return None


class _Comparison:
    """Compares a document with what was computed again, and collects the names of what cannot be compared."""

    def __init__(self, *, is_same_version: bool) -> None:
        self._is_same_version = is_same_version
        self.believed: set[str] = set()

    def first_difference(
        self, stated: Any, computed: Any, place: str = "", rules: NumberRules = NO_RULES
    ) -> str | None:
        """The place of the first difference that counts, such as ``runs[0].seconds``; None where there is none.

        ``place`` is where both values stand in their documents, and ``rules`` are those of the document around them.
        """
        if isinstance(stated, dict) and isinstance(computed, dict):
            return self._first_in_object(stated, computed, place, rules_of(stated, rules))
        if isinstance(stated, list) and isinstance(computed, list):
            return self._first_in_array(stated, computed, place, rules)
        if _is_number(stated) and _is_number(computed):
            return None if _is_same_number(stated, computed, place) else place
        if isinstance(stated, str) and isinstance(computed, str):
            # Another version may put it in other words.
            return None if stated == computed or not self._is_same_version else place
        return None if type(stated) is type(computed) and stated == computed else place

    def _first_in_object(self, stated: Document, computed: Document, place: str, rules: NumberRules) -> str | None:
        """The first difference of a member that counts.

        ========== ========== ======================================================
        stated     computed   difference
        ========== ========== ======================================================
        absent     there      if it says something, and older versions wrote it too
        there      absent     always
        there      there      as their values differ
        ========== ========== ======================================================

        A difference counts unless the member cannot be compared; then the member is believed.
        """
        for name in {**stated, **computed}:
            member_place = f"{place}.{name}" if place else name
            if name not in stated:
                is_missing = name not in _LATER_MEMBERS and _says_something(computed[name])
                difference = member_place if is_missing else None
            elif name not in computed:
                difference = member_place
            else:
                difference = self.first_difference(stated[name], computed[name], member_place, rules)

            if difference is None:
                continue
            if self._can_be_compared(name, rules, is_unknown_here=name not in computed):
                return difference
            self.believed.add(_INDEX.sub("[]", member_place))
        return None

    def _first_in_array(self, stated: list[Any], computed: list[Any], place: str, rules: NumberRules) -> str | None:
        if len(stated) != len(computed):
            return place
        for index, (stated_item, computed_item) in enumerate(zip(stated, computed, strict=True)):
            difference = self.first_difference(stated_item, computed_item, f"{place}[{index}]", rules)
            if difference is not None:
                return difference
        return None

    def _can_be_compared(self, name: str, rules: NumberRules, *, is_unknown_here: bool) -> bool:
        """Not what comes from elsewhere; of another version, not what it alone knows or puts in words either."""
        if name in rules.from_elsewhere or name in _NEVER_READ:
            return False
        return self._is_same_version or not (is_unknown_here or name in _WORDED)


class _Numbers:
    """The names of a document's numbers, sorted by whether they are checked; such as ``runs[].seconds``."""

    def __init__(self) -> None:
        self.checked: set[str] = set()
        self.believed: set[str] = set()
        self._conditions: dict[tuple[str, str], number_rules.Condition | None] = {}

    def sort(self, document: Document, place: str = "") -> None:
        """Sort the numbers of a document; ``place`` is where it stands in another, such as ``parts[]``."""
        self._sort_value(document, place, "", parent=document, document=document)

    def _sort_value(
        self, value: Any, place: str, place_in_document: str, *, parent: Document, document: Document
    ) -> None:
        """Sort the numbers in a value: at ``place`` of the outermost document, at ``place_in_document`` of its own."""
        if isinstance(value, dict):
            # A document inside another one has rules of its own.
            if place_in_document and value.get("schema") in number_rules.RULES:
                self.sort(value, place)
                return
            for name, member in value.items():
                member_place = f"{place}.{name}" if place else name
                member_in_document = f"{place_in_document}.{name}" if place_in_document else name
                self._sort_value(member, member_place, member_in_document, parent=value, document=document)
        elif isinstance(value, list):
            for item in value:
                self._sort_value(item, f"{place}[]", f"{place_in_document}[]", parent=parent, document=document)
        elif _is_number(value):
            condition = self._condition_of(document, place_in_document)
            is_checked = condition is not None and condition(parent, document)
            (self.checked if is_checked else self.believed).add(place)

    def _condition_of(self, document: Document, place_in_document: str) -> number_rules.Condition | None:
        """The condition on which such a number is checked; looked up once a name, as a series may have 100,000 runs."""
        key = (str(document.get("schema")), place_in_document)
        if key not in self._conditions:
            self._conditions[key] = rules_of(document, NO_RULES).condition_of(place_in_document)
        return self._conditions[key]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_same_number(stated: float, computed: float, place: str) -> bool:
    if stated == computed:
        return True
    is_exact = _EXACT_PLACE.fullmatch(_INDEX.sub("[]", place)) is not None
    if is_exact or (isinstance(stated, int) and isinstance(computed, int)):
        return False
    return abs(stated - computed) <= _TOLERANCE * max(abs(stated), abs(computed))


def _says_something(value: object) -> bool:
    """Whether leaving the member out would say something else; a version that did not know it leaves it out."""
    return _is_number(value) or bool(value)


def _shortest_names(names: set[str], checked: set[str]) -> tuple[str, ...]:
    shortest = {_shortest_name(name, checked) for name in names}
    return tuple(sorted(visible(name)[:_MOST_NAME_CHARACTERS] for name in shortest))


def _shortest_name(name: str, checked: set[str]) -> str:
    """A shorter name that says as much: ``plan`` for ``plan.runs``, where nothing else of the plan is checked.

    Where the name was checked in some places and believed in others, that is said: ``runs[].seconds of some``.
    """
    if name in checked:
        return f"{name} of some"
    parts = name.split(".")
    for length in range(1, len(parts)):
        outer = ".".join(parts[:length])
        if not any(number_rules.is_at_or_below(other, outer) for other in checked):
            return outer
    return name
