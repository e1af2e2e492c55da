"""What compare takes for the sides: baselines of several series, repeats, the base measured again, history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.base.errors import UsageError
from app.cli.main import run
from app.comparison.audit_form import audit_form
from app.comparison.named import Counted
from app.comparison.sides import sides_to_compare
from app.comparison.tried import tried_here
from app.load.scenario import find_scenario
from app.method.next_after_comparison import after_comparison
from forms.comparison.document import comparison_document
from forms.comparison.judged_sides import Sides
from forms.comparison.pair_report import pair_report
from forms.comparison.remarks import comparison_remarks, weaknesses
from forms.comparison.summary import comparisons
from forms.comparison.verdict import compare_sides
from forms.comparison.wording import comparison_headline, comparison_sentences, comparison_title
from forms.exporters import markdown
from forms.exporters.text import report_text
from forms.stats.decision import Doubt, Limits, Verdict
from storage.changes import ChangeKind, LoadWindow, TrialPlan
from storage.looks import Audit, AuditFinding, AuditScope, Ruling
from storage.notebook import Notebook
from storage.recordings import UnknownReferenceError
from storage.records import (
    Change,
    Command,
    Evidence,
    Experiment,
    ExperimentKind,
    Quiet,
    QuietVerdict,
    Series,
    SeriesStatus,
)
from tests.builders import CLIENT, interleaved, one
from tests.recordings import MAKERS

STEADY = (100e6, 101e6, 99e6, 100e6, 100.5e6)


def at(day: int, factor: float = 1.0, **fields: object) -> Series:
    return one(day, [rate * factor for rate in STEADY], **{"label": "", **fields})


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Notebook]:
    with Notebook(tmp_path / "notebook.db") as opened:
        yield opened


def ids(series: tuple[Series, ...]) -> list[int]:
    return [int(each.id, 16) for each in series]


def test_a_baseline_stands_for_all_its_series(notebook: Notebook) -> None:
    for each in (at(1), at(2, 1.001), at(3, 0.999), at(4, 1.1)):
        notebook.add(each)
    notebook.set_baseline("before", *(f"{number:012x}" for number in (1, 2, 3)))
    (sides,) = sides_to_compare(notebook, ("before", f"{4:012x}"))
    assert (ids(sides.base), ids(sides.other)) == ([3, 1, 2], [4])
    assert compare_sides(sides, Limits()).verdict == "faster"
    (by_id,) = sides_to_compare(notebook, (f"{1:012x}", f"{4:012x}"))
    assert (ids(by_id.base), list(by_id.unnamed_ids)) == ([1], [f"{2:012x}", f"{3:012x}"])
    (all_repeats,) = sides_to_compare(notebook, (f"{1:012x}", f"{4:012x}"), counted=Counted.REPEATS)
    assert (ids(all_repeats.base), all_repeats.unnamed_ids) == ([1, 2, 3], ())


def test_the_series_of_a_side_stand_in_the_order_in_which_they_were_measured(notebook: Notebook) -> None:
    for series in (at(2, 1.001), at(1), at(3, 0.999), at(4, 1.3, client=replace(CLIENT, in_flight=1))):
        notebook.add(series)
    notebook.set_baseline("before", *(f"{number:012x}" for number in (3, 1, 2)))
    (form,) = comparisons(sides_to_compare(notebook, ("before", f"{4:012x}")))
    assert [summary.series.id for summary in form.bases_in_time] == [f"{number:012x}" for number in (1, 2, 3)]
    assert form.base.series.id == f"{3:012x}", "the newest is the one that was named"
    report = pair_report(form)
    (averages,) = [table for table in report.tables if table.caption.startswith("Averages")]
    rates = [row.cells[2].value for row in averages.rows[:3]]
    assert rates == [pytest.approx(factor * 100.1e6, rel=1e-3) for factor in (1.0, 1.001, 0.999)]


def test_repeats_that_nobody_named_are_offered_and_not_averaged_in(notebook: Notebook) -> None:
    """The averages are those of what was named; earlier series still tell how much equal ones differ."""
    earlier, before, after = at(1, 1.001), at(2), at(4, 1.3, client=replace(CLIENT, in_flight=1))
    for series in (earlier, before, at(3, 0.7, base_id=before.id), after, at(5, 0.7, base_id=before.id)):
        notebook.add(series)
    (form,) = comparisons(sides_to_compare(notebook, (before.id, after.id)))
    assert form.comparison.base_bytes_per_second == pytest.approx(100.1e6)
    assert (form.comparison.base_ids, form.comparison.history_count) == ((before.id,), 2), "1, and the repeat before 4"
    assert [int(series_id, 16) for series_id in form.comparison.unnamed_ids] == [3, 5]
    (told,) = [remark for remark in comparison_remarks(form) if "--repeats" in remark]
    assert f"`sharebench compare {before.id} {after.id} --repeats`" in told
    assert comparison_document(form.comparison)["unnamed_series"] == [f"{3:012x}", f"{5:012x}"]

    (all_of_them,) = comparisons(sides_to_compare(notebook, (before.id, after.id), counted=Counted.REPEATS))
    assert all_of_them.comparison.base_bytes_per_second == pytest.approx(100.1e6 * 2.4 / 3)
    assert form.comparison.with_repeats is not None
    assert form.comparison.with_repeats.change_percent == all_of_them.comparison.change_percent
    assert comparison_headline(all_of_them.comparison).removesuffix(".") in told, "what that gives"
    assert not any("--repeats" in remark for remark in comparison_remarks(all_of_them))

    (alone,) = comparisons(sides_to_compare(notebook, (before.id, after.id), counted=Counted.ALONE))
    assert (alone.comparison.base_ids, alone.comparison.history_count) == ((before.id,), 0)


@pytest.mark.parametrize("status", SeriesStatus)
def test_an_interrupted_series_is_averaged_with_no_other(notebook: Notebook, status: SeriesStatus) -> None:
    before, after = at(1), at(2, 1.3, client=replace(CLIENT, in_flight=1))
    part = replace(at(3, 0.7, base_id=before.id), status=status, error="cut off" if status == "failed" else None)
    for series in (before, after, part):
        notebook.add(series)
    is_whole = status is SeriesStatus.COMPLETE
    (sides,) = sides_to_compare(notebook, (before.id, after.id), counted=Counted.REPEATS)
    assert ids(sides.base) == ([1, 3] if is_whole else [1])
    (named,) = sides_to_compare(notebook, (before.id, after.id))
    assert named.unnamed_ids == ((part.id,) if is_whole else ())

    notebook.set_baseline("before", before.id, part.id)
    (of_baseline,) = sides_to_compare(notebook, ("before", after.id))
    assert ids(of_baseline.base) == ([3, 1] if is_whole else [1])


def test_a_series_of_a_baseline_that_is_not_averaged_in_is_named(notebook: Notebook) -> None:
    """Its settings are others than those of the newest, or it was not measured whole."""
    newest, repeat, after = at(4), at(2, 1.01), at(5, 1.3, client=replace(CLIENT, in_flight=1))
    with_other_blocks = at(3, client=replace(CLIENT, block_bytes=1 << 16))
    interrupted = replace(at(1), status=SeriesStatus.INTERRUPTED)
    for series in (interrupted, repeat, with_other_blocks, newest, after):
        notebook.add(series)
    notebook.set_baseline("before", *(f"{number:012x}" for number in (1, 2, 3, 4)))

    for references in (("before", after.id), (after.id, "before")):
        (form,) = comparisons(sides_to_compare(notebook, references))
        comparison = form.comparison
        assert {comparison.base_ids, comparison.other_ids} == {(newest.id, repeat.id), (after.id,)}
        left_out = {member.series.id: member for member in comparison.left_out_members}
        assert left_out.keys() == {interrupted.id, with_other_blocks.id}
        assert [difference.name for difference in left_out[with_other_blocks.id].differences] == ["client.block_bytes"]
        assert comparison_document(comparison)["left_out_baseline_series"] == [*left_out]
        remarks = " ".join(comparison_remarks(form))
        assert f'Series {interrupted.id} of baseline "before" is not averaged in: it is interrupted.' in remarks
        assert f'Series {with_other_blocks.id} of baseline "before" is not averaged in: client: block size' in remarks

    (by_id,) = sides_to_compare(notebook, (newest.id, after.id))
    assert by_id.left_out_members == (), "nobody named the baseline"


def test_a_baseline_keeps_its_name_on_either_side_and_others_are_told_apart_by_time(notebook: Notebook) -> None:
    for series in (at(1), at(2, 1.2), at(3, 1.4), at(4, 1.6, label="new switch"), at(5, 1.8), at(6, 2.0)):
        notebook.add(series)
    notebook.set_baseline("march", f"{1:012x}", f"{2:012x}")
    notebook.set_baseline("april", f"{3:012x}")
    named = ["march", "april", f"{4:012x}", f"{5:012x}", f"{6:012x}"]
    found = [form.comparison for form in comparisons(sides_to_compare(notebook, named))]
    assert {comparison.base_name for comparison in found} == {"march"}
    assert [comparison.other_name for comparison in found] == [
        "april",
        "new switch",
        "get data/big.bin (2026-01-05 10:00)",
        "get data/big.bin (2026-01-06 10:00)",
    ]
    assert comparison_title(found[0]) == "april against march (2 series)"
    assert sorted(found[0].names.values()) == ["april", "march (2026-01-01 10:00)", "march (2026-01-02 10:00)"]

    (by_id,) = comparisons(sides_to_compare(notebook, (f"{3:012x}", f"{2:012x}")))
    assert by_id.comparison.base_name == "april", "it is all that the baseline has"
    assert by_id.comparison.other_name == "get data/big.bin", "one of two has not the name of both"


def test_a_side_is_called_by_the_series_that_was_named_whatever_its_repeats_are_called(notebook: Notebook) -> None:
    few = replace(CLIENT, in_flight=1)
    morning, evening = at(1, label="morning"), at(2, 1.001, label="evening", base_id=f"{1:012x}")
    for each in (morning, evening, at(3, 1.2, label="fast", client=few)):
        notebook.add(each)
    notebook.set_baseline("before", evening.id)
    for named, called in (
        (morning.id, "morning (2 series)"),
        (evening.id, "before (2 series)"),
        ("before", "before (2 series)"),
    ):
        (sides,) = sides_to_compare(notebook, (named, f"{3:012x}"), counted=Counted.REPEATS)
        assert comparison_title(compare_sides(sides, Limits())) == f"fast against {called}"
        assert sides.base[0] == notebook.series(named), "and it stands first"


def test_the_newest_two_whose_runs_were_interleaved_are_compared_in_place_of_all_repeats(notebook: Notebook) -> None:
    few = replace(CLIENT, in_flight=1)
    before, after = at(1), at(2, 0.7, client=few)
    first = interleaved(at(3, base_id=before.id), at(4, 0.8, client=few, base_id=after.id))
    newest = interleaved(at(5, base_id=before.id), at(6, 0.9, client=few, base_id=after.id))
    for each in (before, after, *first, *newest):
        notebook.add(each)
    all_of_them = Counted.REPEATS
    (sides,) = sides_to_compare(notebook, (before.id, after.id), counted=all_of_them, by_interleaved=True)
    assert (ids(sides.base), ids(sides.other)) == ([5], [6])
    assert compare_sides(sides, Limits()).interleaved
    for named, others in ((newest[1].id, ([5], [6])), (after.id, ([5], [6]))):
        (found,) = sides_to_compare(notebook, (before.id, named), counted=all_of_them)
        assert (sorted(ids(found.base)), sorted(ids(found.other))) == others, (
            "what was named, or its partner, or came later"
        )
    (never,) = sides_to_compare(notebook, (before.id, newest[1].id), counted=all_of_them, by_interleaved=False)
    assert len(never.other) == 3
    (alone,) = sides_to_compare(notebook, (before.id, after.id), counted=Counted.ALONE)
    assert (ids(alone.base), ids(alone.other)) == ([1], [2])
    (as_named,) = sides_to_compare(notebook, (before.id, after.id))
    assert (ids(as_named.base), ids(as_named.other), as_named.interleaved_since) == ([1], [2], True)
    (same,) = sides_to_compare(notebook, (before.id, newest[0].id))
    assert compare_sides(same, Limits()).doubt is Doubt.SAME_SETTINGS
    for named_base, told in ((before.id, True), (newest[0].id, False)):
        (form,) = comparisons(sides_to_compare(notebook, (named_base, newest[1].id), counted=all_of_them))
        assert any("stand for the series that were named" in remark for remark in comparison_remarks(form)) is told
    several = sides_to_compare(notebook, (before.id, after.id, newest[1].id))
    assert [(ids(one.base), ids(one.other)) for one in several] == [([1], [2]), ([1], [6])], "as they were named"
    assert [one.interleaved_since for one in several] == [True, True]
    for after_, told in ((after, False), (replace(after, runs=at(2, 0.97).runs), True)):
        judged = compare_sides(replace(several[0], other=(after_,)), Limits())
        said = "Their runs were interleaved later: " in comparison_sentences(judged)
        assert (judged.known, judged.settle, said) == (not told, None, told)
    both = sides_to_compare(notebook, (newest[0].id, after.id, newest[1].id))
    assert (ids(both[1].base), ids(both[1].other)) == ([5], [6]), "both of the pair are named"


@pytest.mark.parametrize(
    ("day", "runs", "wild", "stands"),
    [(5, 5, False, True), (2, 5, False, False), (5, 2, False, False), (5, 5, True, False)],
    ids=["later", "no later", "cut off", "tells nothing"],
)
def test_a_pair_that_nobody_named_stands_in_where_it_came_later_and_has_an_answer(
    notebook: Notebook, day: int, runs: int, *, wild: bool, stands: bool
) -> None:
    few = replace(CLIENT, in_flight=1)
    before, after = at(1), at(2, 0.5, client=few)
    rates = (100e6, 180e6, 60e6, 150e6, 90e6) if wild else (50e6, 50.1e6, 50e6, 50.2e6, 50e6)
    pair = interleaved(
        one(day, (100e6, 100.2e6, 100e6, 100.1e6, 100e6)[:runs], base_id=before.id),
        one(6, rates[:runs], client=few, base_id=after.id),
    )
    for each in (before, after, at(3), *(replace(each, id=f"{number:012x}") for number, each in enumerate(pair, 11))):
        notebook.add(each)
    (sides,) = sides_to_compare(notebook, (before.id, after.id), counted=Counted.REPEATS)
    assert sides.stands_in is stands
    assert ((ids(sides.base), ids(sides.other)) == ([11], [12])) is stands
    if runs == 5:
        assert compare_sides(sides, Limits()).verdict == "slower", "the answer is not lost"
    several = sides_to_compare(notebook, (before.id, after.id, at(3).id), each_is_a_side=True)
    assert several[0].interleaved_since is stands


def test_a_base_again_that_was_interleaved_counts_where_it_was_named(notebook: Notebook) -> None:
    few = replace(CLIENT, in_flight=1)
    pair = interleaved(at(3, base_id=f"{1:012x}"), at(4, 0.8, client=few, base_id=f"{2:012x}"))
    for each in (at(1), at(2, 0.7, client=few), *pair, at(5, client=replace(CLIENT, in_flight=2))):
        notebook.add(each)
    first, _ = sides_to_compare(notebook, [f"{number:012x}" for number in (1, 2, 5)], [f"{3:012x}"])
    assert ids(first.base) == [1, 3]


def test_two_series_of_one_baseline_are_variation(notebook: Notebook) -> None:
    for each in (at(1), at(2, 1.2)):
        notebook.add(each)
    notebook.set_baseline("before", f"{1:012x}", f"{2:012x}")
    (sides,) = sides_to_compare(notebook, (f"{1:012x}", f"{2:012x}"))
    assert compare_sides(sides, Limits()).doubt is Doubt.SAME_SETTINGS
    with pytest.raises(UsageError, match="compared with itself"):
        sides_to_compare(notebook, (f"{1:012x}", f"{1:012x}"))


def test_the_third_of_three_is_the_base_again_where_its_settings_say_so(notebook: Notebook) -> None:
    change = Change(name="in-flight", value="1", previous="4", evidence=Evidence.CONFIRMED)
    changed = at(2, 0.8, client=replace(CLIENT, in_flight=1), change=change)
    for each in (at(1), changed, at(3, 1.001), at(4, 1.0, client=replace(CLIENT, in_flight=2))):
        notebook.add(each)
    (sides,) = sides_to_compare(notebook, [f"{number:012x}" for number in (1, 2, 3)])
    assert (ids(sides.base), ids(sides.other)) == ([1, 3], [2])
    assert compare_sides(sides, Limits()).verdict == "slower"
    assert len(sides_to_compare(notebook, [f"{number:012x}" for number in (1, 2, 4)])) == 2


def test_the_base_again_can_be_named(notebook: Notebook) -> None:
    """Where nothing can be seen of the change, only the person knows which series is the base again."""
    for each in (at(1), at(2, 1.2), at(3, 1.001)):
        notebook.add(each)
    assert len(sides_to_compare(notebook, [f"{number:012x}" for number in (1, 2, 3)])) == 2
    (sides,) = sides_to_compare(notebook, (f"{1:012x}", f"{2:012x}"), [f"{3:012x}"])
    assert compare_sides(sides, Limits()).verdict == "faster"


def test_the_base_put_back_counts_with_the_repeats(notebook: Notebook) -> None:
    """What was made from a series without a change is its repeat, unless its settings are seen to differ."""
    change = Change(name="strict sync", value="no", evidence=Evidence.UNCONFIRMED)
    for each in (at(1), at(2, 1.2, base_id=f"{1:012x}", change=change), at(3, 1.001, base_id=f"{1:012x}")):
        notebook.add(each)
    (sides,) = sides_to_compare(notebook, (f"{1:012x}", f"{2:012x}"), counted=Counted.REPEATS)
    assert (ids(sides.base), ids(sides.other)) == ([1, 3], [2])
    assert compare_sides(sides, Limits()).verdict == "faster"
    (alone,) = sides_to_compare(notebook, (f"{1:012x}", f"{3:012x}"))
    assert compare_sides(alone, Limits()).doubt is Doubt.SAME_SETTINGS
    for number, value in ((1, "Yes"), (3, "No")):
        notebook.set_facts(f"{number:012x}", "server", {"smb.conf/share/strict sync": value})
    (not_put_back,) = sides_to_compare(notebook, (f"{1:012x}", f"{2:012x}"), counted=Counted.REPEATS)
    assert ids(not_put_back.base) == [1]


def test_a_change_between_that_nobody_saw_keeps_two_series_from_being_called_equal(notebook: Notebook) -> None:
    """In-flight 4, a change of the server, in-flight 1, 4: the ends show the same, and need not be the same."""
    for evidence in (Evidence.CONFIRMED, Evidence.UNCONFIRMED):
        first = 1 if evidence is Evidence.CONFIRMED else 11
        claims = (
            None,
            Change(name="log level", value="0", evidence=evidence),
            Change(name="in-flight", value="1", previous="4", evidence=Evidence.CONFIRMED),
            Change(name="in-flight", value="4", previous="1", evidence=Evidence.CONFIRMED),
        )
        for number, change in enumerate(claims, first):
            depth = 1 if change and change.value == "1" else 4
            client = replace(CLIENT, in_flight=depth)
            made = f"{number - 1:012x}" if change else None
            notebook.add(at(number, 1 + number / 50, client=client, change=change, base_id=made, experiment=str(first)))
    (seen,) = sides_to_compare(notebook, (f"{1:012x}", f"{4:012x}"))
    assert not seen.unseen
    assert compare_sides(seen, Limits()).doubt is Doubt.SAME_SETTINGS
    (unseen,) = sides_to_compare(notebook, (f"{11:012x}", f"{14:012x}"))
    assert unseen.unseen
    assert compare_sides(unseen, Limits()).doubt is not Doubt.SAME_SETTINGS


def test_earlier_series_of_the_path_are_history_by_themselves_and_later_ones_are_not(notebook: Notebook) -> None:
    for day, factor in enumerate((1, 1.001, 0.999, 1.002, 0.998), 1):
        notebook.add(at(day, factor))
    notebook.add(at(6, command=Command.PUT))
    for each in (at(8), at(9, 1.1), at(10, 1.001)):
        notebook.add(each)
    (sides,) = sides_to_compare(notebook, (f"{8:012x}", f"{9:012x}"))
    assert [ids(group) for group in sides.history] == [[1, 2, 3, 4, 5]]
    found = compare_sides(sides, Limits())
    assert found.variation is not None
    assert (found.verdict, found.variation.freedom, found.history_count) == ("faster", 8, 5)
    assert "judged by 5 earlier series as well, the newest of them measured 4 days before" in comparison_sentences(
        found
    )
    (one_only,) = sides_to_compare(notebook, (f"{1:012x}", f"{9:012x}"))
    assert one_only.history == ()


def test_what_was_measured_inside_a_trial_is_no_history(notebook: Notebook) -> None:
    notebook.add_experiment(Experiment(name="trial of it", kind=ExperimentKind.TRIAL))
    notebook.add(at(1, experiment="trial of it"))
    for each in (at(2), at(3, 1.1)):
        notebook.add(each)
    (sides,) = sides_to_compare(notebook, (f"{2:012x}", f"{3:012x}"))
    assert sides.history == ()


def test_history_is_ninety_days_long(notebook: Notebook) -> None:
    old = [replace(at(day), created_at=moment) for day, moment in ((1, "2025-10-31T10:00:00.000Z"),
                                                                   (2, "2025-11-04T10:00:00.000Z"))]  # fmt: skip
    for each in (*old, at(30), at(31, 1.1)):
        notebook.add(replace(each, created_at=each.created_at))
    (sides,) = sides_to_compare(notebook, (f"{30:012x}", f"{31:012x}"))
    assert [ids(group) for group in sides.history] == [[2]]


def test_the_base_again_is_refused_where_something_else_differs(notebook: Notebook) -> None:
    sealed = replace(CLIENT, encryption="aes-128-gcm")
    for each in (at(1), at(2, 1.2), at(3, client=sealed)):
        notebook.add(each)
    with pytest.raises(UsageError, match=r"is not 000000000001 measured again: client: encryption none → aes-128-gcm"):
        sides_to_compare(notebook, (f"{1:012x}", f"{2:012x}"), [f"{3:012x}"])


def test_a_label_of_its_own_names_a_series(notebook: Notebook) -> None:
    for each in (at(1, label="before"), at(2, 1.2, label="after"), at(3, label="twice"), at(4, label="twice")):
        notebook.add(each)
    (sides,) = sides_to_compare(notebook, ("before", "after"))
    assert (ids(sides.base), ids(sides.other)) == ([1], [2])
    with pytest.raises(
        UnknownReferenceError, match="2 recordings have the label 'twice': 000000000003 of 2026-01-03 10:00"
    ):
        sides_to_compare(notebook, ("before", "twice"))


NAME = "strict sync"
FASTER = Change(name="Strict Sync", value="no", previous="yes")


def steps(notebook: Notebook, count: int) -> None:
    """A base, and so many later series of double its rate after the setting was changed."""
    notebook.add(one(1))
    for number in range(2, 2 + count):
        changed = one(number, (200e6, 201e6, 199e6, 200e6, 200e6), base_id=f"{1:012x}", change=FASTER)
        notebook.add(replace(changed, created_at=f"2026-02-{number:02}T10:00:00.000Z"))


def test_trials_sweeps_and_steps_are_told_and_other_settings_are_not(tmp_path: Path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        MAKERS["trial"](notebook)
        steps(notebook, 1)
        told = tried_here(notebook, [NAME, "strict locking"])
    assert list(told) == [NAME]
    assert len(told[NAME]) == 2
    assert told[NAME][0].startswith("2026-02-02, get smb://nas/data")
    assert "Strict Sync = no: Faster by 100 %" in told[NAME][0]
    assert told[NAME][1].endswith('Inconclusive: no difference seen, with "v1".')


def test_a_change_without_a_base_and_a_base_without_a_change_are_no_steps(tmp_path: Path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        steps(notebook, 0)
        notebook.add(one(2, change=FASTER))
        notebook.add(one(3, base_id=f"{1:012x}"))
        assert tried_here(notebook, [NAME]) == {}


def test_only_the_newest_are_told(tmp_path: Path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        steps(notebook, 4)
        told = tried_here(notebook, [NAME])[NAME]
    assert [line[:10] for line in told] == ["2026-02-05", "2026-02-04", "2026-02-03"]


def test_an_audit_and_the_catalogue_tell_it(tmp_path: Path, capsys):
    path = tmp_path / "notebook.db"
    finding = AuditFinding(
        key="unsafe", verdict=Ruling.RISKY, cost=1, setting=NAME, value="no", why="Unsafe.", what_to_do="Delete it.",
        parameter=NAME,
    )  # fmt: skip
    audit = Audit(id="a" * 12, created_at="2026-03-01T10:00:00Z", subject="nas", scope=AuditScope.FILE,
                  findings=(finding, replace(finding, verdict=Ruling.USELESS, setting="sync")))  # fmt: skip
    with Notebook(path) as notebook:
        steps(notebook, 1)
        text = markdown.render([audit_form(notebook, audit)], paper="a4").decode()
    assert text.count("Measured here 2026-02-02, get") == 2
    assert run(["--db", str(path), "catalogue", NAME], lambda *_args, **_more: 0) == 0
    assert "measured here 2026-02-02, get" in capsys.readouterr().out
    assert run(["--db", str(tmp_path / "none.db"), "catalogue", NAME], lambda *_args, **_more: 0) == 0
    assert "measured here" not in capsys.readouterr().out


MADE = Change(name="strict sync", value="no", previous="yes")


def with_trial(
    notebook: Notebook,
    day: int = 3,
    pairs: int = 8,
    fields: dict[str, Any] | None = None,
    made: Change = MADE,
    **plan: Any,
) -> None:
    """Series 1, series 2 with the change, and a trial of it in which it is half as fast."""
    fields = fields or {}
    notebook.add(at(1))
    notebook.add(at(2, 1.12, change=made, base_id=f"{1:012x}"))
    usual = {"kind": ChangeKind.SMB_CONF, "name": "strict sync", "previous": "yes", "values": ("no",), "looks": (8,)}
    of_trial = TrialPlan(**{**usual, **plan})
    moment = f"2026-01-{day:02}T10:00:00.000Z"
    notebook.add_experiment(Experiment(name="tried", kind=ExperimentKind.TRIAL, created_at=moment))
    notebook.set_trial("tried", of_trial)
    change = Change(name=of_trial.name, value=of_trial.values[0])
    rates = [1e8 + number for number in range(pairs)]
    tried = one(11, [rate / 2 for rate in rates], experiment="tried", change=change, **fields)
    notebook.add(tried)  # in any order
    notebook.add(one(10, rates, experiment="tried", **fields))


@pytest.mark.varied
@pytest.mark.parametrize(
    ("trial", "is_told"),
    [
        ({}, True),
        ({"name": "Strict Sync"}, True),
        ({"fields": {"target": replace(at(1).target, user="other")}}, True),
        ({"day": 2}, False),
        ({"pairs": 7}, False),
        ({"name": "sync always"}, False),
        ({"values": ("yes",), "previous": "no"}, False),
        ({"previous": "no"}, False),
        ({"previous": "auto"}, False),
        ({"kind": ChangeKind.HOOK}, False),
        ({"load": LoadWindow(users=2, scenario=find_scenario("small"))}, False),
        ({"fields": {"command": Command.PUT}}, False),
        ({"fields": {"target": replace(at(1).target, path="other")}}, False),
        ({"fields": {"client": replace(CLIENT, block_bytes=4096)}}, False),
        ({"fields": {"client": replace(CLIENT, name="smbclient")}}, False),
        ({"fields": {"environment": {"server": {"smb.conf/global/log level": "3"}}}}, True),
    ],
    ids=str,
)
def test_a_trial_of_the_change_is_told_beside_the_comparison(
    notebook: Notebook, trial: dict[str, Any], is_told: bool
) -> None:
    with_trial(notebook, **trial)
    (sides,) = sides_to_compare(notebook, (f"{1:012x}", f"{2:012x}"))
    found = compare_sides(sides, Limits())
    assert (found.tried is not None) is is_told
    assert (found.decided is Verdict.SLOWER) is is_told
    assert (found.settle is None) is is_told
    assert comparison_sentences(found).startswith(
        "These series alone cannot tell: +12.0 % (" if is_told else "Probably faster: "
    )
    assert (comparison_document(found).get("trial") == {"experiment": "tried", "verdict": "slower"}) is is_told
    text = report_text(pair_report(comparisons([sides])[0]))
    assert ("Slower by 50.0 %" in text) is is_told


@pytest.mark.parametrize(("base", "other", "day"), [(1, 2, 3), (4, 2, 3), (1, 2, 6), (1, 5, 6), (4, 2, 6), (4, 5, 6)])
def test_whichever_repeat_is_named_the_trial_is_told(notebook: Notebook, base: int, other: int, day: int) -> None:
    with_trial(notebook, day=day)
    notebook.add(at(4, base_id=f"{1:012x}"))
    notebook.add(at(5, 1.12, change=MADE, base_id=f"{4:012x}"))
    (sides,) = sides_to_compare(notebook, (f"{base:012x}", f"{other:012x}"))
    found = compare_sides(sides, Limits())
    assert found.decided is Verdict.SLOWER
    assert ("These series alone cannot tell" in comparison_sentences(found)) is (found.verdict is Verdict.UNKNOWN)
    assert next(after_comparison(found)).name.startswith("Make another change, starting from get"), "the base"


def test_a_trial_answers_the_other_way_round_where_the_sides_are_swapped(notebook: Notebook) -> None:
    with_trial(notebook)
    (sides,) = sides_to_compare(notebook, (f"{2:012x}", f"{1:012x}"))
    found = compare_sides(sides, Limits())
    assert (found.decided, found.settle) == (Verdict.FASTER, None)
    assert "Slower by 50.0 %" in report_text(pair_report(comparisons([sides])[0])), "it is told as it was measured"
    assert next(after_comparison(found)).name.startswith("Make another change, starting from get"), (
        "the one without the change"
    )
    assert found.tried is not None
    same = replace(found, tried=replace(found.tried, verdict=Verdict.SAME))
    assert same.decided is Verdict.SAME


def test_a_trial_does_not_decide_for_a_series_without_the_change(notebook: Notebook) -> None:
    with_trial(notebook, made=replace(MADE, evidence=Evidence.CONTRADICTED))
    (sides,) = sides_to_compare(notebook, (f"{1:012x}", f"{2:012x}"))
    found = compare_sides(sides, Limits())
    assert (found.doubt, found.decided, found.tried) == (Doubt.CONTRADICTED, Verdict.UNKNOWN, None)
    assert not any(step.name.startswith("Continue") for step in after_comparison(found))


@pytest.mark.parametrize(("level", "is_told"), [("0", True), ("3", False)])
def test_a_trial_measured_with_other_settings_than_the_base_is_not_told(
    notebook: Notebook, level: str, is_told: bool
) -> None:
    with_trial(notebook, fields={"environment": {"server": {"smb.conf/global/log level": level}}})
    (sides,) = sides_to_compare(notebook, (f"{1:012x}", f"{2:012x}"))
    assert sides.tried is not None, "what is not known does not differ"
    notebook.remove(f"{1:012x}")
    notebook.remove(f"{2:012x}")
    seen = {"server": {"smb.conf/global/log level": "0"}}
    notebook.add(at(1, environment=seen))
    notebook.add(at(2, 1.12, change=MADE, base_id=f"{1:012x}", environment=seen))
    (sides,) = sides_to_compare(notebook, (f"{1:012x}", f"{2:012x}"))
    assert (sides.tried is not None) is is_told


BUSY_TIME, QUIET_TIME = (Quiet(verdict=verdict) for verdict in (QuietVerdict.BUSY, QuietVerdict.QUIET))


@pytest.mark.parametrize(
    ("base", "again", "busy"),
    [(BUSY_TIME, BUSY_TIME, [1, 3]), (BUSY_TIME, QUIET_TIME, []), (QUIET_TIME, BUSY_TIME, []), (BUSY_TIME, None, [])],
)
def test_a_side_was_busy_where_none_of_its_series_was_measured_at_another_time(
    notebook: Notebook, base: Quiet, again: Quiet | None, busy: list[int]
) -> None:
    for one_of_them in (
        at(1, quiet=base),
        at(2, 1.5, change=MADE, base_id=f"{1:012x}"),
        at(3, base_id=f"{1:012x}", quiet=again),
    ):
        notebook.add(one_of_them)
    named = (f"{1:012x}", f"{2:012x}")
    (form,) = comparisons(sides_to_compare(notebook, named, counted=Counted.REPEATS))
    assert sorted(form.comparison.busy_ids) == [f"{number:012x}" for number in busy]
    said = " ".join(weaknesses(form))
    assert ("Measured at a busy time: " in said) is (BUSY_TIME in (base, again))


def test_interleaved_series_of_a_busy_time_need_not_be_measured_again(notebook: Notebook) -> None:
    pair = interleaved(at(1, quiet=BUSY_TIME), at(2, 1.5, quiet=BUSY_TIME))
    for one_of_them in pair:
        notebook.add(one_of_them)
    (form,) = comparisons(sides_to_compare(notebook, (f"{1:012x}", f"{2:012x}")))
    assert form.comparison.interleaved
    assert any(sentence.startswith("Measured at a busy time: ") for sentence in weaknesses(form))


def _repeats_of_the_first(*factors: float) -> Iterator[Series]:
    """A series a day of equal settings: each but the first was measured as that one again."""
    for number, factor in enumerate(factors, 1):
        yield at(number, factor, base_id=f"{1:012x}" if number > 1 else None)


def _before_and_after(notebook: Notebook, factor: float) -> Sides:
    """Two series before a change that no setting shows, named, and two after it, named or not."""
    for series in _repeats_of_the_first(1.0, 1.001, factor, 1.001 * factor):
        notebook.add(series)
    notebook.set_baseline("before", f"{1:012x}", f"{2:012x}")
    notebook.set_baseline("after", f"{3:012x}", f"{4:012x}")
    (sides,) = sides_to_compare(notebook, ("before", "after"))
    return sides


def test_two_baselines_of_equal_settings_are_compared_whole(notebook: Notebook) -> None:
    sides = _before_and_after(notebook, 1.9)
    assert (sorted(ids(sides.base)), sorted(ids(sides.other)), sides.equal) == ([1, 2], [3, 4], True)


@pytest.mark.parametrize(("factor", "answer"), [(1.9, ("faster", None)), (1.002, ("unknown", Doubt.BASE_VARIED))])
def test_a_clear_change_against_a_baseline_is_an_answer_though_no_setting_shows_it(
    notebook: Notebook, factor: float, answer: tuple[str, Doubt | None]
) -> None:
    comparison = compare_sides(_before_and_after(notebook, factor), Limits())
    assert (comparison.verdict, comparison.doubt) == answer


@pytest.mark.parametrize(
    ("baseline_of", "named", "sides_of_ids"),
    [
        # Whichever of the later series is named, those after the baseline are after the change.
        (1, ("named", f"{4:012x}"), ([1], [2, 3, 4])),
        (2, ("named", f"{3:012x}"), ([1, 2], [3, 4])),
        (3, (f"{2:012x}", "named"), ([1, 2], [3, 4])),
    ],
)
def test_what_repeats_a_baseline_belongs_to_the_side_of_its_time(
    notebook: Notebook, baseline_of: int, named: tuple[str, str], sides_of_ids: tuple[list[int], list[int]]
) -> None:
    for series in _repeats_of_the_first(1.0, 1.0, 1.0, 1.0):
        notebook.add(series)
    notebook.set_baseline("named", f"{baseline_of:012x}")
    (sides,) = sides_to_compare(notebook, named, counted=Counted.REPEATS)
    assert (sorted(ids(sides.base)), sorted(ids(sides.other))) == sides_of_ids


def test_of_equal_series_that_no_baseline_names_just_two_are_compared(notebook: Notebook) -> None:
    for series in _repeats_of_the_first(1.0, 1.0, 1.9):
        notebook.add(series)
    (sides,) = sides_to_compare(notebook, (f"{1:012x}", f"{3:012x}"), counted=Counted.REPEATS)
    assert (ids(sides.base), ids(sides.other)) == ([1], [3])
    assert compare_sides(sides, Limits()).doubt is Doubt.SAME_SETTINGS
