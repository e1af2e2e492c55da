"""Whether puts were flushed, in notebooks and documents of versions that stored nothing about it."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.base.targets import parse_target
from app.evidence import file as evidence
from forms.importers.filled_form import FormDefaults
from forms.series.document import series_document, series_from_document
from storage.notebook import Notebook
from storage.records import ClientFacts, Command, Series, Target, with_flush
from tests.builders import export, read_series, series
from tests.reliability.evidence import new_key
from tests.reliability.old_formats import OLD_FORMATS, old_notebook
from tests.specs import plan_with

LOCAL = Target(protocol="file", path="/mnt/data")
REMOTE = Target(protocol="smb", host="nas", port=445, share="data", path="")
OURS = ClientFacts(name="sharebench", version="0.3.0", block_bytes=1 << 20, in_flight=1)
RATES = (100e6, 101e6, 99e6, 100e6, 100e6)


def put(target: Target, **fields: Any) -> Series:
    return series(RATES, command=Command.PUT, target=target, client=OURS, **fields)


FORMAT_WITH_FLUSHED = 12
"""The first that stores it."""

TREE = put(LOCAL, plan=plan_with(files=3, size_bytes=4096))
OLD = [
    (put(LOCAL), True),
    (put(REMOTE), False),
    (TREE, False),
    (series(RATES, target=LOCAL, client=OURS), False),
    (replace(put(LOCAL), client=ClientFacts(name="by hand")), False),
]


@pytest.mark.varied(number=3)
@pytest.mark.parametrize("number", [number for number in OLD_FORMATS if number < FORMAT_WITH_FLUSHED])
@pytest.mark.parametrize(("old", "flushed"), OLD)
def test_the_migration_marks_what_the_older_versions_flushed(number: int, old: Series, flushed: bool, tmp_path: Path):
    path = tmp_path / "notebook.db"
    old_notebook(path, number)
    plan = json.dumps(old.plan.to_json()) if old.plan else "{}"
    with sqlite3.connect(path) as db:
        ids = [row[0] for row in db.execute("SELECT id FROM series")]
        db.execute(
            'UPDATE series SET command = ?, protocol = ?, client = ?, "plan" = ?',
            (old.command.value, old.target.protocol, old.client.name, plan),
        )
    db.close()
    with Notebook(path) as notebook:
        found = notebook.series(ids[0])
    assert found.flushed is flushed
    assert found.plan is not None
    assert found.plan.settings.flush is flushed


@pytest.mark.parametrize("flushed", [False, True])
def test_it_is_stored_with_the_series(tmp_path: Path, flushed: bool):
    stored = with_flush(put(REMOTE), flushed=flushed)
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add(stored)
        assert notebook.series(stored.id) == stored


def of_old_version(one: Series) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(series_document(one)))
    del document["flushed"]
    del document["plan"]["settings"]["flush"]
    return document


@pytest.mark.parametrize(("old", "flushed"), OLD)
def test_a_document_of_an_older_version_is_read_by_the_rule_of_the_migration(old: Series, flushed: bool):
    found = series_from_document(of_old_version(old))
    assert found.flushed is flushed
    assert found.plan is not None
    assert found.plan.settings.flush is flushed


@pytest.mark.parametrize("target", [LOCAL, REMOTE])
@pytest.mark.parametrize("flushed", [False, True])
def test_a_document_and_a_form_say_it(target: Target, flushed: bool):
    one = with_flush(put(target), flushed=flushed)
    assert series_from_document(json.loads(json.dumps(series_document(one)))).flushed is flushed
    (again,) = read_series(export([one], "csv"), FormDefaults(target_of=parse_target))
    assert again.flushed is flushed


def test_a_get_of_a_document_was_not_flushed():
    document = series_document(series(RATES)) | {"flushed": True}
    assert not series_from_document(json.loads(json.dumps(document))).flushed


@pytest.mark.parametrize(("old", "flushed"), [(put(LOCAL), True), (TREE, False), (put(REMOTE), False)])
def test_a_form_of_an_older_version_is_read_by_the_rule_of_the_migration(old: Series, flushed: bool):
    lines = export([old], "csv").splitlines(keepends=True)
    without = b"".join(line for line in lines if not line.startswith(b"Put timed"))
    assert without != b"".join(lines)
    (found,) = read_series(without, FormDefaults(target_of=parse_target))
    assert found.flushed is flushed


def test_a_form_that_says_neither_yes_nor_no_is_refused():
    damaged = export([put(LOCAL)], "csv").replace(b"flushed=no", b"flushed=perhaps")
    with pytest.raises(ValueError, match="yes or no"):
        read_series(damaged, FormDefaults(target_of=parse_target))


@pytest.mark.parametrize("old", [put(LOCAL), put(REMOTE), TREE])
def test_a_signed_file_of_an_older_version_is_verified(old: Series, tmp_path: Path):
    signed = evidence.sign([of_old_version(old)], new_key(tmp_path))
    assert evidence.verify(signed).exit_code == evidence.UNCHANGED


def test_a_signed_file_that_contradicts_itself_is_found(tmp_path: Path):
    document = series_document(put(LOCAL, plan=plan_with(flush=True)))
    signed = evidence.sign([document], new_key(tmp_path))
    assert evidence.verify(signed).exit_code == evidence.CHANGED
