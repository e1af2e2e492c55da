"""The bottleneck calculation against the method's worked tables, with what is misprinted in them named."""

import pytest

from forms.exporters import FORMATS, export_reports
from forms.tuning.catalogue import misprints_about
from forms.worksheets.bottleneck_report import blank_bottleneck_report, bottleneck_report
from forms.worksheets.references import (
    BOOK,
    TABLES,
    TODAY,
    ReferenceKind,
    UnknownComponentError,
    ethernet_payload,
    find,
    rate_of_operations,
)
from forms.worksheets.report import to_record
from forms.worksheets.summary import BottleneckCalculation, Machine, Part, count_needed, upgrades, way_to
from storage.json_reader import DocumentError
from tests.forms.golden_files import check
from tests.forms.worksheets.table_b5 import B5, STEPS, component

KB = 1000.0


def test_b5_and_b10_come_out_as_printed_where_the_print_is_right():
    columns = [
        (m.disk and m.disk.total_bytes_per_second / KB, m.network and m.network.total_bytes_per_second / KB)
        for m in STEPS
    ]
    assert columns == [(560, 1_113), (3_360, 1_113), (3_360, 4_452), (11_200, 4_452), (11_200, 13_000)]
    totals = [(m.total_bytes_per_second or 0) / KB for m in STEPS]
    assert totals[:4] == [560, 1_113, 3_360, 4_452]
    assert [m.bottlenecks[0] for m in STEPS[:4]] == [
        ReferenceKind.DISK,
        ReferenceKind.NETWORK,
        ReferenceKind.DISK,
        ReferenceKind.NETWORK,
    ]


def test_the_last_row_is_6000_by_its_own_cpu_not_11200_as_printed():
    assert (STEPS[4].total_bytes_per_second or 0) / KB == 6_000
    assert STEPS[4].bottlenecks == (ReferenceKind.CPU,)


def test_two_cpus_by_the_rule_of_b8_leave_the_printed_11200():
    """B-8 multiplies by the number of CPUs; the tables do not, though the SPARC has two. Then disks would limit."""
    two = STEPS[4].with_part(ReferenceKind.CPU, component(ReferenceKind.CPU, "Sun SPARC 10", 2))
    assert (two.total_bytes_per_second or 0) / KB == 11_200
    assert two.bottlenecks == (ReferenceKind.DISK,)


def test_the_16000_in_row_3_is_a_misprint_that_changes_no_total():
    wrong = STEPS[2].with_part(ReferenceKind.CPU, Part(name="as printed", bytes_per_second=16_000 * KB, count=1))
    assert wrong.total_bytes_per_second == STEPS[2].total_bytes_per_second


def test_the_linux_pentium_of_the_text_waits_for_its_disk():
    """The worked example in prose: one Pentium 133, one 7200 RPM disk, one 10 Mb/s Ethernet."""
    machine = Machine(
        name="Linux",
        cpu=component(ReferenceKind.CPU, "Intel Pentium 133"),
        disk=component(ReferenceKind.DISK, "7200 RPM disk"),
        network=component(ReferenceKind.NETWORK, "10 Mb/s Ethernet (1999)"),
    )
    assert machine.total_bytes_per_second == 560 * KB
    assert machine.bottlenecks == (ReferenceKind.DISK,)


def test_the_books_tables_with_their_misprints_put_right():
    numbers = {r.name: r.bytes_per_second / KB for r in TABLES[BOOK]}
    assert [numbers[n] for n in ("7200 RPM disk", "4800 RPM disk", "3600 RPM disk")] == [560, 480, 320]
    assert [numbers[n] for n in ("Intel Pentium 133", "Dual Pentium 133", "Sun SPARC II")] == [5_600, 9_600, 5_280]
    assert [numbers[n] for n in ("ISDN", "T1", "Token ring", "FDDI", "ATM 155")] == [16, 197, 1_500, 6_250, 7_125]
    for name in ("100 Mb/s Ethernet (1999)", "FDDI", "ATM 155", "4800 RPM disk", "Sun SPARC 10"):
        assert misprints_about(name), name
        assert name in numbers


def test_todays_tables_have_disks_ethernets_and_wifi_with_sources():
    today = TABLES[TODAY]
    assert all(r.source for r in today)
    assert {r.kind for r in today} == {ReferenceKind.DISK, ReferenceKind.NETWORK}
    names = [r.name for r in today]
    for name in ("HDD 7200 RPM", "NVMe PCIe 5.0 x4", "10 Mb/s Ethernet", "400 Gb/s Ethernet"):
        assert name in names
    assert sum(name.startswith("Wi-Fi") for name in names) >= 4
    assert ethernet_payload(1000) == pytest.approx(117.7e6, abs=0.05e6)
    disks = [r.bytes_per_second for r in today if r.kind is ReferenceKind.DISK]
    assert disks == sorted(disks)


def test_references_are_found_by_enough_of_their_name():
    assert find(ReferenceKind.DISK, "nvme pcie 4", TABLES).name == "NVMe PCIe 4.0 x4"
    assert find(ReferenceKind.NETWORK, "10 Gb/s Ethernet", TABLES).bytes_per_second > 1e9
    with pytest.raises(UnknownComponentError, match=r"could be more than one.*PCIe 3.*PCIe 4"):
        find(ReferenceKind.DISK, "nvme", TABLES)
    with pytest.raises(UnknownComponentError, match=r"is no cpu.*Pentium"):
        find(ReferenceKind.CPU, "abacus", TABLES)


def test_upgrades_say_what_each_gives():
    first = list(upgrades(STEPS[0]))
    assert first[0].description == "2 disks instead of 1"
    assert first[0].gain_bytes_per_second == 553 * KB
    assert first[0].machine.bottlenecks == (ReferenceKind.NETWORK,)
    assert [u.gain_bytes_per_second for u in first[1:]] == [0, 0]
    assert list(upgrades(Machine(name="nothing known"))) == []


def test_enough_is_what_takes_a_part_past_the_others():
    assert count_needed(STEPS[0], ReferenceKind.DISK) == 2
    assert count_needed(STEPS[1], ReferenceKind.NETWORK) == 4
    assert count_needed(STEPS[1], ReferenceKind.DISK) == 6
    assert count_needed(Machine(name="", disk=STEPS[0].disk), ReferenceKind.DISK) == 1


def test_the_way_to_a_target_moves_the_bottleneck_step_by_step():
    steps = way_to(STEPS[0], 4_000 * KB)
    assert [m.bottlenecks[0] for m in steps[:-1]] == [ReferenceKind.DISK, ReferenceKind.NETWORK] * 3 + [
        ReferenceKind.DISK
    ]
    assert steps[1].name == "1 more disk"
    totals = [m.total_bytes_per_second or 0 for m in steps]
    assert totals == sorted(totals)
    assert totals[-2] < 4_000 * KB <= totals[-1]
    assert way_to(STEPS[0], 100) == [STEPS[0]]


def test_a_far_target_is_reached_in_few_steps():
    """The book's machine on its way to 11,200 KB/s: no longer twenty steps that end at 10.08 MB/s."""
    steps = way_to(STEPS[0], 11_200 * KB)
    assert (steps[-1].total_bytes_per_second or 0) >= 11_200 * KB
    assert len(steps) < 16
    filled = BottleneckCalculation(machines=tuple(steps), target_bytes_per_second=11_200 * KB)
    assert f"11.20 MB/s, reached in {len(steps) - 1} steps" in {f.text for f in bottleneck_report(filled).results}
    assert BottleneckCalculation.from_content(to_record(filled, "far").content) == filled


def test_a_target_that_is_not_reached_is_told():
    short = BottleneckCalculation(machines=STEPS[:2], target_bytes_per_second=11_200 * KB)
    assert not short.reaches_target
    target = next(field.text for field in bottleneck_report(short).results if field.name == "Target")
    assert target == "11.20 MB/s, NOT reached: 1.113 MB/s after 1 step"
    assert short.to_content()["reaches_target"] is False


def test_the_books_rules_of_thumb_stand_on_the_form():
    one = " ".join(bottleneck_report(BottleneckCalculation(machines=STEPS[:1])).advice)
    assert "within 10 percent" in one
    assert "RAID 5" not in one
    many = " ".join(bottleneck_report(B5).advice)
    assert "RAID 5 writes everything twice" in many
    assert "the bus" in many


def test_steps_spell_a_cpu_as_the_form_does():
    slow = Machine(name="x", cpu=Part(name="slow", bytes_per_second=500 * KB, count=1), disk=STEPS[0].disk)
    assert way_to(slow, 560 * KB)[1].name == "1 more CPU"


@pytest.mark.parametrize(
    ("words", "rate"), [("70 ops", 560_000), ("700ops/s", 5_600_000), ("70", None), ("0 ops", None)]
)
def test_operations_a_second_are_of_8_kb(words, rate):
    assert rate_of_operations(words) == rate


def test_a_machine_of_one_part_can_still_be_improved():
    steps = way_to(Machine(name="disk only", disk=STEPS[0].disk), 2_000 * KB)
    assert steps[-1].disk is not None
    assert steps[-1].disk.count == 4


def test_saved_and_read_back():
    record = to_record(B5, "sparc")
    assert record.kind == "bottleneck"
    assert BottleneckCalculation.from_content(record.content) == B5
    with pytest.raises(DocumentError, match=r"machines\[0\].cpu.count"):
        BottleneckCalculation.from_content({"machines": [{"name": "x", "cpu": {"name": "y", "bytes_per_second": 1}}]})


@pytest.mark.parametrize("name", [n for n in FORMATS if n not in {"xlsx", "pdf"}])
def test_golden_forms(name):
    check(f"bottleneck{FORMATS[name].suffix}", export_reports([bottleneck_report(B5, "SPARC 20")], name))
    check(f"bottleneck_blank{FORMATS[name].suffix}", export_reports([blank_bottleneck_report()], name))


def test_the_total_of_the_paper_form_is_the_least():
    report = bottleneck_report(B5)
    headings = [column.heading for column in report.tables[1].columns]
    assert headings[1:] == [
        "Number of CPUs",
        "CPU Throughput",
        "Number of Disks",
        "Disk Throughput",
        "Number of Networks",
        "Network Throughput",
        "Total Throughput",
    ]
    for row in report.tables[1].rows:
        parts = [row.cells[i].value for i in (2, 4, 6)]
        assert row.cells[7].value == min(p for p in parts if isinstance(p, float))
