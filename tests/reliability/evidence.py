"""The evidence campaign: each number of a document of each kind is changed alone, and the document signed again.
Verifying it must refuse it, or name that number as one that nothing in the file gives.
"""

from __future__ import annotations

import copy
import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.evidence.file import CHANGED, UNCHANGED, Verified, sign, verify
from app.recording.kind import kind_of
from forms.series.document import series_document
from storage.notebook import Notebook
from tests.builders import every_field, full_series
from tests.forms.golden_files import FOLDER
from tests.recordings import MAKERS
from tests.reliability.figures import Clock, Figures, Share
from tests.servers.process import require

_GOLDEN = ("run_form", "isolation")
_IN_TESTS_ALONE = "weighing"
Place = tuple[str | int, ...]


def documents() -> dict[str, Any]:
    """By name, documents of every kind that can be signed."""
    named = {name: json.loads((FOLDER / f"{name}.json").read_bytes()) for name in _GOLDEN}
    for kind, make in MAKERS.items():
        if kind != _IN_TESTS_ALONE:
            named[kind] = _document_of(make)
    for series in (full_series(), every_field()):
        named[f"series {series.id}"] = _plain(series_document(series))
    return named


def _plain(document: Any) -> Any:
    return json.loads(json.dumps(document))


def _document_of(make: Callable[[Notebook], str]) -> Any:
    with tempfile.TemporaryDirectory() as folder, Notebook(Path(folder) / "notebook.db") as notebook:
        head = notebook.recording(make(notebook))
        return _plain(kind_of(head).form(notebook, head).document())


def new_key(folder: Path) -> Path:
    require("ssh-keygen", root=False)
    key = folder / "key"
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "campaign", "-f", str(key)]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return key


def numbers_of(value: Any, place: Place = ()) -> Iterator[Place]:
    """Where its numbers stand."""
    if isinstance(value, dict | list):
        for name, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers_of(member, (*place, name))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place


def name_of(place: Place) -> str:
    joined = ".".join("[]" if isinstance(part, int) else part for part in place)
    return joined.replace(".[]", "[]")


@dataclass(frozen=True)
class NumberChange:
    name: str
    carry_out: Callable[[float], float]


CHANGES = (
    NumberChange("one more", lambda number: number + 1),
    NumberChange(
        "a millionth more", lambda number: number + 1 if isinstance(number, int) else number * 1.000001 or 1e-6
    ),
    NumberChange("twice as much", lambda number: 2 * number or 7),
)


def changed(document: Any, place: Place, change: NumberChange) -> Any:
    result = copy.deepcopy(document)
    *outer, name = place
    holder = result
    for part in outer:
        holder = holder[part]
    holder[name] = change.carry_out(holder[name])
    return result


def is_named(name: str, verified: Verified) -> bool:
    """Whether the answer names that number, or what holds it, as not checked."""
    believed = [one.removesuffix(" of some") for names in verified.believed.values() for one in names]
    said = re.split(r": |, |; |\.\n?$", verified.text.replace(" of some", ""))
    return any(one in said and (name == one or name.startswith((f"{one}.", f"{one}[]"))) for one in believed)


def campaign(seconds: float, share: Share | None = None, *, step: int = 1) -> Figures:
    """``step``: of the cases only every so many."""
    share = share or Share()
    clock = Clock(seconds)
    every = documents()
    cases = [
        (name, place, change)
        for name, document in every.items()
        for place in numbers_of(document)
        for change in CHANGES
    ]
    with tempfile.TemporaryDirectory() as folder:
        key = new_key(Path(folder))
        for name, document in every.items():
            told = verify(sign([document], key), [key.with_suffix(".pub")])
            if told.exit_code != UNCHANGED:
                share.figures.losses.append(f"{name} as it is: {told.text}")
        for name, place, change in share.of_mine(cases)[::step]:
            case = f"{name}: {'.'.join(map(str, place))}: {change.name}"
            if share.has(case):
                continue
            if clock.is_over():
                break
            with share.carrying_out(case) as figures:
                told = verify(sign([changed(every[name], place, change)], key), [key.with_suffix(".pub")])
                figures.counts["numbers changed"] += 1
                if told.exit_code == CHANGED:
                    figures.counts["refused"] += 1
                elif is_named(name_of(place), told):
                    figures.counts["named as not checked"] += 1
                else:
                    figures.losses.append(f"{case}: {told.text}")
    return share.figures
