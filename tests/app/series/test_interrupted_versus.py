"""A comparison of two targets that ends early: what is told and kept, how it is completed, and measured again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli.main import run
from app.series import interleaved as interleaved_series
from app.series.versus import series_of_comparison
from forms.comparison.pairs import paired_runs
from storage.notebook import Notebook
from storage.records import Phase, Series, SeriesStatus
from tests.builders import interleaved, one

QUICK = ("--warmup", "1", "--quiet-time", "skip", "--ceiling", "skip")
ARGUMENTS = ("--runs", "6", *QUICK)


def sharebench(db: Path, *words: str) -> int:
    return run([*words, "--db", str(db)], lambda *_args, **_more: 0)


@pytest.fixture
def urls(tmp_path: Path) -> list[str]:
    for folder in ("old", "new", "third"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_bytes(bytes(4 << 20))
    return [f"file://{tmp_path}/{folder}/file" for folder in ("old", "new", "third")]


def takes_away(folder: Path, name: str, after: int) -> str:
    """A command before each run that takes the file of a side away after that many runs of all sides, while armed."""
    (folder / "armed").touch()
    (folder / "count").write_text("0")
    return (
        f"cd {folder}; n=$(cat count); echo $((n + 1)) > count;"
        f" if [ -e armed ] && [ $n -ge {after} ] && [ -e {name}/file ]; then mv {name}/file {name}/away; fi"
    )


def brought_back(folder: Path, name: str) -> None:
    (folder / "armed").unlink()
    (folder / name / "away").rename(folder / name / "file")


def series_by_label(db: Path) -> dict[str, Series]:
    with Notebook(db) as notebook:
        return {series.label: series for series in (notebook.series(head.id) for head in notebook.heads())}


BASE_FIRST, OTHER_FIRST = True, False


def draws(monkeypatch: pytest.MonkeyPatch, *order: bool) -> None:
    """Have these orders drawn for the pairs, then the last of them."""

    def drawn(pairs: int, _chance: object) -> list[bool]:
        return [*order, *[order[-1]] * pairs][:pairs]

    monkeypatch.setattr(interleaved_series, "drawn_order", drawn)


@pytest.mark.varied
@pytest.mark.parametrize("failing", ["old", "new"])
def test_a_side_that_fails_ends_the_comparison_and_both_are_completed(tmp_path, urls, capsys, monkeypatch, failing):
    draws(monkeypatch, BASE_FIRST, OTHER_FIRST)
    db = tmp_path / "notebook.db"
    hook = takes_away(tmp_path, failing, 9)
    words = ("--prepare", hook, "--json")
    assert sharebench(db, "run", urls[0], *ARGUMENTS, "--versus", urls[1], *words) == 4
    answer = capsys.readouterr()
    both = series_by_label(db)
    intact = "old/file" if failing == "new" else "new/file"
    assert both[f"{failing}/file"].status is SeriesStatus.FAILED
    assert both[intact].status is SeriesStatus.INTERRUPTED
    assert f"--resume {both['old/file'].id}" in answer.err
    # Three pairs and more were measured: they are compared.
    assert json.loads(answer.out)["in_turns"]

    brought_back(tmp_path, failing)
    code = sharebench(db, "run", "--resume", both["new/file"].id, *words)
    comparison = json.loads(capsys.readouterr().out)
    assert code in {0, 1, 3}
    assert comparison["base"] == both["old/file"].id
    assert comparison["in_turns"]
    completed = series_by_label(db)
    assert [len(series.measured()) for series in completed.values()] == [6, 6]
    assert {series.status for series in completed.values()} == {SeriesStatus.COMPLETE}
    pairs = paired_runs(completed["old/file"], completed["new/file"])
    assert pairs is not None
    # The pair that was interrupted does not count.
    assert len(pairs) in {5, 6}


def test_two_pairs_are_not_compared_after_a_failure(tmp_path, urls, capsys, monkeypatch):
    draws(monkeypatch, BASE_FIRST, OTHER_FIRST)
    db = tmp_path / "notebook.db"
    hook = takes_away(tmp_path, "old", 5)
    assert sharebench(db, "run", urls[0], *ARGUMENTS, "--versus", urls[1], "--prepare", hook, "--json") == 4
    answer = capsys.readouterr()
    assert answer.out == ""
    assert f"--resume {series_by_label(db)['old/file'].id}" in answer.err


@pytest.mark.long
def test_of_three_sides_the_others_go_on(tmp_path, urls, capsys):
    db = tmp_path / "notebook.db"
    hook = takes_away(tmp_path, "third", 14)
    words = ("--versus", urls[1], "--versus", urls[2], "--prepare", hook, "--json")
    assert sharebench(db, "run", urls[0], *ARGUMENTS, *words) == 4
    error_text = capsys.readouterr().err
    statuses = {label: series.status for label, series in series_by_label(db).items()}
    assert statuses == {
        "old/file": SeriesStatus.COMPLETE,
        "new/file": SeriesStatus.COMPLETE,
        "third/file": SeriesStatus.FAILED,
    }

    # Whichever side is named can be resumed: one that is complete, too.
    told_id = series_by_label(db)["old/file"].id
    assert f"--again {told_id}" in error_text
    brought_back(tmp_path, "third")
    sharebench(db, "run", "--resume", told_id, "--prepare", hook, "--json")
    comparisons = json.loads(capsys.readouterr().out)
    assert [comparison["in_turns"] for comparison in comparisons] == [True, True]
    assert {series.status for series in series_by_label(db).values()} == {SeriesStatus.COMPLETE}
    assert sharebench(db, "run", "--resume", told_id) == 2
    assert "complete" in capsys.readouterr().err


@pytest.mark.long
def test_a_comparison_is_measured_again_as_a_whole(tmp_path, urls, capsys):
    db = tmp_path / "notebook.db"
    sharebench(db, "run", urls[0], "--runs", "4", *QUICK, "--versus", f"{urls[1]} --block 64K", "--json")
    first = json.loads(capsys.readouterr().out)

    sharebench(db, "run", "--again", first["other"], "--json")
    again = json.loads(capsys.readouterr().out)
    assert again["in_turns"]
    with Notebook(db) as notebook:
        before = [notebook.series(first[side]) for side in ("base", "other")]
        repeated = [notebook.series(again[side]) for side in ("base", "other")]
        assert [series.id for series in series_of_comparison(notebook, again["other"])] == [
            series.id for series in repeated
        ]
    assert [series.target for series in repeated] == [series.target for series in before]
    assert [series.base_id for series in repeated] == [series.id for series in before]
    assert [series.label for series in repeated] == [series.label for series in before]
    assert repeated[1].client.block_bytes == 64 << 10


def test_a_series_by_itself_is_measured_again_alone(tmp_path, urls, capsys):
    db = tmp_path / "notebook.db"
    sharebench(db, "run", urls[0], "--runs", "3", *QUICK)
    sharebench(db, "run", "--again", "last")
    capsys.readouterr()
    assert len(series_by_label(db)) == 1  # both without a label
    with Notebook(db) as notebook:
        assert len(notebook.heads()) == 2
        assert series_of_comparison(notebook, notebook.heads()[0].id) == []


@pytest.mark.parametrize(("resumed_at", "pairs"), [("10:00:04.500", 7), ("10:00:03.500", 8), ("10:00:05.500", 8)])
def test_a_pair_that_was_interrupted_between_its_runs_does_not_count(resumed_at, pairs):
    """Of the eight pairs, the third begins with the base at 4 s, and the other follows at 5 s."""
    base, other = interleaved(one(1, [100e6] * 8), one(2, [110e6] * 8))
    starts = [run.started_at for run in base.runs if run.phase is Phase.MEASURED]
    assert starts[2] == "2026-01-31T10:00:04.000Z"
    resumed = replace(other, resumed_at=(f"2026-01-31T{resumed_at}Z",))
    counted = paired_runs(base, resumed)
    assert counted is not None
    assert len(counted) == pairs


@pytest.mark.parametrize(("done_runs", "pairs"), [(8, 8), (5, 5), (3, 3), (2, None), (0, None)])
def test_runs_that_were_completed_after_the_base_ended_are_in_no_pair(done_runs, pairs):
    """Those of before the break still count; where they are too few, whole series are compared."""
    base, other = interleaved(one(1, [100e6] * 8), one(2, [110e6] * 8))
    late_runs = [
        run if run.phase is Phase.WARM_UP or run.number <= done_runs else replace(run, started_at=later(run.number))
        for run in other.runs
    ]
    completed = replace(other, runs=tuple(late_runs), resumed_at=("2026-01-31T10:59:00.000Z",))
    counted = paired_runs(base, completed)
    assert (None if counted is None else len(counted)) == pairs
    if counted:
        assert [base_run.number for base_run, _ in counted] == [*range(1, done_runs + 1)]


def later(number: int) -> str:
    return f"2026-01-31T11:00:{number:02}.000Z"


@pytest.mark.parametrize(("comparison_ids", "pairs"), [(("a", "a"), 3), (("a", "b"), None), (("", ""), None)])
def test_pairs_of_one_order_throughout_count_where_they_are_of_one_comparison(comparison_ids, pairs):
    """As the first three pairs may have been drawn."""
    sides = []
    for number, comparison_id in enumerate(comparison_ids):
        series = one(number, [100e6] * 3)
        assert series.plan is not None
        begun = [replace(run, started_at=f"2026-01-31T10:00:{2 * run.number + number:02}.000Z") for run in series.runs]
        plan = replace(series.plan, interleaved_with=comparison_id)
        sides.append(replace(series, runs=tuple(begun), plan=plan))

    counted = paired_runs(*sides)
    assert (None if counted is None else len(counted)) == pairs
