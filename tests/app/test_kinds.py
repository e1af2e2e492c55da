"""Everything that can be done with a recording, done with one of every kind, a made-up one among them."""

import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.errors import UsageError
from app.base.exit_codes import INCONCLUSIVE, SLOWER, exit_code_of
from app.exchange.document_schema import json_schema
from app.recording.experiments import stored_change
from app.recording.kind import KINDS, RUNNING, KindsByName, kind_of, parts_of
from app.recording.listing import recording_lines
from app.recording.resuming import resumable
from app.recording.several import used_targets
from app.recording.writer import Recorder, Write, record_events
from forms.exporters import FORMATS
from forms.series.document import series_document, series_from_document
from storage.json_reader import DocumentError
from storage.notebook import Notebook
from storage.recordings import Recording
from storage.records import Command, RunStatus, SeriesStatus, Target, with_zone
from tests.builders import abandoned_change, one, series
from tests.command_line import QUICK, Inside
from tests.json_schema import faults
from tests.outputs import READERS, untold
from tests.recordings import MAKERS, lose_series, made_up_kind


@pytest.fixture(autouse=True)
def _kind_of_the_tests() -> Iterator[None]:
    with made_up_kind():
        yield


@pytest.fixture
def inside(tmp_path: Path) -> Inside:
    return Inside(tmp_path / "notebook.db", None)


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_a_recording_deleted_while_it_is_listed_is_still_listed(
    kind: str, monkeypatch: pytest.MonkeyPatch, inside: Inside
):
    with Notebook(inside.db) as notebook:
        made = MAKERS[kind](notebook)

    def removing(notebook: Notebook, ids: Sequence[str]) -> dict[str, str]:
        with Notebook(inside.db) as other:
            other.remove(made)
        return machines(notebook, ids)

    machines = Notebook.machines
    monkeypatch.setattr(Notebook, "machines", removing)
    listed = inside("list")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert made in listed.stdout
    with Notebook(inside.db) as notebook:
        assert notebook.recordings() == []


@pytest.mark.parametrize("kind", ["trial", "sweep"])
def test_what_has_just_begun_is_listed_before_its_first_series_is_stored(kind: str, inside: Inside):
    with Notebook(inside.db) as notebook:
        made = MAKERS[kind](notebook)
        for part in parts_of(notebook, notebook.recording(made)):
            notebook._db.execute("DELETE FROM series WHERE id = ?", (part.id,))
        notebook.take(made)
        (line,) = recording_lines(notebook, [notebook.recording(made)])
        assert line.answer == RUNNING
        notebook.release(made)
        (line,) = recording_lines(notebook, [notebook.recording(made)])
        assert line.answer.text == "Interrupted before each value was measured once."
    assert "Interrupted before each value" in inside("list").stdout


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("interrupted", "Interrupted before each value was measured once."),
        ("complete", "A series of it is missing, so it has no verdict of its own."),
    ],
)
@pytest.mark.parametrize("kind", ["trial", "sweep"])
def test_what_lacks_a_series_shows_what_there_is(kind: str, inside: Inside, status: str, said: str):
    with Notebook(inside.db) as notebook:
        made = MAKERS[kind](notebook)
        base, *others = parts_of(notebook, notebook.recording(made))
        lose_series(notebook, others, status)
        head = notebook.recording(made)
        assert stored_change(notebook, head.subject) is None
        form = kind_of(head).form(notebook, head)
        (line,) = recording_lines(notebook, [head])
    assert form.answer is not None
    assert form.answer.text == line.answer.text == said
    assert form.results == ()
    for shown in (inside("show", made), inside("experiment", "show", head.subject)):
        assert (shown.returncode, shown.stderr) == (0, "")
        assert base.id in shown.stdout
    assert json.loads(inside("show", made, "--json").stdout)["status"] == head.status


@pytest.mark.parametrize("whole", [True, False])
def test_whether_the_server_was_restored_stands_on_the_form_of_the_trial_that_changed_it(inside: Inside, whole: bool):
    def said(notebook: Notebook) -> list[str]:
        form = kind_of(head).form(notebook, head)
        assert form.answer == form.fields[0], "the answer comes first"
        return [field.text for field in form.fields if field.name == "Server"]

    with Notebook(inside.db) as notebook:
        made = MAKERS["trial"](notebook)
        _base, other = parts_of(notebook, notebook.recording(made))
        if not whole:
            lose_series(notebook, [other], "interrupted")
        head = notebook.recording(made)
        change = abandoned_change()
        notebook.open_journal(replace(change, id="another", name="of another", experiment="another"))
        assert said(notebook) == []
        notebook.open_journal(replace(change, experiment=head.subject))
        assert said(notebook) == [
            "still changed (strict sync): restore it with R in the notebook, or with `sharebench restore`"
        ]
        notebook.close_journal(change.id)
        (entry,) = notebook.journal(experiment=head.subject)
        assert said(notebook) == [f"restored {with_zone(entry.ended_at or '')}"]


def test_a_trial_that_came_without_its_plan_is_shown_unjudged(inside: Inside, monkeypatch):
    with Notebook(inside.db) as notebook:
        head = notebook.recording(MAKERS["trial"](notebook))
        monkeypatch.setattr(Notebook, "trial", lambda *_: None)
        form = kind_of(head).form(notebook, head)
        (line,) = recording_lines(notebook, [head])
    assert form.answer is not None
    assert form.answer.text == line.answer.text == "It was imported without its plan, so it has no verdict of its own."


def test_each_kind_is_registered_by_its_own_name_and_loaded_when_it_is_asked_for():
    fresh = KindsByName(dict(KINDS.places))
    assert fresh.loaded == {}
    assert [fresh[name].name for name in fresh] == list(KINDS.places)
    assert len(fresh) == len({kind.schema for kind in fresh.values()})
    fresh.add(KINDS["weighing"])
    assert [*fresh] == [*KINDS.places, "weighing"]
    fresh.remove("weighing")
    assert "weighing" not in fresh


def test_there_is_a_maker_of_every_kind():
    assert set(MAKERS) == set(KINDS)


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_every_command_takes_a_recording_of_every_kind(kind: str, inside: Inside, tmp_path: Path):
    def done(*words: str) -> str:
        found = inside(*words)
        assert found.returncode == 0, (words, found.stderr)
        return found.stdout

    with Notebook(inside.db) as notebook:
        made = MAKERS[kind](notebook)
    done("note", made, "switch rebooted")
    done("rename", made[:6], "office day")
    done("baseline", "set", "before", made)
    with Notebook(inside.db) as notebook:
        head = notebook.recording("before")
        assert (head.id, head.kind, head.label, head.note) == (made, kind, "office day", "switch rebooted")
        assert notebook.resolve("last", kind) == made

    (line,) = done("list").splitlines()[1:]
    assert [word in line for word in (made, kind, "office day [before]")] == [True] * 3
    inside_of_it = len(done("list", "--all").splitlines()) - 2
    (document,) = inside.json("list", "--json")
    schema = inside.json("export", "--schema", kind)
    assert not list(faults(schema, document))
    for name in schema["required"]:
        assert list(faults(schema, {key: value for key, value in document.items() if key != name}))
    assert list(faults(schema, document | {"created_at": 5}))
    assert (document["id"], document["schema"], document["note"]) == (made, KINDS[kind].schema, "switch rebooted")
    assert document == inside.json("show", "last", "--json") == inside.json("show", made, "--json")
    parts = document.get("parts") or (document.get("series") if KINDS[kind].is_made_of_series else [])
    assert len(parts or []) == inside_of_it
    assert done("show", "before") == done("show", "last")
    with Notebook(inside.db) as notebook:
        answer = KINDS[kind].answer(notebook, notebook.recording(made)).text
    if kind != "series":  # whose answer stands in columns of its own
        assert answer[:30] in line
    assert not untold(answer, done("show", made))
    for name in FORMATS:
        file = tmp_path / f"form.{name}"
        done("export", made, "--format", name, "-o", str(file))
        assert file.stat().st_size > 50
        if name != "json":
            assert not untold(answer, READERS.get(name, bytes.decode)(file.read_bytes())), f"{answer} as {name}"

    file = tmp_path / "all.json"
    file.write_text(done("list", "--json"))
    again = Inside(tmp_path / "other.db", None)
    assert again("import", str(file)).returncode == 0
    (copy,) = again.json("list", "--json")
    # What a baseline will show is said where it is one.
    document.pop("base_shows_percent", None)
    assert {**copy, "id": made} == document
    told = again("import", str(file))
    assert (told.returncode, told.stdout) == (0, ""), told.stderr
    assert "already in the notebook" in told.stderr

    if kind in {"series", "load", "isolation", "diagnosis", "weighing"}:
        done("import", str(file), "--as-new")
        assert len(done("list").splitlines()) == 3
        compared = inside("compare", made, "last")
        assert compared.returncode in {0, 3}, compared.stderr
        assert inside("delete", "last", "--yes").returncode == 0
    assert inside.fails(2, "compare", made, f"{77:012x}")
    assert done("delete", "before", "--yes").split() == [made]
    assert inside.json("list", "--json") == []
    with Notebook(inside.db) as notebook:
        assert notebook.heads() == []
        assert notebook.experiments() == []


def test_all_kinds_are_one_list_and_last_is_no_part(inside: Inside):
    with Notebook(inside.db) as notebook:
        made = {kind: MAKERS[kind](notebook) for kind in ("series", "load", "isolation", "weighing", "trial")}
        assert notebook.resolve("last") == made["trial"]
        assert notebook.resolve("last", "series") == made["series"], "not a series of the trial"
    lines = inside("list").stdout.splitlines()[1:]
    assert {line.split()[0] for line in lines} == set(made.values())
    assert len(inside("list", "--all").stdout.splitlines()[1:]) == 7
    assert {one["id"] for one in inside.json("list", "--json")} == set(made.values())
    assert "compare recordings of one kind" in inside.fails(2, "compare", made["series"], made["load"])
    said = inside.fails(2, "compare", made["isolation"], made["load"])
    assert f" ({made['isolation']}) is an isolation, before ({made['load']}) is a load: " in said
    assert f"{made['load']} is not an isolation (" in inside.fails(2, "isolate", "--resume", made["load"])


@pytest.mark.parametrize(
    ("kind", "run"), [("series", "2"), ("load", "1"), ("isolation", "1:server:4"), ("trial", "3"), ("sweep", "2")]
)
def test_a_run_point_layer_run_or_pair_is_rejected_and_accepted(kind: str, run: str, inside: Inside):
    with Notebook(inside.db) as notebook:
        made = MAKERS[kind](notebook)
    before = inside.json("show", made, "--json")
    assert inside("reject", made, run, "--reason", "backup ran").returncode == 0
    rejected = inside.json("show", made, "--json")
    assert rejected != before
    assert "backup ran" in json.dumps(rejected)
    assert inside("accept", made, run).returncode == 0
    assert inside.json("show", made, "--json") == before
    inside.fails(2, "reject", made, "99" if kind != "isolation" else "9:server:4", "--reason", "none such")
    assert inside.json("show", made, "--json") == before


def test_a_made_up_kind_is_resumed_and_keeps_the_note_that_is_written_meanwhile(inside: Inside):
    with Notebook(inside.db) as notebook:
        made = MAKERS["weighing"](notebook)
        notebook._db.execute("UPDATE recordings SET status = 'interrupted'")
        head = resumable(notebook, "last", "weighing")
        recorder = Recorder(notebook)
        recorder.begin(head.id, stored=True)

        def weighed() -> Generator[Recording, None, Recording]:
            part = replace(head, content={**head.content, "kilograms": [12, 14, 16]})
            yield part
            assert inside("note", made, "on the kitchen scales").returncode == 0
            assert "is being measured" in inside.fails(2, "delete", made, "--yes")
            return replace(part, status=SeriesStatus.COMPLETE)

        def writes(part: Recording) -> Iterator[Write]:
            yield lambda notebook: notebook.update_recording(part)

        for _ in record_events(recorder, weighed(), writes, writes):
            pass
    document = inside.json("show", made, "--json")
    assert (document["kilograms"], document["note"]) == ([12, 14, 16], "on the kitchen scales")
    assert document["status"] == "complete"


@pytest.mark.parametrize("kind", ["series", "load", "isolation", "weighing"])
def test_what_was_left_behind_is_named_by_show_list_and_delete(kind: str, inside: Inside):
    with Notebook(inside.db) as notebook:
        made = MAKERS[kind](notebook)
        left = '{"scratch_path": ".sharebench-left"}'
        left = '{"server_folders": [".sharebench-left"], "profiling": null}' if kind == "isolation" else left
        left = '{"scratch_folder": ".sharebench-left"}' if kind == "load" else left
        notebook._db.execute("UPDATE recordings SET leftovers = ?", (left,))
    assert "+" in inside("list").stdout.splitlines()[1]
    assert ".sharebench-left" in inside("show", made).stdout + inside("show", made).stderr
    assert ".sharebench-left" in inside("delete", made, "--yes").stderr


def test_a_recording_of_a_newer_version_is_named(inside: Inside):
    with Notebook(inside.db) as notebook:
        notebook.add(one(1))
        notebook._db.execute("UPDATE recordings SET kind = 'horoscope'")
    assert "is of kind 'horoscope', which this version does not know" in inside.fails(2, "show", f"{1:012x}")


def test_a_part_is_rejected_with_its_pair_or_not_at_all(tmp_path: Path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        made = MAKERS["trial"](notebook)
        (part, other) = parts_of(notebook, notebook.recording(made))
        notebook._db.execute("DELETE FROM runs WHERE series_id = ? AND number = 4", (other.id,))
        with pytest.raises(UsageError, match="no finished measured run 4"):
            KINDS["trial"].judge(notebook, notebook.recording(made), "4", RunStatus.REJECTED, "backup")
        assert all(run.status is RunStatus.VALID for run in notebook.series(part.id).runs)


def test_the_question_of_a_measurement_stands_on_its_form_and_in_its_document(inside: Inside, tmp_path: Path):
    (tmp_path / "file").write_bytes(b"x" * 100_000)
    done = inside("run", f"file://{tmp_path}/file", *QUICK, "--runs", "2", "--question", "Is the disk enough?")
    assert done.returncode == 0
    assert "Is the disk enough?" in done.stdout
    assert inside.json("show", "last", "--json")["question"] == "Is the disk enough?"


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_a_question_stands_on_the_form_of_every_kind(kind: str, inside: Inside):
    with Notebook(inside.db) as notebook:
        made = MAKERS[kind](notebook)
        notebook.describe(made, question="Is it enough?")
        form = kind_of(head := notebook.recording(made)).form(notebook, head)
    assert form.answer is (None if kind == "weighing" else form.fields[0]), "the answer comes first"
    assert [field.name for field in form.fields].count("Question") == 1
    assert "Is it enough?" in inside("show", made).stdout
    assert inside.json("show", made, "--json")["question"] == "Is it enough?"


def test_the_answer_of_a_series_has_half_the_interval_of_its_average_after_the_plus_minus(inside: Inside):
    with Notebook(inside.db) as notebook:
        notebook.add(one(1, (36e6, 40e6, 45e6, 50e6, 54e6)))  # whose deviation is 16 %
        assert "45.00 MB/s ± 20 %" in KINDS["series"].answer(notebook, notebook.recording("last")).text


@pytest.mark.parametrize("kind", ["series", "load", "isolation", "trial", "sweep", "survey", "selftest", "diagnosis"])
def test_the_folder_of_every_recording_is_offered_as_a_target(kind: str, tmp_path: Path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        head = notebook.recordings_of([MAKERS[kind](notebook)])[0]
        target = kind_of(head).target(notebook, head)
        assert target is not None
        path = target.path if kind in {"load", "isolation", "diagnosis"} else target.path.rpartition("/")[0]
        assert replace(target, path=path) in used_targets(notebook)
        assert used_targets(notebook, head.id)[0] == replace(target, path=path)


def test_targets_are_offered_by_time_but_for_that_of_the_recording_pointed_at(tmp_path: Path):
    nas, ftp = Target(protocol="smb", host="nas", share="s"), Target(protocol="ftp", host="ftp", path="/")
    with Notebook(tmp_path / "notebook.db") as notebook:
        older = series([], id="a00000000000", created_at="2026-01-01T00:00:00.000Z", target=replace(nas, path="a/f"))
        notebook.add(older)
        notebook.add(
            series([], id="b00000000000", created_at="2026-03-01T00:00:00.000Z", target=replace(ftp, path="/f"))
        )
        MAKERS["isolation"](notebook)  # of January 31
        isolated = notebook.isolation("aa11aa11aa11").target
        made = replace(nas, path="a")
        assert used_targets(notebook) == [ftp, isolated, made]
        assert used_targets(notebook, older.id) == [made, ftp, isolated, made]
        put = series([], id="c00000000000", target=nas, command=Command.PUT, created_at="2026-04-01T00:00:00.000Z")
        notebook.add(put)
        assert used_targets(notebook)[0] == nas, "a folder, in which the file was made"


def test_the_exit_code_of_verdicts_names_the_worst():
    for verdicts, code in (
        (["same"], 0), (["faster", "same"], 0), ([], 0),
        (["unknown", "faster"], INCONCLUSIVE), (["unknown", "slower"], SLOWER),
    ):  # fmt: skip
        assert exit_code_of(verdicts) == code, verdicts


def test_a_schema_goes_alone_and_a_kind_that_is_mistyped_is_named(inside: Inside):
    assert "did you mean series?" in inside.fails(2, "export", "--schema", "seris")
    assert "leave --format out" in inside.fails(2, "export", "--schema", "series", "--format", "csv")


def test_a_schema_says_what_is_read():
    made = json_schema(KINDS["series"])
    document = series_document(one(1))
    assert not list(faults(made, json.loads(json.dumps(document))))
    for path, wrong in (("runs", [{}]), ("target", {}), ("command", "steal"), ("link_bits_per_second", 0), ("id", "")):
        assert list(faults(made, document | {path: wrong})), path
        with pytest.raises(DocumentError):
            series_from_document(document | {path: wrong})
