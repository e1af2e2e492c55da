"""An experiment: steps, branches, what was kept and what was gained."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from forms.comparison.judged_sides import Sides
from forms.comparison.remarks import comparison_remarks
from forms.comparison.summary import comparison_form, comparisons
from forms.experiments.document import steps_document
from forms.experiments.gain_texts import gain_headlines
from forms.experiments.report import step_report, steps_report
from forms.experiments.steps_table import steps_table
from forms.experiments.summary import ExperimentSummary, experiment_summary
from forms.experiments.ways import next_base
from forms.exporters.text import report_text
from forms.layout import width
from forms.series.head_fields import head_fields
from forms.stats.decision import Doubt
from storage.owners import Owner
from storage.records import Change, Command, Decision, Evidence, Phase, Run, RunStatus, Series, SeriesStatus
from tests.builders import series

FIVE = (99e6, 99.5e6, 100e6, 100.5e6, 101e6)
KEPT, REVERTED = Decision.KEPT, Decision.REVERTED


def gain(summary):
    """What was gained in the direction measured last; None while nothing is."""
    return summary.gains[-1].comparison if summary.gains else None


def step(name: str, factor: float = 1.0, **fields: Any) -> Series:
    change = fields.pop("change", None)
    if isinstance(change, str):
        option, _, value = change.partition("=")
        change = Change(
            name=option, value=value, previous="old", evidence=Evidence.CONFIRMED, remark=f"{option} changed."
        )
    return series([rate * factor for rate in FIVE], id=name * 12, experiment="tuning", change=change, **fields)


def again(name: str, factor: float, base: str) -> Series:
    """The settings of a series measured again, at the end."""
    return step(name, factor, base_id=base * 12, created_at="2026-01-31T12:00:00.000Z")


def steps_text(summary: ExperimentSummary) -> str:
    return report_text(steps_report(summary))


def path(summary: ExperimentSummary) -> list[int]:
    return [one.number for one in summary.gains[-1].path] if summary.gains else []


def test_each_step_is_compared_with_what_it_was_made_from() -> None:
    summary = experiment_summary(
        "tuning",
        [
            step("a"),
            step("b", 0.9, change="log level=3", base_id="a" * 12, decision=REVERTED),
            step("c", 1.2, change="strict sync=no", base_id="a" * 12, decision=KEPT),
            step("d", 1.5, change="deadtime=15", base_id="c" * 12),
            again("e", 1.0, "a"),
        ],
    )
    verdicts = [None, "unknown", "faster", "faster", "unknown"]
    assert [one.base_number for one in summary.steps] == [None, 0, 0, 2, 0]
    assert [one.comparison and one.comparison.verdict for one in summary.steps] == verdicts
    assert [round(one.comparison.change_percent or 0, 6) for one in summary.steps if one.comparison] == [-10, 20, 25, 0]
    assert path(summary) == [0, 2, 3]
    assert gain(summary)
    assert (gain(summary).base_id, gain(summary).other_id) == ("a" * 12, "d" * 12)
    assert gain(summary).change_percent == pytest.approx(50)


def test_each_step_and_the_total_are_decided_where_they_stand_out() -> None:
    made = [step("a"), step("b", 1.2, change="x=1"), step("c", 1.23, change="strict sync=no")]
    summary = experiment_summary("tuning", made)
    verdicts = [one.comparison.verdict.value for one in summary.steps if one.comparison]
    assert verdicts == ["faster", "unknown"]
    assert gain(summary)
    assert gain(summary).verdict == "faster"
    shared = {one.comparison.apart_percent for one in summary.steps if one.comparison} | {gain(summary).apart_percent}
    assert len(shared) == 1, "one variation, and one allowance for being several"
    (alone,) = comparisons([Sides(base=(made[0],), other=(made[1],))])
    assert alone.comparison.apart_percent is not None
    assert gain(summary).apart_percent is not None
    assert gain(summary).apart_percent > alone.comparison.apart_percent
    headlines = [line.text for line in gain_headlines(summary)]
    assert headlines[0].startswith("▲ Faster by 23 % (")
    assert headlines[0].endswith(" in all: 0 → 1 → 2.")
    assert headlines[1].startswith("1 of 2 steps decided (2 judged at once: ")
    assert " Step 2: Try it: " in headlines[1]
    assert "To settle 2:" in steps_text(summary)


def test_a_step_that_is_being_measured_is_named_and_not_judged() -> None:
    made = [step("a"), step("b", 1.2, change="x=1"), again("d", 1.3, "a")]
    owner = Owner(host="nas", boot_id="b", process_id=7, process_started="1", since="", renewed_at="")
    half = replace(made[2], status=SeriesStatus.INTERRUPTED, running_by=owner)
    ended, going = (experiment_summary("tuning", [*made[:2], one]) for one in (made[2], half))
    assert ended.steps[2].comparison
    assert going.steps[2].comparison is None
    assert ended.steps[1].comparison != going.steps[1].comparison, "half a base measured again is none yet"
    first, second = (line.text for line in [*gain_headlines(going)][:2])
    assert first == "● Step 2 is being measured: measured again."
    assert second.startswith("▲ Faster by 20 % (")
    assert f"Answer:   {first}" in steps_text(going)
    assert steps_table(going).rows[2].cells[-1].value == "being measured"
    assert "being measured" not in steps_text(ended)


def test_the_base_measured_again_counts_for_all_steps() -> None:
    made = [step("a"), step("b", 1.2, change="x=1"), step("c", 1.5, change="y=1")]
    moved = experiment_summary("tuning", [*made, again("d", 1.3, "a")])
    assert gain(moved)
    assert gain(moved).doubt is Doubt.BASE_VARIED
    assert gain(moved).base_ids == ("a" * 12, "d" * 12)
    assert path(moved) == [0, 1, 2]
    assert moved.steps[3].comparison
    assert moved.steps[3].comparison.doubt is Doubt.SAME_SETTINGS


def test_both_ends_of_equal_settings_gain_nothing() -> None:
    """In-flight 4, 1, 4: both ends are equal, whatever lies between their averages."""
    made = [
        step("a"),
        step("b", 0.8, change="in-flight=1", base_id="a" * 12),
        step("c", 1.26, change="in-flight=4", base_id="b" * 12),
        again("d", 1.001, "a"),
    ]
    summary = experiment_summary("tuning", made)
    assert gain(summary)
    assert gain(summary).doubt is Doubt.SAME_SETTINGS
    assert "= Same settings, but 26 % faster: more than equal series differ" in " ".join(steps_text(summary).split())


def test_an_unseen_change_on_the_way_keeps_both_ends_from_being_called_equal() -> None:
    hidden = Change(name="log level", value="0", evidence=Evidence.UNCONFIRMED)
    made = [
        step("a"),
        step("b", 1.3, change=hidden, base_id="a" * 12),
        step("c", 0.8, change="in-flight=1", base_id="b" * 12),
        step("d", 1.26, change="in-flight=4", base_id="c" * 12),
    ]
    summary = experiment_summary("tuning", made)
    assert gain(summary)
    assert gain(summary).doubt is not Doubt.SAME_SETTINGS


def test_a_contradicted_change_is_not_counted() -> None:
    wrong = Change(name="z", value="1", evidence=Evidence.CONTRADICTED, remark="z did not change.")
    summary = experiment_summary("tuning", [step("a"), step("b", 1.3, change=wrong), again("c", 1.0, "a")])
    assert summary.steps[1].comparison
    assert summary.steps[1].comparison.doubt is Doubt.CONTRADICTED
    assert summary.steps[1].mark == "!"
    assert "Gained in all: nothing yet" in steps_text(summary)
    assert "! Contradicted" in steps_text(summary)


def test_a_step_that_was_resumed_says_so() -> None:
    failed = Run(number=2, phase=Phase.MEASURED, status=RunStatus.FAILED, error="the connection ended")
    gone_on = replace(step("b"), resumed_at=("2026-01-31T12:00:00.000Z",), failed_attempts=(failed,))
    summary = experiment_summary("tuning", [step("a"), gone_on])
    said = "resumed: 2026-01-31 12:00 UTC; failed before: run 2 (the connection ended)"
    assert said in " ".join(steps_text(summary).split())
    assert any(field.name == "Resumed" for field in step_report(summary.steps[1]).fields)
    assert [one["resumed_at"] for one in steps_document(summary)["rungs"]] == [[], ["2026-01-31T12:00:00.000Z"]]


def test_a_contradicted_change_at_the_end_is_no_part_of_the_gain() -> None:
    """In-flight 4, 1, 4 and a third change that was not made: what was gained in all ends before that one."""
    wrong = Change(name="z", value="1", evidence=Evidence.CONTRADICTED, remark="z did not change.")
    made = [
        step("a"),
        step("b", 0.8, change="in-flight=1", base_id="a" * 12),
        step("c", 1.01, change="in-flight=4", base_id="b" * 12),
        step("d", 2.2, change=wrong, base_id="c" * 12),
    ]
    summary = experiment_summary("tuning", made)
    assert [one.number for one in (summary.gains[-1].path if summary.gains else ())] == [0, 1, 2]
    assert gain(summary)
    assert gain(summary).doubt is Doubt.SAME_SETTINGS
    assert summary.steps[3].on_kept_path


def test_a_series_without_a_recorded_base_stands_on_what_was_in_force() -> None:
    made = [
        step("a"),
        step("b", change="x=1", decision=REVERTED),
        step("c", change="y=1", decision=REVERTED),
        step("d", change="z=1", decision=KEPT),
        step("e", change="w=1"),
    ]
    summary = experiment_summary("tuning", made)
    assert [one.base_number for one in summary.steps] == [None, 0, 0, 0, 3]
    assert path(summary) == [0, 3, 4]


def test_the_next_change_is_made_from_the_last_that_was_not_put_back() -> None:
    made = [step("a"), step("b", change="x=1", base_id="a" * 12), step("c", change="y=1", base_id="b" * 12)]
    assert next_base([]) is None
    assert next_base(made) == made[2]
    assert next_base([*made[:2], step("c", base_id="b" * 12, decision=REVERTED)]) == made[1]
    both = [made[0], step("b", base_id="a" * 12, decision=REVERTED), step("c", base_id="b" * 12, decision=REVERTED)]
    assert next_base(both) == made[0]
    assert next_base([step("a", decision=REVERTED)]) is None


def test_a_put_is_not_made_from_a_get() -> None:
    made = [step("a"), step("b", command=Command.PUT)]
    assert next_base(made, Command.GET) == made[0]
    assert next_base(made, Command.PUT) == made[1]


def test_gets_and_puts_of_one_experiment_are_judged_apart() -> None:
    put = {"command": Command.PUT}
    made = [step("a"), step("b", 0.5, **put), step("c", 1.2, change="x=1"), step("d", 0.4, change="x=1", **put)]
    made += [again("e", 1.0, "a"), replace(again("f", 0.5, "b"), command=Command.PUT)]
    summary = experiment_summary("tuning", made)
    assert [one.base_number for one in summary.steps] == [None, None, 0, 1, 0, 1]
    assert [(gain.command.value, [one.number for one in gain.path]) for gain in summary.gains] == [
        ("get", [0, 2]),
        ("put", [1, 3]),
    ]
    assert [gain.comparison and gain.comparison.verdict for gain in summary.gains] == ["faster", "slower"]
    assert (gain(summary), path(summary)) == (summary.gains[1].comparison, [1, 3])
    assert "Gained in all, get: 0 → 2, by x = 1: ▲" in steps_text(summary)
    assert "Gained in all, put: 1 → 3, by x = 1: ▼" in steps_text(summary)


def test_a_series_that_did_not_complete_is_shown_and_not_built_upon() -> None:
    failed = step("b", change="vfs objects=nosuch", status=SeriesStatus.FAILED, runs=())
    made = [step("a"), failed, step("c", 1.2, change="x=1")]
    assert next_base(made[:2]) == made[0]
    summary = experiment_summary("tuning", made)
    assert [one.base_number for one in summary.steps] == [None, 0, 0]
    assert path(summary) == [0, 2]
    assert "Decision: failed, undecided" in report_text(step_report(summary.steps[1]))
    assert steps_document(summary)["rungs"][1]["status"] == "failed"


def test_bases_that_are_gone_or_run_in_circles_break_nothing() -> None:
    gone = experiment_summary("tuning", [step("a", change="x=1", base_id="f" * 12)])
    assert (gone.steps[0].base_number, gone.steps[0].comparison, gain(gone)) == (None, None, None)
    assert "is not in this experiment" in steps_text(gone)
    circle = [step("a", base_id="b" * 12, decision=REVERTED), step("b", base_id="a" * 12, decision=REVERTED)]
    assert next_base(circle) is None
    assert path(experiment_summary("tuning", circle)) == []


def test_a_step_says_why_its_figure_may_not_speak_for_its_change() -> None:
    two = Change(
        name="x", value="1", evidence=Evidence.CONFIRMED, also_changed=("y 1 -> 2",), remark="2 things changed."
    )
    wrong = Change(name="z", value="1", evidence=Evidence.CONTRADICTED, remark="z did not change.")
    unseen = Change(name="v", value="1", evidence=Evidence.UNCONFIRMED, remark="It could not be read.")
    summary = experiment_summary(
        "tuning",
        [step("a"), step("b", change=two), step("c", change=wrong), step("d", change=unseen), step("e", change="w=1")],
    )
    assert [one.standing and one.standing.value for one in summary.steps] == [
        None,
        "not alone",
        "not as claimed",
        "unproven",
        "proven",
    ]
    assert summary.steps[1].doubts == ("2 things changed.", "Also changed: y 1 -> 2.")
    assert summary.steps[4].doubts == ()
    text = steps_text(summary)
    for words in (
        "→ 1, ? not alone: 2 things",
        "→ 2, ! not as claimed: z did",
        "→ 3, ? unproven: It could not be read.",
        "→ 4, proven: w changed.",
    ):
        assert words in text
    assert "by x = 1 (not alone), v = 1 (unproven) and w = 1: ?" in " ".join(text.split())


def test_a_second_base_that_differs_says_so() -> None:
    summary = experiment_summary("tuning", [step("a"), step("b", link_bits_per_second=10**10)])
    assert summary.steps[1].doubts == ("No change is claimed, but: link_bits_per_second 1000000000 -> 10000000000.",)


def test_the_text_fits_eighty_columns_and_survives_anything_typed() -> None:
    hostile = Change(
        name="socket options",
        value="TCP_NODELAY SO_SNDBUF=1048576 SO_RCVBUF=1048576 IPTOS_LOWDELAY\x1b[31m\n" * 3,
        previous="TCP_NODELAY",
        evidence=Evidence.CONTRADICTED,
        also_changed=("日本語" * 30, "x" * 200),
        remark="[bold]why[/bold] " * 20,
    )
    text = steps_text(experiment_summary("日本\x1b[0m語", [step("a"), step("b", 2.0, change=hostile)]))
    assert "\x1b" not in text
    assert max(width(line) for line in text.splitlines()) <= 80


def test_the_text_of_a_small_experiment() -> None:
    summary = experiment_summary(
        "tuning",
        [
            step("a"),
            step("b", 0.9, change="log level=3", base_id="a" * 12, decision=REVERTED),
            step("c", 1.2, change="strict sync=no", base_id="a" * 12, decision=KEPT),
            again("d", 1.001, "a"),
        ],
    )
    assert steps_text(summary) == (
        "Experiment tuning\n"
        "Answer:   ▲ Faster by 20 % (6 % to 35 %) in all: 0 → 2.\n"
        "Measured: get smb://nas/data/big.bin\n"
        "When:     2026-01-31 10:00 to 12:00 UTC\n"
        "\n"
        "                                   Average,       Change\n"
        "  No Change          Series       bytes/sec From    in % Verdict        Decision\n"
        "────────────────────────────────────────────────────────────────────────────────\n"
        "  0  base            aaaaaaaaaaaa 100000000\n"
        "x 1  log level = 3 ─ bbbbbbbbbbbb  90000000 0, 3 −10.0 % ? Inconclusive restored\n"
        "     (was old)\n"
        "  2  strict sync =   cccccccccccc 120000000 0, 3 +19.9 % ▲ Faster       kept\n"
        "     no (was old)\n"
        "  3  measured again  dddddddddddd 100100000 0     +0.1 % = Variation\n"
        "\n"
        "1 from 0:      ? Inconclusive: 10 % slower (20 % slower to 2 % faster).\n"
        "2 from 0:      ▲ Faster by 20 % (6 % to 35 %).\n"
        "3 from 0:      = No setting is known to differ: 0.1 % faster is no more than\n"
        "               series vary by themselves; the server's settings were not read.\n"
        "Gained in all: 0 → 2, by strict sync = no: ▲ Faster by 20 % (6 % to 35 %). 2\n"
        "               series of the one side and 1 of the other: 19 times in 20 the\n"
        "               range holds the true change; it is wider than the runs vary\n"
        "               (0.8 %), as the same measured twice differs by more. Which side\n"
        "               is faster is certain.\n"
        "To settle 1:   Try it: 8 interleaved pairs, about 6 min, find a change of 2.3 %\n"
        "               nine times in ten. Command: sharebench try 'log level=3'\n"
        "               smb://nas/data/big.bin\n"
        "\n"
        "→ 2 changes are judged at once, so each interval is wider than in a comparison\n"
        "  of two.\n"
        "\n"
        "→ 1, proven: log level changed.\n"
        "\n"
        "→ 2, proven: strict sync changed.\n"
    )


def test_one_change_is_judged_alone() -> None:
    summary = experiment_summary("tuning", [step("a"), step("b", 1.2, change="x=1"), again("c", 1.0, "a")])
    assert "at once" not in steps_text(summary)
    put = replace(step("b", 1.2, change="x=1"), id="e" * 12, command=Command.PUT)
    both = [step("a"), step("b", 1.2, change="x=1"), replace(step("d"), command=Command.PUT), put]
    assert "at once" not in steps_text(experiment_summary("tuning", both)), "each direction is judged by itself"


def test_the_document_has_every_step_and_the_gain() -> None:
    summary = experiment_summary(
        "tuning", [step("a"), step("b", 1.2, change="x=1", decision=KEPT), again("c", 1.0, "a")]
    )
    document = json.loads(json.dumps(steps_document(summary)))
    assert (document["schema"], document["experiment"]) == ("sharebench/experiment/1", "tuning")
    first, second, _ = document["rungs"]
    assert (first["change"], first["base"], first["verdict"], first["decision"]) == (None, None, None, None)
    assert second["change"]["name"] == "x"
    assert (second["base"], second["base_number"], second["standing"]) == ("a" * 12, 0, "proven")
    assert (second["verdict"], second["decision"], second["on_kept_path"]) == ("faster", "kept", True)
    assert second["change_percent"] == pytest.approx(20)
    (gain,) = document["gains"]
    assert (gain["command"], gain["kept_path"], gain["verdict"]) == ("get", ["a" * 12, "b" * 12], "faster")
    assert gain["change_percent"] == pytest.approx(20)


def test_an_empty_experiment_has_no_steps() -> None:
    summary = experiment_summary("nothing", [])
    assert (summary.steps, gain(summary), summary.step_of("a")) == ((), None, None)
    assert "nothing yet" in steps_text(summary)


def test_bases_that_go_round_in_a_circle_are_no_way_out() -> None:
    made = [
        step("a", change="x=1", base_id="b" * 12, decision=REVERTED),
        step("b", change="y=1", base_id="a" * 12, decision=REVERTED),
        step("c"),
    ]
    assert [one.series.id for one in experiment_summary("tuning", made).steps] == [one.id for one in made]
    assert next_base(made[:2]) is None


def test_a_decision_and_a_change_are_called_alike_on_every_form() -> None:
    base, other = step("a"), step("b", change="x=1", decision=REVERTED)
    fields = {field.name: field.text for field in head_fields(other)}
    row = steps_table(experiment_summary("tuning", [base, other])).rows[1]
    assert fields["Decision"] == row.cells[7].value == "restored"
    assert fields["Change"].startswith("x = 1 (was old), ")
    assert row.cells[1].value == "x = 1 (was old)"
    assert comparison_remarks(comparison_form(base, other))[0].startswith("Change x = 1 (was old): ")
