"""push and pull through a real sshd: what one notebook has, the other gets, and nothing that people wrote is lost."""

import json
import platform
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from app import importing
from app.errors import MeasurementError
from storage.json_reader import DocumentError
from storage.notebook import Notebook
from storage.records import Experiment, ExperimentKind, RunStatus, SeriesStatus
from tests.builders import book, one, runs
from tests.command_line import ROOT, Inside
from tests.loads import full_load
from tests.recordings import MAKERS
from tests.reliability.sharing import campaign
from tests.servers.sshd import Sshd

KINDS = ("series", "load", "isolation", "audit", "trial")


@pytest.fixture
def there(through: Sshd, tmp_path: Path) -> Inside:
    """The notebook of the other machine."""
    path = tmp_path / "there.db"
    script = through.path / "sharebench"
    script.write_text(f'#!/bin/sh\ncd "{ROOT}"\nSHAREBENCH_DB={path} exec "{sys.executable}" -m app "$@"\n')
    script.chmod(0o755)
    return Inside(path, None)


def documents(inside: Inside) -> dict[str, object]:
    return {one["id"]: one for one in inside.json("list", "--json")}


@pytest.mark.long
def test_two_notebooks_that_are_changed_meanwhile_end_equal_and_nothing_is_lost():
    figures = campaign(300, rounds=1)
    assert figures.losses == []
    assert figures.counts["merged"] >= 2
    assert figures.counts["recordings"] >= 6


@pytest.mark.long
def test_push_gives_and_pull_takes_recordings_of_every_kind(there: Inside, tmp_path: Path):
    here = Inside(tmp_path / "here.db", None)
    with Notebook(here.db) as notebook:
        made = {MAKERS[kind](notebook) for kind in KINDS}
        notebook.set_baseline("before", f"{1:012x}")
    pushed = here("push", "fileserver")
    assert (pushed.returncode, set(pushed.stdout.split())) == (0, made), pushed.stderr
    assert documents(there) == documents(here)
    assert here("push", "fileserver").stdout == ""
    assert there("note", "before", "from there").returncode == 0
    assert here.json("pull", "fileserver", "--json") == {"new": [], "changed": [f"{1:012x}"], "problems": []}
    assert here.json("show", "before", "--json")["note"] == "from there"
    assert here.json("pull", "fileserver", "--json") == {"new": [], "changed": [], "problems": []}


def test_what_is_resumed_where_it_was_measured_replaces_the_copy(tmp_path: Path):
    first = one(1, (100e6,) * 3, status=SeriesStatus.INTERRUPTED)
    with Notebook(book(tmp_path / "a.db", first)) as mine, Notebook(tmp_path / "b.db") as copy:
        ids, entries = importing.part(mine, [first.id])
        assert (ids, importing.take(copy, entries, "a").new) == ([first.id], [first.id])
        copy.describe(first.id, note="waiting for the rest")
        copy.add(one(2, base_id=first.id))
        mine.add_run(first.id, runs((100e6,) * 4)[-1])
        mine.update(replace(mine.series(first.id), status=SeriesStatus.COMPLETE))
        assert importing.state(mine) != importing.state(copy)
        assert importing.take(copy, importing.part(mine, [first.id])[1], "a").changed == [first.id]
        found = copy.series(first.id)
        assert (len(found.runs), found.status, found.note) == (6, SeriesStatus.COMPLETE, "waiting for the rest")
        assert copy.series(one(2).id).base_id == first.id
        importing.take(mine, importing.part(copy, [first.id, one(2).id])[1], "b")
        assert (mine.series(first.id).imported_at, importing.state(mine)) == (None, importing.state(copy))


def test_an_older_copy_never_replaces_what_was_resumed_here(tmp_path: Path):
    first = one(1, (100e6,) * 3, status=SeriesStatus.INTERRUPTED)
    with Notebook(book(tmp_path / "a.db", first)) as mine, Notebook(tmp_path / "b.db") as copy:
        old = importing.part(mine, [first.id])[1]
        importing.take(copy, old, "a")
        mine.add_run(first.id, runs((100e6,) * 4)[-1])
        importing.take(copy, importing.part(mine, [first.id])[1], "a")
        importing.take(copy, old, "a")
        assert len(copy.series(first.id).runs) == 6


def test_what_is_taken_twice_is_the_same_and_not_changed(tmp_path: Path):
    for kind in MAKERS.keys() - {"weighing"}:
        with Notebook(tmp_path / f"{kind} a.db") as mine, Notebook(tmp_path / f"{kind} b.db") as copy:
            made = [MAKERS[kind](mine)]

            def taken(mine: Notebook = mine, copy: Notebook = copy, made: list[str] = made) -> importing.Taken:
                return importing.take(copy, json.loads(json.dumps(importing.part(mine, made)[1])), "a")

            assert (taken(), taken()) == (importing.Taken(new=made), importing.Taken()), kind
            mine.describe(made[0], note="seen there")
            assert taken() == importing.Taken(changed=made), kind


def test_all_is_asked_for_part_by_part_until_the_other_side_gives_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(importing, "_PART_BYTES", 1)
    asked: list[str] = []
    with Notebook(book(tmp_path / "a.db", one(1), one(2), one(3))) as theirs, Notebook(tmp_path / "b.db") as mine:
        gives = True

        def ask(_host: str, word: str, text: str = "") -> object:
            asked.append(word)
            if word == "state":
                return importing.state(theirs)
            if word == "take":
                return asdict(importing.take(theirs, json.loads(text), "mine"))
            ids, entries = importing.part(theirs, json.loads(text)) if gives else ([], [])
            return {"ids": ids, "entries": entries}

        monkeypatch.setattr(importing, "_ask", ask)
        assert len(importing.pull(mine, "nas").new) == 3
        assert asked == ["state", "give", "give", "give"]
        asked.clear()
        mine.describe(one(1).id, label="mine")
        mine.add(one(4))
        pushed = importing.push(mine, "nas")
        assert (pushed.changed, pushed.new, asked) == ([one(1).id], [one(4).id], ["state", "take", "take"])
        asked.clear()
        theirs.add(one(5))
        gives = False
        assert importing.pull(mine, "nas") == importing.Taken()
        assert asked == ["state", "give"]


def test_what_is_being_measured_is_shared_when_it_has_ended(tmp_path: Path):
    with Notebook(book(tmp_path / "a.db", one(1), one(2))) as mine:
        mine.take(one(1).id)
        assert set(importing.state(mine)) == {one(2).id}
        mine.release(one(1).id)
        assert set(importing.state(mine)) == {one(1).id, one(2).id}


def test_many_recordings_travel_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importing, "_PART_BYTES", 1)
    with Notebook(book(tmp_path / "a.db", one(3), one(1), one(2, base_id=one(1).id))) as mine:
        wanted = [one(3).id, one(2).id, one(1).id]
        done, entries = importing.part(mine, wanted)
        assert (done, len(entries)) == ([one(1).id], 1)
        assert importing.part(mine, ["0" * 12]) == (["0" * 12], [])


def test_a_rejected_run_and_its_reason_go_along(there: Inside, tmp_path: Path):
    book(there.db, one(1))
    here = Inside(book(tmp_path / "here.db", one(1)), None)
    with Notebook(here.db) as notebook:
        notebook.judge_run(one(1).id, 2, RunStatus.REJECTED, "backup")
    with Notebook(there.db) as notebook:
        notebook.judge_run(one(1).id, 2, RunStatus.REJECTED, "virus scan")
    assert here("pull", "fileserver").returncode == 0
    document = here.json("show", "last", "--json")
    assert document["runs"][3]["reason"] == "virus scan"
    assert document["note"].endswith(": backup")


def test_lists_say_on_which_machine_where_it_was_not_this_one(tmp_path: Path):
    here = {"client": {"host.name": platform.node(), "measured.site": "Oslo"}}
    there = {"client": {"host.name": "desk7", "measured.site": "Vienna"}}
    inside = Inside(book(tmp_path / "a.db", one(1, environment={"client": {"host.name": platform.node()}})), None)
    assert "measured on" not in inside("list").stdout
    with Notebook(inside.db) as notebook:
        notebook.add(one(2, environment=there))
        notebook.add_load(full_load(environment=there))
        name, at = "survey nas 2026-01-03 10:00:00", "2026-01-03T10:00:00.000Z"
        notebook.add_experiment(Experiment(name=name, kind=ExperimentKind.SURVEY, created_at=at))
        notebook.add(one(3, experiment=name, environment=here))
    heading, *lines = inside("list").stdout.splitlines()
    assert heading.endswith("measured on")
    assert sorted(line.split()[3] for line in lines if line.endswith("desk7, Vienna")) == ["load", "series"]
    assert [line.split()[3] for line in lines if line.endswith(f"{platform.node()}, Oslo")] == ["survey"]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("echo x; exit 3", "exit 3"),
        ("echo no >&2; exit 3", "no"),
        ("echo '[]'", "did not say what it has"),
        ("echo '{'", "JSON"),
    ],
)
def test_a_machine_without_a_notebook_is_told_in_one_line(through: Sshd, tmp_path: Path, answer: str, told: str):
    script = through.path / "sharebench"
    script.write_text(f"#!/bin/sh\n{answer}\n")
    script.chmod(0o755)
    done = Inside(tmp_path / "here.db", None)("pull", "fileserver")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (4, "", 1)
    assert "fileserver" in done.stderr
    assert told == "exit 3" or told in done.stderr
    assert ("did not answer in JSON" in done.stderr) is (told == "JSON"), "what a failed command wrote is not read"


def test_the_host_is_checked_before_anything_runs(tmp_path: Path):
    here = Inside(book(tmp_path / "a.db", one(1)), None)
    for host in ("alice:secret@nas", "-oProxyCommand=x"):
        done = here("push", "--", host)
        assert (done.returncode, "secret" in done.stderr) == (2, False)
    assert Inside(tmp_path / "none.db", None)("push", "nas").returncode == 2


@pytest.mark.parametrize(
    "entries",
    [
        [{"document": {}, "texts": {}}],
        [{"texts": {}}],
        [{"document": {"schema": "sharebench/series/1"}, "texts": {}}],
        [3],
        {"a": 1},
    ],
)
def test_what_is_no_recording_is_refused_whole(entries: object, tmp_path: Path):
    with Notebook(tmp_path / "a.db") as notebook, pytest.raises((DocumentError, MeasurementError)):
        importing.take(notebook, entries, "b")
    worker = Inside(tmp_path / "a.db", None)("share-worker", "take", stdin=json.dumps(entries))
    assert (worker.returncode, worker.stdout) == (2, "")


def test_an_imported_series_is_part_of_the_kind_that_its_document_names(tmp_path: Path):
    """Whatever its name looks like."""
    here, there = Inside(book(tmp_path / "a.db"), None), Inside(tmp_path / "b.db", None)
    file = tmp_path / "a.json"
    with Notebook(here.db) as notebook:
        notebook.add_experiment(Experiment(name="nightly", kind=ExperimentKind.SURVEY))
        notebook.add(one(1, experiment="nightly"))
        notebook.add(one(2, experiment="survey nas 2026-01-03 10:00:00"))
    assert here("export", f"{1:012x}", f"{2:012x}", "-o", str(file)).returncode == 0
    assert there("import", str(file)).returncode == 0
    with Notebook(there.db) as notebook:
        kinds = {each.experiment.name: each.experiment.kind for each in notebook.experiments()}
    assert kinds == {"nightly": ExperimentKind.SURVEY, "survey nas 2026-01-03 10:00:00": ExperimentKind.STEPS}
