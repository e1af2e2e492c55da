"""push and pull through a real sshd: what one notebook has, the other gets, and nothing that people wrote is lost."""

import json
import platform
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from app.base.errors import MeasurementError
from app.base.limits import TooMuchTimeError, limit_processor_time
from app.exchange import copies, giving, peers, taking
from app.exchange.copies import Copy
from app.recording.made_of_series import Whole
from app.server.running_program import RunningProgram
from storage.json_reader import DocumentError
from storage.notebook import Notebook
from storage.records import Experiment, ExperimentKind, RunStatus, Series, SeriesStatus
from tests.builders import book, one, runs
from tests.command_line import ROOT, Inside
from tests.loads import full_load
from tests.recordings import MAKERS
from tests.reliability import received
from tests.reliability.sharing import campaign
from tests.servers.sshd import Sshd

KINDS = ("series", "load", "isolation", "audit", "trial")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine ssh and a start take longer than a peer may be silent."""
    monkeypatch.setattr(peers, "SILENT_SECONDS", 300.0)


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
        ids, entries = giving.next_part(mine, [first.id])
        assert (ids, taking.take(copy, entries, "a").new) == ([first.id], [first.id])
        copy.describe(first.id, note="waiting for the rest")
        copy.add(one(2, base_id=first.id))
        mine.add_run(first.id, runs((100e6,) * 4)[-1])
        mine.update(replace(mine.series(first.id), status=SeriesStatus.COMPLETE))
        assert giving.notebook_state(mine) != giving.notebook_state(copy)
        assert taking.take(copy, giving.next_part(mine, [first.id])[1], "a").changed == [first.id]
        found = copy.series(first.id)
        assert (len(found.runs), found.status, found.note) == (6, SeriesStatus.COMPLETE, "waiting for the rest")
        assert copy.series(one(2).id).base_id == first.id
        taking.take(mine, giving.next_part(copy, [first.id, one(2).id])[1], "b")
        assert (mine.series(first.id).imported_at, giving.notebook_state(mine)) == (None, giving.notebook_state(copy))


def test_an_older_copy_never_replaces_what_was_resumed_here(tmp_path: Path):
    first = one(1, (100e6,) * 3, status=SeriesStatus.INTERRUPTED)
    with Notebook(book(tmp_path / "a.db", first)) as mine, Notebook(tmp_path / "b.db") as copy:
        old = giving.next_part(mine, [first.id])[1]
        taking.take(copy, old, "a")
        mine.add_run(first.id, runs((100e6,) * 4)[-1])
        taking.take(copy, giving.next_part(mine, [first.id])[1], "a")
        taking.take(copy, old, "a")
        assert len(copy.series(first.id).runs) == 6


def test_what_is_taken_twice_is_the_same_and_not_changed(tmp_path: Path):
    for kind in MAKERS.keys() - {"weighing"}:
        with Notebook(tmp_path / f"{kind} a.db") as mine, Notebook(tmp_path / f"{kind} b.db") as copy:
            made = [MAKERS[kind](mine)]

            def taken(mine: Notebook = mine, copy: Notebook = copy, made: list[str] = made) -> taking.Taken:
                return taking.take(copy, json.loads(json.dumps(giving.next_part(mine, made)[1])), "a")

            assert (taken(), taken()) == (taking.Taken(new=made), taking.Taken()), kind
            mine.describe(made[0], note="seen there")
            assert taken() == taking.Taken(changed=made), kind


def test_all_is_asked_for_part_by_part_until_the_other_side_gives_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(giving, "_PART_BYTES", 1)
    asked: list[str] = []
    with Notebook(book(tmp_path / "a.db", one(1), one(2), one(3))) as theirs, Notebook(tmp_path / "b.db") as mine:
        gives = True

        def ask(_host: str, word: str, text: str = "") -> bytes:
            asked.append(word)
            if word == "state":
                answer: object = giving.notebook_state(theirs)
            elif word == "take":
                answer = taking.take(theirs, json.loads(text), "mine").to_json()
            else:
                ids, entries = giving.next_part(theirs, json.loads(text)) if gives else ([], [])
                answer = {"ids": ids, "entries": entries}
            return json.dumps(answer).encode()

        monkeypatch.setattr(peers, "_ask", ask)
        assert len(peers.pull(mine, "nas").new) == 3
        assert asked == ["state", "give", "give", "give"]
        asked.clear()
        mine.describe(one(1).id, label="mine")
        mine.add(one(4))
        pushed = peers.push(mine, "nas")
        assert (pushed.changed, pushed.new, asked) == ([one(1).id], [one(4).id], ["state", "take", "take"])
        asked.clear()
        theirs.add(one(5))
        gives = False
        assert peers.pull(mine, "nas") == taking.Taken()
        assert asked == ["state", "give"]


def test_what_is_being_measured_is_shared_when_it_has_ended(tmp_path: Path):
    with Notebook(book(tmp_path / "a.db", one(1), one(2))) as mine:
        mine.take(one(1).id)
        assert set(giving.notebook_state(mine)) == {one(2).id}
        mine.release(one(1).id)
        assert set(giving.notebook_state(mine)) == {one(1).id, one(2).id}


def test_many_recordings_travel_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(giving, "_PART_BYTES", 1)
    with Notebook(book(tmp_path / "a.db", one(3), one(1), one(2, base_id=one(1).id))) as mine:
        wanted = [one(3).id, one(2).id, one(1).id]
        done, entries = giving.next_part(mine, wanted)
        assert (done, len(entries)) == ([one(1).id], 1)
        assert giving.next_part(mine, ["0" * 12]) == (["0" * 12], [])


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
    assert ("not JSON" in done.stderr) is (told == "JSON"), "what a failed command wrote is not read"


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
        taking.take(notebook, entries, "b")
    worker = Inside(tmp_path / "a.db", None)("share-worker", "take", stdin=json.dumps(entries))
    assert (worker.returncode, worker.stdout) == (2, "")


def sent(path: Path, *series: Series) -> list[Any]:
    """What a notebook with these series sends."""
    with Notebook(book(path, *series)) as notebook:
        _, entries = giving.next_part(notebook, [each.id for each in series])
    as_sent: list[Any] = json.loads(json.dumps(entries))
    return as_sent


def test_an_imported_series_is_replaced_only_by_one_that_begins_with_its_runs(tmp_path: Path):
    first = one(1, (100e6,) * 3)
    with Notebook(tmp_path / "mine.db") as mine:
        taking.take(mine, sent(tmp_path / "a.db", first), "a")
        stored = mine.series(first.id)

        other_rates = sent(tmp_path / "b.db", one(1, (4e6,) * 4))
        taken = taking.take(mine, other_rates, "b")
        assert (taken.new, taken.changed, len(taken.problems)) == ([], [], 1)
        assert first.id in taken.problems[0]
        assert mine.series(first.id) == stored

        fewer = sent(tmp_path / "c.db", one(1, (100e6,) * 2))
        assert taking.take(mine, fewer, "c") == taking.Taken()
        assert mine.series(first.id) == stored

        more = sent(tmp_path / "d.db", one(1, (100e6,) * 4))
        assert taking.take(mine, more, "d").problems == []
        assert len(mine.series(first.id).runs) == len(stored.runs) + 1


def test_a_run_put_before_the_stored_ones_makes_another_series(tmp_path: Path):
    first = one(1, (100e6,) * 3)
    without_first = replace(first, runs=tuple(run for run in first.runs if run.number > 1))
    with Notebook(tmp_path / "mine.db") as mine:
        taking.take(mine, sent(tmp_path / "a.db", without_first), "a")
        assert len(taking.take(mine, sent(tmp_path / "b.db", first), "b").problems) == 1


def test_a_series_measured_here_is_never_replaced_and_both_sides_are_told(tmp_path: Path):
    first = one(1, (100e6,) * 3)
    with Notebook(book(tmp_path / "mine.db", first)) as mine:
        taken = taking.take(mine, sent(tmp_path / "a.db", one(1, (100e6,) * 4)), "a")
        assert (len(taken.problems), len(mine.series(first.id).runs)) == (1, len(first.runs))
        assert taken.to_json()["problems"] == taken.problems


def test_what_could_not_be_stored_whole_is_not_told_as_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    entries = sent(tmp_path / "a.db", one(1, note="kept"))
    with Notebook(tmp_path / "mine.db") as mine:
        monkeypatch.setattr(Notebook, "keep_texts", Mock(side_effect=sqlite3.IntegrityError("no such id")))
        taken = taking.take(mine, entries, "a")
        assert (taken.new, len(taken.unreadable), list(mine.heads())) == ([], 1, [])


VERSION = "2026-11-28T08:03:42.847Z 00000000"
MOMENT = "2026-11-28T08:03:42.847Z"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("baseline/nightly", "never"),
        (f"baseline/{2:012x}", MOMENT),
        ("baseline/last", MOMENT),
        ("baseline/-x", MOMENT),
        ("baseline/", MOMENT),
        ("baseline/a\x1b[2J", MOMENT),
        (f"baseline/{'x' * 201}", MOMENT),
        ("runs", "x"),
        ("runs/measured/1/2", "x"),
        ("layer_runs/1/disk/2/3", "x"),
        ("load_points/1", "x"),
        ("decision", "x"),
        ("normal", "maybe"),
        ("unheard of", "x"),
    ],
)
def test_what_is_no_text_of_a_series_is_refused_and_the_rest_is_kept(name: str, text: str, tmp_path: Path):
    entries = sent(tmp_path / "a.db", one(1), one(2))
    entries[0]["texts"][one(1).id][1] = {name: {"now": {VERSION: text}}}
    with Notebook(tmp_path / "mine.db") as mine:
        taken = taking.take(mine, entries, "a")
        assert (taken.new, len(taken.unreadable)) == ([one(2).id], 1)
        assert mine.baselines() == []
        with pytest.raises(DocumentError):
            taking.take(mine, entries[:1], "a")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("baseline/nightly", MOMENT),
        (f"baseline/{'x' * 200}", MOMENT),
        ("baseline/nightly", ""),
        ("runs/measured/1", "backup"),
        ("decision", "kept"),
        ("normal", "yes"),
    ],
)
def test_what_is_a_text_of_a_series_is_taken(name: str, text: str, tmp_path: Path):
    entries = sent(tmp_path / "a.db", one(1))
    entries[0]["texts"][one(1).id][1] = {name: {"now": {VERSION: text}}}
    with Notebook(tmp_path / "mine.db") as mine:
        assert taking.take(mine, entries, "a") == taking.Taken(new=[one(1).id])
        assert mine.texts_of([one(1).id])[one(1).id].texts[name].newest == text


@pytest.mark.parametrize("pair", [1, 3, None, [], [1, 2, 3], [MOMENT]])
def test_texts_without_their_time_are_refused(pair: object, tmp_path: Path):
    entries = sent(tmp_path / "a.db", one(1))
    entries[0]["texts"][one(1).id] = pair
    with Notebook(tmp_path / "mine.db") as mine, pytest.raises(DocumentError):
        taking.take(mine, entries, "a")


@pytest.mark.parametrize(
    "answer",
    [
        b"5",
        b"null",
        b"true",
        b'"ids entries"',
        b"[]",
        b"{}",
        b'{"ids": null, "entries": null}',
        b'{"ids": [], "ids": [], "entries": []}',
        b'{"ids": [], "entries": [NaN]}',
        b'{"ids": [], "entries": [1e400]}',
        b"[" * 100_000,
        b"",
        b"\xff",
    ],
)
@pytest.mark.parametrize("command", ["push", "pull"])
def test_an_answer_that_is_none_is_told_in_one_line(
    command: str, answer: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def ask(_host: str, word: str, _text: str = "") -> bytes:
        return json.dumps({one(2).id: ["0", 1, 1]}).encode() if word == "state" else answer

    monkeypatch.setattr(peers, "_ask", ask)
    here = Inside(book(tmp_path / "a.db", one(1)), None)
    done = here(command, "nas")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (4, "", 1), done.stderr
    assert "fault" not in done.stderr
    assert "notebook is damaged" not in done.stderr


@pytest.mark.parametrize(("runs_here", "expected"), [((3, 5), Copy.DIFFERENT), ((3, 4), Copy.FURTHER)])
def test_series_of_a_survey_that_went_on_here_are_not_replaced_by_another_that_went_on_there(
    runs_here: tuple[int, int], expected: Copy
):
    """Of the two series received, the first has gone on there; the second has gone on here, or on neither side."""
    survey = Experiment(name="survey nas", kind=ExperimentKind.SURVEY, created_at="2026-01-03T10:00:00.000Z")

    def copy_with(*numbers_of_runs: int) -> Whole:
        series = (
            one(number, (100e6,) * count, status=SeriesStatus.INTERRUPTED)
            for number, count in enumerate(numbers_of_runs, start=1)
        )
        return Whole(id="", experiment=survey, series=tuple(series))

    assert copies._copy_of_whole(copy_with(*runs_here), copy_with(4, 4)) is expected


def test_an_id_wins_over_every_name(tmp_path: Path):
    mine = book(tmp_path / "a.db", one(1), one(2))
    with closing(sqlite3.connect(mine)) as connection, connection:
        connection.execute("INSERT INTO baselines VALUES (?, ?, ?)", (one(1).id, one(2).id, MOMENT))
    with Notebook(mine) as notebook:
        assert notebook.resolve(one(1).id) == one(1).id
        notebook.remove_baseline(one(1).id)
        assert notebook.baselines() == []


def test_a_series_joins_no_trial_that_is_here(tmp_path: Path):
    with Notebook(tmp_path / "mine.db") as mine:
        trial = mine.recording(MAKERS["trial"](mine))
        entries = sent(tmp_path / "a.db", one(1, experiment=trial.subject))
        for entry in entries:
            entry["document"] |= {"schema": "sharebench/series/1"}
        before = len(mine.experiment(trial.subject))
        taking.take(mine, entries, "a")
        assert len(mine.experiment(trial.subject)) == before


def test_what_an_older_version_sends_is_understood(tmp_path: Path):
    """Its answers have no signs of life, and a part of it may have texts about series that are not in it."""
    entries = sent(tmp_path / "a.db", one(1))
    entries[0]["texts"]["0" * 12] = [MOMENT, {}]
    with Notebook(tmp_path / "mine.db") as mine:
        assert taking.take(mine, entries, "a").new == [one(1).id]


@pytest.mark.long
def test_no_hostile_peer_makes_a_notebook_unreadable_or_changes_what_was_measured():
    figures = received.campaign(300, most=24)
    assert figures.losses == []
    assert figures.counts["peers"] == 24


@pytest.mark.long
def test_a_recording_that_is_replaced_by_another_one_is_a_loss(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(copies, "copy_received", lambda *_: Copy.FURTHER)
    assert any("measured was changed" in loss for loss in received.campaign(300, most=60).losses)


@pytest.mark.long
def test_a_peer_that_is_silent_is_given_up_and_one_that_is_slow_is_not():
    silent = RunningProgram(["sh", "-c", "sleep 1000"], text="")
    assert silent.wait_while_it_moves(0.2)[1].problem
    slow = RunningProgram(["sh", "-c", "for i in 1 2 3 4 5 6; do echo $i; sleep 1; done"], text="")
    answer, said = slow.wait_while_it_moves(4.0)
    assert (said.code, said.problem, answer.split()) == (0, None, [b"1", b"2", b"3", b"4", b"5", b"6"])


def compute_for_ever() -> None:
    while True:
        sum(range(1000))


def test_a_part_takes_no_more_memory_and_time_than_it_may():
    for given, told in ((MemoryError, "memory"), (TooMuchTimeError, "processor")):
        with pytest.raises(MeasurementError, match=told), peers.limit_part("that"):
            raise given
    with pytest.raises(TooMuchTimeError), limit_processor_time(0.05):
        compute_for_ever()
    with limit_processor_time(1000.0):
        sum(range(1000))


@pytest.mark.parametrize(("limit_bytes", "is_enough"), [(20_000_000, False), (200_000_000, True)])
def test_more_memory_than_the_limit_is_refused(limit_bytes: int, is_enough: bool):
    # In a process of its own: memory that this one has freed could be taken again without asking the system.
    program = f"from app.base.limits import limit_memory\nwith limit_memory({limit_bytes}):\n    bytearray(40_000_000)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) is is_enough, done.stderr
    assert ("MemoryError" in done.stderr) is not is_enough
