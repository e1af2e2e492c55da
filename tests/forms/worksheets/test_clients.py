"""The clients worksheet against the method's own examples."""

from dataclasses import replace

import pytest

from app.worksheets.parsing import group_from
from forms.exporters import FORMATS, export_reports
from forms.worksheets.report import to_record
from forms.worksheets.users import ServerMemory, UserGroup, UsersCalculation
from forms.worksheets.users_report import blank_users_report, users_report
from storage.json_reader import DocumentError
from tests.forms.golden_files import check

KB = 1000
OFFICE = UserGroup(name="office", clients=36, transfers_per_second=2.3, file_bytes=12 * KB)


def report(capacity: float, *groups: UserGroup) -> UsersCalculation:
    return UsersCalculation(capacity_bytes_per_second=capacity, capacity_source="three SCSI-1 disks", groups=groups)


def test_36_office_clients_ask_for_about_1_mb_and_34_fit_on_960_kb():
    """The text calls 960 KB/s enough for 36 at 2.3 transfers of 12 KB: those ask for 993.6 KB/s, so 34 fit."""
    worksheet = report(960 * KB, OFFICE)
    assert worksheet.demand_bytes_per_second == pytest.approx(993_600)
    assert not worksheet.is_enough
    assert worksheet.carried(OFFICE) == 34
    assert report(1_000 * KB, OFFICE).is_enough


def test_25_clients_share_375_kb_and_75_need_three_times_as_much():
    client = UserGroup(name="PC", clients=25, transfers_per_second=1, file_bytes=15 * KB)
    assert report(375 * KB, client).percent_used == pytest.approx(100)
    assert report(375 * KB, client).is_enough
    assert report(375 * KB, client).carried(client) == 25
    assert replace(client, clients=75).demand_bytes_per_second == 1_125 * KB
    assert not report(375 * KB, replace(client, clients=30)).is_enough


def test_groups_add_up():
    imaging = UserGroup(name="imaging", clients=2, transfers_per_second=0.5, file_bytes=20_000_000)
    worksheet = report(100e6, OFFICE, imaging)
    assert worksheet.demand_bytes_per_second == pytest.approx(993_600 + 20e6)
    assert worksheet.carried(imaging) == 10
    assert worksheet.carried(replace(imaging, transfers_per_second=0)) is None


def test_more_than_four_fifths_is_tight():
    assert report(1_000 * KB, OFFICE).is_tight
    assert "! tight: 993.6 kB/s asked, 99.4 % of it" in told(report(1_000 * KB, OFFICE))["Enough"]
    assert not report(2_000 * KB, OFFICE).is_tight
    assert "✓ yes" in told(report(2_000 * KB, OFFICE))["Enough"]
    assert not report(960 * KB, OFFICE).is_tight


def test_clients_that_ask_for_nothing_are_no_reason_to_call_the_server_enough():
    idle = replace(OFFICE, transfers_per_second=0)
    for groups in ((), (idle,)):
        assert told(report(1_000 * KB, *groups))["Enough"].startswith("nobody asks yet")


def test_the_memory_of_clients():
    """The book's 600 to 800 KB for each smbd, beside the programs themselves."""
    memory = ServerMemory(client_bytes=800_000, available_bytes=32_000_000)
    filled = replace(report(2_000 * KB, OFFICE), memory=memory)
    assert memory.needed_bytes(36) == 5_200_000 + 36 * 800_000
    assert memory.carried == 33
    assert told(filled)["Memory"] == ("✗ too little: 36 x 800 kB + 5.2 MB = 34 MB of 32 MB, which carries 33 clients")
    enough = replace(filled, memory=replace(memory, available_bytes=64_000_000))
    assert told(enough)["Memory"].startswith("✓ enough: ")
    assert UsersCalculation.from_content(to_record(filled, "office").content) == filled
    assert "Memory" not in told(report(2_000 * KB, OFFICE))


def test_the_form_says_how_far_to_trust_it():
    assert "within 10 percent" in users_report(report(960 * KB, OFFICE)).advice[0]


def told(worksheet: UsersCalculation) -> dict[str, str]:
    """The lines below the table."""
    return {field.name: field.text for field in users_report(worksheet).results}


def test_saved_and_read_back():
    worksheet = report(960 * KB, OFFICE)
    assert UsersCalculation.from_content(to_record(worksheet, "office").content) == worksheet
    with pytest.raises(DocumentError, match="capacity_bytes_per_second"):
        UsersCalculation.from_content({"capacity_bytes_per_second": 0, "groups": []})


@pytest.mark.parametrize("name", [n for n in FORMATS if n not in {"xlsx", "pdf"}])
def test_golden_forms(name):
    filled = users_report(report(960 * KB, OFFICE, replace(OFFICE, name="programmers", clients=4)), "office")
    check(f"clients{FORMATS[name].suffix}", export_reports([filled], name))
    check(f"clients_blank{FORMATS[name].suffix}", export_reports([blank_users_report()], name))


def book_example(*groups: UserGroup) -> str | None:
    return next((text for name, text in told(report(960 * KB, *groups)).items() if "book's example" in name), None)


def test_the_office_of_a_preset_is_told_with_the_books_other_figure():
    preset = group_from("36:office", 1)
    assert report(960 * KB, preset).carried(preset) == 120
    said = book_example(preset)
    assert said is not None
    assert "2.3 transfers of 12 kB" in said
    assert "27.60 kB/s in place of 8.000 kB/s" in said
    assert said.endswith("carries 34")


@pytest.mark.parametrize(("count", "carried"), [(1, "34"), (34, "34"), (120, "34")])
def test_the_books_other_figure_does_not_depend_on_how_many_there_are(count: int, carried: str):
    said = book_example(group_from(f"{count}:office", 1))
    assert said is not None
    assert said.endswith(f"carries {carried}")


def test_an_office_beside_others_is_told_with_the_books_other_figure_as_well():
    groups = [group_from(text, 1) for text in ("10:office", "2:imaging")]
    assert book_example(*groups) is not None


@pytest.mark.parametrize("group", ["36:workstation", "36:2.3:12KB", "36:imaging", "75:375KB/25"])
def test_other_demands_have_one_figure(group: str):
    assert book_example(group_from(group, 1)) is None


def test_what_is_asked_is_told_with_the_digit_of_its_table():
    assert "103.5 % of it" in told(report(960 * KB, OFFICE))["Enough"]
