"""Damaged and impossible files: refused with a reason, or taken and then fit for the notebook and every format."""

import json
import random
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from app.base.errors import UsageError
from app.base.targets import parse_target
from forms.exporters import export_reports
from forms.importers.filled_form import FormDefaults
from forms.series.report import series_report
from forms.series.summary import run_form
from storage.json_reader import DocumentError
from storage.notebook import Notebook
from storage.records import new_series_id
from tests.builders import book_series, export, full_series, read_series

GIVEN = FormDefaults(target_of=parse_target, size_bytes=1000)
ODD: list[Any] = [
    None, True, 0, -1, 1.5, 1e308, 10**30, "", "x", "\x00", "=1", "1999-13-13", [], {}, [1], "get", "valid", "\ud800",
]  # fmt: skip
SCRAPS = ['"', ",", ";", "\n", "\r", "\t", "\0", "x", "9" * 20, "-", "é", "e308", "'"]


@cache
def sound(name: str) -> bytes:
    """A sound document of that format: what is damaged."""
    return export([full_series(), book_series()] if name == "csv" else [full_series()], name)


def damaged_json(chance: random.Random) -> str:
    document = json.loads(sound("json"))
    for _ in range(chance.randint(1, 3)):
        place = document
        while True:
            key = chance.choice(list(place) if isinstance(place, dict) else range(len(place)))
            if isinstance(place[key], dict | list) and place[key] and chance.random() < 0.8:
                place = place[key]
                continue
            if chance.random() < 0.2:
                del place[key]
            else:
                place[key] = chance.choice(ODD)
            break
    return json.dumps(document)


def damaged_csv(chance: random.Random) -> str:
    text = sound("csv").decode("utf-8-sig")
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice(SCRAPS) + text[at + chance.choice((0, 1, 15)) :]
    return text


@pytest.mark.parametrize("damaged", [damaged_json, damaged_csv])
@pytest.mark.long
def test_what_is_taken_can_be_stored_and_written(damaged, tmp_path):
    chance = random.Random(7)
    taken = refused = 0
    with Notebook(tmp_path / "notebook.db") as notebook:
        for _ in range(120):
            try:
                found = read_series(damaged(chance).encode(), GIVEN)
            except (DocumentError, UsageError):
                refused += 1
                continue
            taken += 1
            found = [replace(one, id=new_series_id()) for one in found]
            notebook.add_all(found)
            reports = [series_report(run_form(notebook.series(one.id))) for one in found]
            for name in ("text", "csv", "json", "html"):
                assert export_reports(reports, name)
    assert taken > 10
    assert refused > 10


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seconds": 1e-300}, "too short for a run"),
        ({"seconds": 1e12}, "too long for a run"),
        ({"size_bytes": 10**25}, "too large"),
        ({"reason": "\ud83d"}, "surrogate"),
        ({"seconds": float("inf")}, "Infinity is no number"),
        ({"seconds": float("nan")}, "NaN is no number"),
    ],
)
def test_what_cannot_have_been_measured(change, said):
    document = json.loads(export([full_series()], "json"))
    document["runs"][0].update(change)
    with pytest.raises(DocumentError, match=said):
        read_series(json.dumps(document).encode(), GIVEN)


def test_numbers_without_end():
    text = export([full_series()], "json").decode()
    for digits in ("9" * 5000, "1e999"):
        with pytest.raises(DocumentError, match="too large"):
            read_series(text.replace('"size_bytes": 1073741824', f'"size_bytes": {digits}', 1).encode(), GIVEN)
