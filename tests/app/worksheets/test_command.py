"""``sharebench worksheet``: the calculations, from tables, rates, series and saved ones."""

from pathlib import Path

import pytest

from storage.notebook import Notebook
from storage.records import Worksheet
from tests.builders import book, book_series


@pytest.fixture(autouse=True)
def one_series(tmp_path: Path) -> None:
    book(tmp_path / "notebook.db", book_series())


SPARC = ("--cpu", "SPARC 10", "--disk", "7200 RPM disk", "--network", "10 Mb/s Ethernet (1999)")


def totals(document) -> list[float]:
    return [machine["total_bytes_per_second"] for machine in document["machines"]]


def test_table_b5_step_by_step(inside):
    steps = ("disks=6", "networks=4", "disks=20", "network=100 Mb/s Ethernet (1999),networks=2")
    upgrades = [word for step in steps for word in ("--upgrade", step)]
    document = inside.json("worksheet", "bottleneck", *SPARC, *upgrades, "--json")
    assert totals(document) == [560e3, 1_113e3, 3_360e3, 4_452e3, 6_000e3]
    assert [m["bottlenecks"] for m in document["machines"]] == [["disk"], ["network"], ["disk"], ["network"], ["cpu"]]


def test_the_form_draws_which_part_limits(inside):
    text = inside("worksheet", "bottleneck", *SPARC).stdout
    assert "< 1 disk" in text
    assert "█" in text
    assert "2 disks instead of 1 would give 1.113 MB/s" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_measured_series_stands_for_a_part(inside):
    document = inside.json(
        "worksheet", "bottleneck", "--from-series", "disk=last", "--disks", "2", "--network", "1 Gb/s", "--json"
    )
    machine = document["machines"][0]
    assert machine["disk"]["bytes_per_second"] == pytest.approx(761_908)
    assert machine["disk"]["source"] == "measured, series b9b9b9b9b9b9"
    assert machine["total_bytes_per_second"] == pytest.approx(2 * 761_908)


def test_steps_to_a_target(inside):
    document = inside.json(
        "worksheet", "bottleneck", "--disk", "SATA SSD", "--network", "10 Gb/s", "--target", "1000MB", "--json"
    )
    assert [machine["disk"]["count"] for machine in document["machines"]] == [1, 2]
    assert totals(document) == [560e6, 1120e6]


def test_saved_shown_listed_and_used_for_clients(inside):
    assert inside("worksheet", "bottleneck", *SPARC, "--save", "sparc").returncode == 0
    assert "bottleneck  sparc" in inside("worksheet", "list").stdout
    assert "Bottleneck calculation: sparc" in inside("worksheet", "show", "bottleneck", "sparc").stdout
    document = inside.json(
        "worksheet", "clients", "--group", "office=36:2.3:12KB", "--from-worksheet", "sparc", "--save", "c", "--json"
    )
    assert document["capacity_bytes_per_second"] == 560e3
    assert document["groups"][0]["carried_clients"] == 20
    assert [(part["kind"], part["needed"]) for part in document["parts"]] == [("cpu", 1), ("disk", 2), ("network", 1)]
    assert inside.json("worksheet", "show", "clients", "c", "--json")["is_enough"] is False


def test_operations_presets_and_memory(inside):
    document = inside.json("worksheet", "bottleneck", "--disk", "70 ops", "--json")
    assert totals(document) == [560e3]
    words = ("--group", "pcs=75:375KB/25", "--group", "36:office", "--group", "2:imaging")
    document = inside.json("worksheet", "clients", *words, "--capacity", "100MB", "--memory", "512MB", "--json")
    assert [group["demand_bytes_per_second"] for group in document["groups"]] == [1_125e3, 288e3, 20e6]
    assert document["memory"]["needed_bytes"] == 5_200_000 + 113 * 800_000
    assert inside("worksheet", "clients", "--group", "36:nothing", "--capacity", "1MB").returncode == 2
    alone = ("--group", "36:office", "--capacity", "1MB", "--client-memory", "1M")
    assert inside("worksheet", "clients", *alone).returncode == 2


def test_a_preset_names_its_group(inside):
    words = ("--group", "36:office", "--group", "25:programmers", "--group", "it=2:Imaging", "--group", "1:1:1K")
    document = inside.json("worksheet", "clients", *words, "--capacity", "1MB", "--json")
    assert [group["name"] for group in document["groups"]] == ["office", "programmers", "it", "group 4"]
    assert document["groups"][1]["demand_bytes_per_second"] == 1_000_000


def test_75_clients_take_three_networks_and_three_disks(inside):
    """Using Samba: 25 PCs fit on an Ethernet of 375 KB/s, so 75 need three, and at least three 7200 RPM disks."""
    words = ("--group", "75:375KB/25", "--capacity", "1125KB", "--network", "375KB", "--disk", "560KB")
    document = inside.json("worksheet", "clients", *words, "--json")
    assert [(part["kind"], part["needed"]) for part in document["parts"]] == [("disk", 3), ("network", 3)]
    text = " ".join(inside("worksheet", "clients", *words, "--save", "lab").stdout.split())
    assert "Needed for that: 3 x disk of 560.0 kB/s and 3 x network of 375.0 kB/s" in text
    assert inside.json("worksheet", "show", "clients", "lab", "--json")["parts"] == document["parts"]
    two = inside.json("worksheet", "clients", "--group", "50:375KB/25", *words[2:], "--json")
    assert [part["needed"] for part in two["parts"]] == [2, 2]


def test_a_target_says_whether_it_is_reached(inside):
    assert "Target:" in inside("worksheet", "bottleneck", *SPARC, "--target", "11200KB").stdout


def test_clients_from_a_series(inside):
    document = inside.json("worksheet", "clients", "--group", "10:1:8KB", "--from-series", "last", "--json")
    assert document["capacity_bytes_per_second"] == pytest.approx(761_908)
    assert document["is_enough"] is True
    assert document["groups"][0]["name"] == "group 1"


def test_the_tables_name_sources_and_misprints(inside):
    text = inside("worksheet", "bottleneck", "--tables").stdout
    assert "400 Gb/s Ethernet" in text
    assert "Using Samba (1999), table B-2" in text
    assert "Striping is RAID 0; RAID 1 mirrors" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bottleneck",), "nothing to calculate"),
        (("bottleneck", "--disk", "floppy"), "is no disk of the tables"),
        (("bottleneck", "--disk", "NVMe"), "could be more than one"),
        (("bottleneck", "--disk", "1M", "--upgrade", "fans=3"), "--upgrade fans=3: write"),
        (("bottleneck", "--disk", "1M", "--upgrade", "disks=0"), "at least 1"),
        (("bottleneck", "--disk", "1M", "--upgrade", "cpus=2"), "which cpu?"),
        (("bottleneck", "--from-series", "fan=last"), "write cpu=SERIES"),
        (("bottleneck", "--from-series", "disk=nosuch"), "no series or baseline"),
        (("clients", "--group", "1:1:1K"), "say once what the server moves"),
        (("clients", "--group", "x", "--capacity", "1M"), "write NAME=CLIENTS:TRANSFERS:SIZE"),
        (("clients", "--group", "1:-1:1K", "--capacity", "1M"), "cannot be below 0"),
        (("clients", "--group", "1:1:1K", "--from-worksheet", "none"), "no bottleneck worksheet is called"),
        (("show", "clients", "none"), "no clients worksheet is called"),
    ],
)
def test_wrong_words(inside, arguments, said):
    assert said in inside.fails(2, "worksheet", *arguments)


def test_a_worksheet_that_was_tampered_with_is_named(inside):
    with Notebook(inside.db) as notebook:
        saved = Worksheet(kind="bottleneck", name="odd", saved_at="2026-01-31T10:00:00.000Z", content={"machines": 3})
        notebook.save_worksheet(saved)
    assert "machines: expected an array" in inside.fails(4, "worksheet", "show", "bottleneck", "odd")
    assert "'odd' cannot be read" in inside.fails(4, "export", "odd", "--form", "bottleneck")
    group = ("clients", "--group", "1:1:1K", "--from-worksheet", "odd")
    assert "'odd' cannot be read" in inside.fails(4, "worksheet", *group)
