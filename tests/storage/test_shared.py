"""What people write on two sides at once: merged by time, the same in either order, and nothing is lost."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.json_reader import DocumentError, JSONNode
from storage.notebook import Notebook
from storage.records import RunStatus
from storage.shared import Text, Texts, text_since, texts_from_json
from tests.builders import book, one

MADE = "2026-01-31T10:00:00.000Z"
FIRST, SECOND, THIRD = (f"2026-02-0{day}T10:00:00.000Z" for day in (1, 2, 3))
START = Texts(MADE, {"label": text_since(MADE, "old"), "note": text_since(MADE, "n")})


def test_a_text_changed_on_one_side_alone_counts_and_leaves_nothing_in_the_note():
    changed = START.with_texts({"label": "new"}, FIRST)
    assert changed.merged(START).newest == START.merged(changed).newest == {"label": "new", "note": "n"}


def test_of_texts_changed_on_both_sides_the_newest_counts_and_the_note_keeps_the_other():
    mine, theirs = START.with_texts({"label": "mine"}, FIRST), START.with_texts({"label": "theirs"}, SECOND)
    assert mine.merged(theirs).newest["label"] == "theirs"
    assert mine.merged(theirs).note == "n\n\nOther label of 2026-02-01 10:00: mine"
    later = mine.with_texts({"label": "mine still"}, THIRD)
    assert later.merged(theirs).newest["label"] == "mine still"
    assert "Other label of 2026-02-02 10:00: theirs" in later.merged(theirs).note


def test_notes_changed_on_both_sides_are_one_note_with_each_paragraph_once():
    mine = START.with_texts({"note": "n\n\nseen by me"}, SECOND)
    theirs = START.with_texts({"note": "n\n\nseen by them"}, FIRST)
    assert mine.merged(theirs).note == "n\n\nseen by me\n\nOther note of 2026-02-01 10:00: seen by them"


def test_a_later_label_leaves_in_the_note_what_lost_before():
    merged = START.with_texts({"label": "mine"}, FIRST).merged(START.with_texts({"label": "theirs"}, SECOND))
    renamed = merged.with_texts({"label": "ours"}, THIRD)
    assert renamed.newest == {"label": "ours", "note": merged.note}
    assert merged.with_texts({"label": "ours", "note": "n"}, THIRD).newest == {"label": "ours", "note": "n"}
    cleaned = merged.with_texts({"note": "n"}, THIRD)
    assert cleaned.newest == {"label": "theirs", "note": "n"}
    assert cleaned.merged(merged).newest == cleaned.newest


def test_the_note_keeps_what_lost_in_order_without_empty_paragraphs_and_whatever_else_is_written():
    base = Texts(MADE, {"label": text_since(MADE, "old"), "note": text_since(MADE, "")})
    merged = base.with_texts({"label": "mine"}, FIRST).merged(base.with_texts({"label": "theirs"}, SECOND))
    assert merged.note == "Other label of 2026-02-01 10:00: mine"
    assert merged.with_texts({"question": "why"}, THIRD).note == merged.note
    both = base.with_texts({"label": "b", "note": "x"}, FIRST).merged(
        base.with_texts({"label": "a", "note": "y"}, SECOND)
    )
    assert both.note == "y\n\nOther note of 2026-02-01 10:00: x\n\nOther label of 2026-02-01 10:00: b"


def test_a_clock_that_is_late_does_not_undo_what_it_has_seen():
    ahead = START.with_texts({"label": "ahead"}, THIRD)
    behind = ahead.with_texts({"label": "behind"}, FIRST)
    assert behind.merged(ahead).newest["label"] == "behind"
    assert ahead.merged(behind) == behind.merged(ahead)
    meanwhile = START.with_texts({"label": "meanwhile"}, SECOND)
    assert behind.merged(meanwhile).newest["label"] == "behind"


def test_the_same_text_again_and_again_is_always_another_version():
    text = text_since(MADE, "a")
    for _ in range(3):
        text = text.with_text("b", FIRST).with_text("a", FIRST)
    assert text.newest == "a"
    assert len({*text.past, *text.now}) == 7


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["label", "note"]), st.text("ab\n", max_size=3)), max_size=8)
)
def test_merging_is_the_same_in_every_order_and_as_often_as_one_likes(changes):
    sides = [START] * 3
    for number, (side, name, text) in enumerate(changes):
        sides[side] = sides[side].with_texts({name: text}, f"2026-02-01T10:00:0{number}.000Z")
        if number % 3 == 2:
            sides[side] = sides[side].merged(sides[(side + 1) % 3])
    merged = [a.merged(b).merged(c) for a, b, c in itertools.permutations(sides)]
    assert all(one.to_json() == merged[0].to_json() for one in merged)
    assert all(merged[0].merged(side).to_json() == merged[0].to_json() for side in sides)
    for side in sides:
        for one_text in side.texts.values():
            version = max(one_text.now)
            if not any(version in other.texts[name].past for other in sides for name in other.texts):
                shown = f"{merged[0].newest['label']}\n\n{merged[0].note}"
                assert all(part in shown for part in one_text.newest.split("\n\n"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"note": {"now": {}}},
        {"note": {"now": {"zzz": "x"}}},
        {"note": {"now": {f"{FIRST} 01234567": 3}}},
        {"note": {"now": {f"{FIRST} 01234567": "x"}, "past": ["soon"]}},
        ["note"],
    ],
)
def test_what_is_no_version_is_refused(wrong):
    with pytest.raises(DocumentError, match="said"):
        texts_from_json(JSONNode("said", wrong), MADE)


def test_what_is_written_survives_being_measured_and_comes_back_as_written(tmp_path):
    with Notebook(book(tmp_path / "a.db", one(1))) as notebook:
        notebook.describe(f"{1:012x}", note="seen")
        notebook.judge_run(f"{1:012x}", 2, RunStatus.REJECTED, "backup")
        notebook.set_baseline("before", f"{1:012x}")
        notebook.update(notebook.series("last"))
        (texts,) = notebook.texts_of([f"{1:012x}"]).values()
        assert {**texts.newest, "baseline/before": "set"} == {
            "label": "series 1", "note": "seen", "question": "", "runs/measured/2": "backup", "baseline/before": "set",
        }  # fmt: skip
        assert texts_from_json(JSONNode("said", texts.to_json()), texts.created_at) == texts


def test_what_is_merged_counts(tmp_path):
    with Notebook(book(tmp_path / "a.db", one(1))) as mine, Notebook(book(tmp_path / "b.db", one(1))) as theirs:
        (recording_id,) = [head.id for head in mine.recordings()]
        mine.describe(recording_id, label="mine")
        theirs.judge_run(recording_id, 2, RunStatus.REJECTED, "backup")
        theirs.set_baseline("before", recording_id)
        merged = mine.texts_of([recording_id])[recording_id].merged(theirs.texts_of([recording_id])[recording_id])
        mine.keep_texts(recording_id, merged)
        found = mine.series("before")
        assert (found.label, [run.reason for run in found.runs if run.status is RunStatus.REJECTED]) == (
            "mine",
            ["backup"],
        )
        theirs.keep_texts(recording_id, merged)
        theirs.judge_run(recording_id, 2, RunStatus.VALID, None)
        theirs.remove_baseline("before")
        again = theirs.texts_of([recording_id])[recording_id]
        mine.keep_texts(recording_id, mine.texts_of([recording_id])[recording_id].merged(again))
        assert mine.baselines() == []
        assert {run.status for run in mine.series(recording_id).runs} == {RunStatus.VALID}


def merge(mine: Notebook, theirs: Notebook) -> None:
    ids = [head.id for head in mine.recordings()]
    here, there = mine.texts_of(ids), theirs.texts_of(ids)
    for notebook in (mine, theirs):
        for recording_id in ids:
            notebook.keep_texts(recording_id, here[recording_id].merged(there[recording_id]))


def test_the_name_of_an_experiment_travels_and_the_note_keeps_the_one_that_lost(tmp_path):
    pair = [one(number, experiment="first") for number in (1, 2)]
    with Notebook(book(tmp_path / "a.db", *pair)) as mine, Notebook(book(tmp_path / "b.db", *pair)) as theirs:
        mine.rename_experiment("first", "switch")
        merge(mine, theirs)
        for notebook in (mine, theirs):
            assert [(entry.experiment.name, entry.series_count) for entry in notebook.experiments()] == [("switch", 2)]
            assert notebook.experiment_called("first") is None
        mine.rename_experiment("switch", "cable")
        theirs.rename_experiment("switch", "switch port")
        merge(mine, theirs)
        (name,) = {entry.experiment.name for notebook in (mine, theirs) for entry in notebook.experiments()}
        (lost,) = {"cable", "switch port"} - {name}
        assert lost in mine.series(pair[0].id).note == theirs.series(pair[0].id).note
        mine.rename_experiment(name, "first")
        merge(mine, theirs)
        assert {series.experiment for series in theirs.all_of([series.id for series in pair])} == {"first"}


def test_a_baseline_travels_from_an_older_notebook_and_what_is_taken_back_is_taken_back_on_both_sides(tmp_path):
    with Notebook(book(tmp_path / "a.db", one(1))) as mine, Notebook(book(tmp_path / "b.db", one(1))) as theirs:
        (recording_id,) = [head.id for head in mine.recordings()]
        theirs._db.execute("INSERT INTO baselines VALUES ('old', ?, ?)", (recording_id, FIRST))

        def exchange() -> tuple[list[str], list[tuple[int, str]]]:
            said = mine.texts_of([recording_id])[recording_id].merged(theirs.texts_of([recording_id])[recording_id])
            mine.keep_texts(recording_id, said)
            theirs.keep_texts(recording_id, said)
            names = [[each.name for each in side.baselines()] for side in (mine, theirs)]
            assert names[0] == names[1]
            return names[0], [
                (run.number, run.reason) for run in mine.series(recording_id).runs if run.reason is not None
            ]

        assert exchange() == (["old"], [])
        theirs.set_baseline("new", recording_id)
        theirs.judge_run(recording_id, 2, RunStatus.REJECTED, None)
        assert exchange() == (["new", "old"], [(2, "-")])
        mine.remove_baseline("old")
        mine.judge_run(recording_id, 2, RunStatus.VALID, None)
        assert exchange() == (["new"], [])


def test_a_version_names_its_time_and_its_text():
    assert text_since(MADE, "x").now == Text(now={f"{MADE} 2d711642": "x"}).now
