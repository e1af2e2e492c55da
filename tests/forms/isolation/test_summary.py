"""What rounds say together: ratios with their intervals, pooled processors, one operation's time."""

import math
from dataclasses import replace
from typing import Any

import pytest

from forms.exporters import export_reports
from forms.exporters.drawing import Box, drawing
from forms.exporters.text import report_text
from forms.isolation.document import isolation_document
from forms.isolation.profile import profile_summary, waterfall
from forms.isolation.report import _results, isolation_report
from forms.isolation.summary import MeasuredRatio, isolation_summary, pooled_cpu, ratio_over_rounds
from forms.isolation.verdict import Cause, IsolationDoubt, IsolationVerdict, LayerEvidence
from forms.isolation.wording import answer_sentence, verdict_sentence
from forms.report import Mark
from storage.isolation import CPUUse, Isolation, Layer, LayerRun, ProfileCounter
from storage.records import FactValue, RunStatus, SeriesStatus, Spread, Target
from tests.builders import example_isolation

PROFILE = {
    "smb2_read": ProfileCounter(calls=100, microseconds=10_000, idle_microseconds=4_000),
    "smb2_create": ProfileCounter(calls=100, microseconds=30_000),
    "smb2_sesssetup": ProfileCounter(calls=2, microseconds=90_000),
    "smb2_notify": ProfileCounter(calls=1, microseconds=5_000_000),
    "syscall_openat": ProfileCounter(calls=400, microseconds=8_000),
    "syscall_asys_pread": ProfileCounter(calls=100, microseconds=6_000, idle_microseconds=4_000),
}


def run(layer: Layer, rate: float, turn: int = 1, **more: object) -> LayerRun:
    return LayerRun(round=turn, layer=layer, clients=4, seconds=5, bytes_per_second=rate, **more)  # type: ignore[arg-type]


def test_ratios_are_paired_by_round():
    server = [run(Layer.SERVER, rate, turn) for turn, rate in enumerate((10.0, 20.0, 40.0), start=1)]
    disk = [run(Layer.DISK, rate, turn) for turn, rate in enumerate((20.0, 40.0, 80.0), start=1)]
    found = ratio_over_rounds(server, disk, lambda one: one.bytes_per_second)
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.5, 0.5))
    alone = ratio_over_rounds(server[:1], disk, lambda one: one.bytes_per_second)
    assert alone is not None
    assert (alone.value, alone.low) == (0.5, None)
    assert ratio_over_rounds(server, [], lambda one: one.bytes_per_second) is None


def test_the_interval_is_students_over_the_logarithms():
    server = [run(Layer.SERVER, rate, turn) for turn, rate in ((1, 10.0), (2, 12.0))]
    disk = [run(Layer.DISK, 20.0, turn) for turn in (1, 2)]
    found = ratio_over_rounds(server, disk, lambda one: one.bytes_per_second)
    assert found is not None
    assert found.low is not None
    middle, half = (math.log(0.5) + math.log(0.6)) / 2, 12.706205 * math.log(1.2) / 2
    assert found.low == pytest.approx(math.exp(middle - half), rel=1e-5)


def test_a_failed_run_counts_nowhere():
    broken = [run(Layer.DISK, 0.0, turn, status=RunStatus.FAILED, error="no") for turn in (1, 3)]
    runs = (run(Layer.SERVER, 10.0), *broken)
    isolation = Isolation(
        id="a", created_at="2026-01-31T10:00:00.000Z", target=Target(protocol="smb"), script="office", clients=(4,),
        rounds=1, runs=runs,
    )  # fmt: skip
    (point,) = isolation_summary(isolation).points
    assert point.rates == {Layer.SERVER: 10.0}
    assert point.least is None
    report = isolation_report(isolation)
    assert report.fields[0].name == "Verdict", "the answer leads"
    told = [field.name for field in report.results]
    assert "Look at next" not in told, "more rounds of one layer tell nothing"
    (measured,) = (field.text for field in report.fields if field.name == "Measured")
    assert measured.endswith("; 2 measurements failed")
    assert [row.mark for row in report.tables[0].rows] == [Mark.UNUSUAL]
    assert "disk, 4 clients, rounds 1 and 3 failed: no" in report.advice, "one sentence for what is the same"
    beside = replace(run(Layer.SERVER, 10.0), clients=8)
    both = isolation_report(replace(isolation, clients=(4, 8), runs=(*runs, beside))).tables[0]
    assert [(row.mark, row.remark) for row in both.rows] == [
        (Mark.UNUSUAL, "2 of 3 measurements failed"),
        (Mark.NONE, ""),
    ]
    assert report.brief.tables[0].columns == report.tables[0].columns, "with nothing to compare each rate is the answer"
    assert "* 4 clients unusual: 2 of 3 measurements failed" in " ".join(report_text(report).split())
    sound = isolation_report(replace(isolation, runs=runs[:1]))
    assert [row.mark for row in sound.tables[0].rows] == [Mark.NONE]
    assert not any("failed" in field.text for field in sound.fields)


@pytest.mark.parametrize(
    ("status", "layers", "least"),
    [
        (SeriesStatus.COMPLETE, {Layer.DISK: 20.0}, 20.0),
        (SeriesStatus.FAILED, {Layer.DISK: 20.0}, 20.0),
        (SeriesStatus.INTERRUPTED, {Layer.DISK: 20.0, Layer.NETWORK: 30.0, Layer.DISK_WITH_NETWORK: 15.0}, None),
        (SeriesStatus.INTERRUPTED, {Layer.DISK: 20.0}, None),
        (SeriesStatus.COMPLETE, {Layer.DISK: 20.0, Layer.NETWORK: 30.0, Layer.DISK_WITH_NETWORK: 0.0}, None),
        (SeriesStatus.COMPLETE, {Layer.DISK: 20.0, Layer.DISK_WITH_NETWORK: 15.0, Layer.NETWORK_WITH_DISK: 0.0}, None),
        (SeriesStatus.INTERRUPTED, {Layer.DISK_WITH_NETWORK: 15.0, Layer.NETWORK_WITH_DISK: 12.0}, 12.0),
    ],
)
def test_a_part_alone_is_the_slower_of_both_once_nothing_more_is_to_come(status, layers, least):
    runs = tuple(
        run(layer, rate, status=RunStatus.VALID if rate else RunStatus.FAILED)
        for layer, rate in {Layer.SERVER: 10.0, **layers}.items()
    )
    isolation = Isolation(
        id="a", created_at="2026-01-31T10:00:00.000Z", target=Target(protocol="smb"), script="office", clients=(4,),
        rounds=1, runs=runs, status=status,
    )  # fmt: skip
    found = isolation_summary(isolation)
    assert [point.least for point in found.points] == [least]
    assert ("in no round were server, disk and network all measured" in answer_sentence(found.verdict)) is (
        least is None
    )


def test_processors_are_weighted_by_samples():
    def use(mean: float, deviation: float | None, samples: int) -> CPUUse:
        spread = Spread(mean=mean, median=mean, deviation=deviation)
        return CPUUse(user=spread, system=spread, total=spread, samples=samples)

    found = pooled_cpu([use(10, 3, 3), use(40, 4, 6)])
    assert found is not None
    assert found.user.mean == 30
    assert found.user.median == 25
    assert found.user.deviation == pytest.approx(math.sqrt((2 * 9 + 5 * 16) / 7))
    assert pooled_cpu([]) is None


def test_one_operations_time_adds_up_and_leaves_the_session_out():
    fall = waterfall(
        [
            run(
                Layer.SERVER,
                1.0,
                profile=PROFILE,
                operations={"readx": 80_000},
                window_requests=160_000,
                wait_seconds=19,
            )
        ]
    )
    assert fall is not None
    assert fall.whole == pytest.approx(250)
    assert fall.client == pytest.approx(12.5)
    served = 2 * 40_000 / 200
    assert fall.protocol + fall.threads + fall.file_system == pytest.approx(served)
    assert fall.file_system == pytest.approx(2 * (8_000 + 2_000) / 200)
    assert fall.threads == pytest.approx(2 * 4_000 / 200)
    assert sum(fall.parts().values()) == pytest.approx(fall.whole)
    assert fall.not_explained == pytest.approx(250 - 12.5 - served), "smbd took longer than the clients waited"


def test_what_a_client_spends_on_itself_is_no_network():
    usual: dict[str, Any] = {
        "profile": PROFILE,
        "operations": {"readx": 8_000},
        "window_requests": 16_000,
        "wait_seconds": 19,
    }
    fall = waterfall([run(Layer.SERVER, 1.0, client_held_seconds=8, **usual)])
    assert fall is not None
    assert (fall.whole, fall.client) == pytest.approx((2_500, 1_000))
    assert fall.network == pytest.approx(2_500 - 1_000 - 400)
    assert fall.not_explained == 0


def test_the_dearest_come_first_and_waits_apart():
    found = profile_summary([run(Layer.SERVER, 1.0, profile=PROFILE)])
    assert found is not None
    assert [one.name for one in found.dearest[:3]] == ["smb2_create", "syscall_openat", "smb2_read"]
    assert found.dearest[0].share == pytest.approx(0.75)
    assert found.dearest[0].microseconds_a_call == 300
    assert {one.name for one in found.waits} == {"smb2_notify", "smb2_read", "syscall_asys_pread"}
    assert profile_summary([run(Layer.SERVER, 1.0)]) is None


def test_where_an_operations_time_goes_is_drawn_part_after_part():
    served = run(
        Layer.SERVER, 1.0, profile=PROFILE, operations={"readx": 8_000}, window_requests=16_000, wait_seconds=19
    )
    isolation = Isolation(
        id="a", created_at="2026-01-31T10:00:00.000Z", target=Target(protocol="smb"), script="office", clients=(4,),
        rounds=1, runs=(served,),
    )  # fmt: skip
    fall = isolation_summary(isolation).waterfall
    drawn = isolation_report(isolation).charts[-1]
    assert fall is not None
    assert drawn.in_text
    assert [bar.value for bar in drawn.bars] == [part for part in fall.parts().values() if part]
    ends = [0.0, *(bar.start + (bar.value or 0.0) for bar in drawn.bars)]
    assert [bar.start for bar in drawn.bars] == pytest.approx(ends[:-1])
    assert ends[-1] == pytest.approx(fall.whole)


@pytest.mark.parametrize(
    ("held", "ceiling", "cause", "limit"),
    [
        (13.0, None, Cause.CLIENT, " (a client that takes 65 % of it is the limit)"),
        (13.0, 2_000.0, Cause.CLIENT, " (a client that takes 65 % of it is the limit)"),
        (12.9, 2_000.0, Cause.CLIENT, ""),
        (12.9, None, Cause.UNKNOWN, " (a client that takes 65 % of it is the limit)"),
    ],
)
def test_the_share_from_which_the_client_is_the_limit_stands_where_it_decides(
    held: float, ceiling: float | None, cause: Cause, limit: str
):
    served = run(
        Layer.SERVER, 1.0, profile=PROFILE, operations={"readx": 8_000}, window_requests=16_000, wait_seconds=19,
        client_held_seconds=held,
    )  # fmt: skip
    isolation = Isolation(
        id="a", created_at="2026-01-31T10:00:00.000Z", target=Target(protocol="smb"), script="office", clients=(4,),
        rounds=1, runs=(served,), ceilings={4: ceiling} if ceiling else {},
    )  # fmt: skip
    assert isolation_summary(isolation).verdict.cause is cause
    assert isolation_report(isolation).charts[-1].title == f"Where one operation's time goes{limit}"
    full = replace(isolation, link_bits_per_second=8, runs=(replace(served, in_bytes_per_second=1.0),))
    assert isolation_summary(full).verdict.cause is Cause.NETWORK
    others = " (a client that takes 65 % of it is the limit)" if held < 13 else ""
    assert isolation_report(full).charts[-1].title == f"Where one operation's time goes{others}"


def test_an_isolation_without_the_server_is_drawn_too():
    isolation = Isolation(
        id="a", created_at="2026-01-31T10:00:00.000Z", target=Target(protocol="smb"), script="office", clients=(4,),
        rounds=1, runs=(run(Layer.DISK, 30e6), run(Layer.NETWORK, 20e6)), status=SeriesStatus.COMPLETE,
    )  # fmt: skip
    (chart,) = isolation_report(isolation).charts
    assert [(bar.value, bar.frame) for bar in chart.bars] == [(None, 20.0)]
    drawn = drawing(chart)
    assert [shape.look for shape in drawn.shapes if isinstance(shape, Box)] == ["frame"]
    assert drawn.description == f"{chart.title}; from 20 MB/s to 20 MB/s"


@pytest.mark.parametrize(
    ("low", "high", "is_chance"),
    [
        (0.9, 1.0, True),
        (1.0, 1.1, True),
        (0.8, 0.99, False),
        (1.01, 1.2, False),
        (None, None, True),
        (0.1, 10.0, True),
        (1.01, 10.1, False),
    ],
)
def test_the_cost_of_profiling_may_be_chance_where_its_interval_holds_none(low, high, is_chance: bool):
    served = run(Layer.SERVER, 1.0, profile=PROFILE)
    isolation = Isolation(
        id="a", created_at="2026-01-31T10:00:00.000Z", target=Target(protocol="smb"), script="office", clients=(4,),
        rounds=1, runs=(served,),
    )  # fmt: skip
    measured = replace(isolation_summary(isolation), profiling_cost=MeasuredRatio(value=0.95, low=low, high=high))
    (said,) = [field.text for field in _results(measured) if field.name == "Cost of profiling"]
    assert said.endswith("which may be chance") is is_chance
    wide = replace(measured, profiling_cost=MeasuredRatio(value=0.95, low=0.1, high=10.1))
    (said,) = [field.text for field in _results(wide) if field.name == "Cost of profiling"]
    assert said == "not known: the rounds vary too much"


@pytest.mark.parametrize(("level", "logs"), [("0", False), ("1", True), (None, True)])
def test_the_log_level_can_have_cost_something_unless_it_is_known_to_be_0(level: str | None, logs: bool):
    facts: dict[str, FactValue] = {} if level is None else {"smb.conf/global/log level": level}
    isolation = Isolation(
        id="a", created_at="2026-01-31T10:00:00.000Z", target=Target(protocol="smb"), script="office", clients=(4,),
        rounds=1, runs=(run(Layer.SERVER, 10.0),), environment={"server": facts},
    )  # fmt: skip
    assert isolation_summary(isolation).verdict.evidence.logs is logs


def test_on_the_screen_stands_what_the_verdict_compares():
    report = isolation_report(example_isolation())
    (brief,) = (table for table in report.brief.tables if table.columns[0].heading == "Clients")
    shown = [column.heading for column in brief.columns]
    assert shown == ["Clients", "Disk + network, MB/s", "Server, MB/s", "Server / both"]
    whole = report.tables[0]
    places = [0, 5, 6, 7]
    assert [row.cells for row in brief.rows] == [tuple(row.cells[at] for at in places) for row in whole.rows]
    assert report.brief.brief == report.brief


def test_each_part_is_shown_where_the_verdict_compares_with_none():
    whole = example_isolation()
    most = max(whole.clients)
    kept = [run for run in whole.runs if run.clients < most or run.layer is Layer.SERVER]
    report = isolation_report(replace(whole, runs=tuple(kept)))
    assert report.brief.tables[0].columns == report.tables[0].columns


@pytest.mark.parametrize(
    ("kept", "compared"),
    [
        (
            {Layer.DISK, Layer.NETWORK, Layer.DISK_WITH_NETWORK, Layer.NETWORK_WITH_DISK},
            "disk and network carry together",
        ),
        ({Layer.DISK}, "the disk alone carries"),
        ({Layer.NETWORK}, "the network alone carries"),
    ],
)
def test_a_verdict_says_what_it_compares_the_server_with(kept: set[Layer], compared: str):
    whole = example_isolation()
    runs = tuple(run for run in whole.runs if run.layer in {*kept, Layer.SERVER})
    report = isolation_report(replace(whole, runs=runs))
    assert f" of what {compared}, with 48 clients" in report.fields[0].text
    assert report.tables[0].caption.endswith("while both are busy" if len(kept) > 1 else f": what {compared}")


@pytest.mark.parametrize(
    ("busy", "told"),
    [
        (97.6, "(smbd 60, clients 37, the rest 1)"),
        (97.5, "(smbd 60, clients 37, the rest 1)"),
        (97.4, "(smbd 60, clients 37)"),
        (96.4, "(smbd 60, clients 37)"),
    ],
)
def test_the_parts_of_the_processors_add_up(busy: float, told: str):
    known = LayerEvidence(clients=4, server=1.0, ratio=0.5, cpu_percent=busy, server_percent=60.0, clients_percent=37.0)
    assert verdict_sentence(IsolationVerdict(cause=Cause.SAMBA, evidence=known)).endswith(told)


@pytest.mark.parametrize(("others", "is_judged"), [(87.0, False), (10.0, True)])
def test_no_form_names_samba_where_others_had_the_processors(others: float, is_judged: bool):
    busy = Spread(mean=100.0, median=100.0)
    idle = Spread(mean=0.0, median=0.0)
    cpu = CPUUse(user=busy, system=idle, total=busy, samples=5)
    whole = example_isolation()
    runs = [replace(run, server_cpu=cpu, processes={"server": 100.0 - others}) for run in whole.runs]
    isolation = replace(whole, runs=tuple(runs))

    document = isolation_document(isolation_summary(isolation))
    assert document["verdict"]["cause"] == ("samba" if is_judged else "unknown")
    assert (document["verdict"]["doubts"][:1] == [IsolationDoubt.OTHERS.value]) is not is_judged

    report = isolation_report(isolation)
    assert report.answer is not None
    assert ("Limit: " in report.answer.text) is is_judged
    assert ("Cannot be judged: other programs used 87 %" in report.answer.text) is not is_judged
    for name in ("text", "markdown", "csv", "html", "json"):
        exported = export_reports([report], name).decode()
        assert ("Limit: Samba" in exported) is (is_judged and name != "json"), name


def test_a_ratio_that_is_not_that_of_the_rates_beside_it_is_explained():
    whole = example_isolation()
    most = max(whole.clients)
    alone = next(run for run in whole.runs if (run.layer, run.clients) == (Layer.SERVER, most))
    longer = replace(alone, round=2, bytes_per_second=2 * (alone.bytes_per_second or 0))
    broken = replace(whole, rounds=2, runs=(*whole.runs, longer))
    told = "Server / both: over the rounds in which both were measured"
    assert [told in isolation_report(one).tables[0].caption for one in (whole, broken)] == [False, True]


@pytest.mark.parametrize(("times", "which", "told"), [(1.99, min, False), (2.0, min, True), (2.0, max, False)])
def test_what_was_slower_alone_than_with_the_other_is_told_among_the_details(times, which, told):
    """Of the clients that the verdict is of, a reservation tells."""
    whole = example_isolation()
    least = which(whole.clients)
    rate = next(one.bytes_per_second for one in whole.runs if one.layer is Layer.NETWORK_WITH_DISK)
    runs = [
        replace(one, bytes_per_second=rate / times) if (one.layer, one.clients) == (Layer.NETWORK, least) else
        replace(one, bytes_per_second=rate) if (one.layer, one.clients) == (Layer.NETWORK_WITH_DISK, least) else one
        for one in whole.runs
    ]  # fmt: skip
    report = isolation_report(replace(whole, runs=tuple(runs)))
    said = [field.text for field in report.results if field.name == "Slower alone"]
    assert (
        said[:1]
        == [f"network with {least} client: idle processors take time to wake up, or those runs were disturbed"] * told
    )
    assert not [field for field in report.brief.results if field.name == "Slower alone"]


def test_a_remark_counts_its_clients():
    whole = example_isolation()
    run = next(run for run in whole.runs if run.clients == 1)
    failed = replace(whole, runs=(*whole.runs, replace(run, status=RunStatus.FAILED, error="cut")))
    assert "* 1 client unusual: 1 of" in report_text(isolation_report(failed))
