"""Quick tests of a notebook: compared, in the history of their path, as a baseline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.quick.alike import quick_tests_like
from app.quick.record import with_price_of_signing
from forms.tuning.fact_names import SIGNING_PRICE
from storage.looks import recording_of
from storage.notebook import Notebook
from storage.quick.records import Quick, recording_of_quick
from storage.records import Command, SeriesStatus, Target
from tests.command_line import Inside
from tests.diagnoses import healthy_but, protection_stage
from tests.quick_tests import RATES, SEQ_Q8, quick_test


@pytest.fixture
def inside(tmp_path: Path) -> Inside:
    return Inside(tmp_path / "notebook.db", None)


def night(day: int, factor: float = 1.0, **fields: Any) -> Quick:
    """The quick test of a night of January; its first line is some times as fast."""
    rate = RATES[SEQ_Q8, Command.GET] * factor
    rates = {(SEQ_Q8, Command.GET): [rate * share for share in (0.99, 1.0, 1.01)]}
    created_at = f"2026-01-{day:02}T02:00:00.000Z"
    return quick_test(rates, **{"id": f"{day:012}", "created_at": created_at, **fields})


def store(inside: Inside, *quick_tests: Quick) -> None:
    with Notebook(inside.db) as notebook:
        for quick in quick_tests:
            notebook.add_recording(recording_of_quick(quick))


@pytest.mark.parametrize(("factor", "code"), [(0.3, 1), (1.0, 3), (4.0, 0)])
def test_the_exit_code_is_that_of_the_verdict(inside: Inside, factor: float, code: int):
    store(inside, night(1), night(2, factor))
    done = inside("compare", f"{1:012}", f"{2:012}")
    assert done.returncode == code, done.stderr
    document = inside("compare", f"{1:012}", f"{2:012}", "--json")
    assert '"sharebench/quick-comparison/1"' in document.stdout


def test_a_baseline_of_a_quick_test_is_compared_by_its_name(inside: Inside):
    store(inside, night(1, label="before"), night(2, 0.3))
    assert inside("baseline", "set", "winter", f"{1:012}").returncode == 0
    done = inside("compare", "winter", "last")
    assert done.returncode == 1
    assert "winter" in done.stdout


def test_three_are_refused_in_a_line(inside: Inside):
    store(inside, night(1), night(2), night(3))
    done = inside("compare", f"{1:012}", f"{2:012}", f"{3:012}")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_no_run_of_a_line_is_left_out(inside: Inside):
    store(inside, night(1))
    done = inside("reject", f"{1:012}", "2", "--reason", "the backup ran")
    assert done.returncode == 2
    assert "keeps all of its runs" in done.stderr


def test_the_price_of_signing_is_that_of_a_diagnosis_of_this_server(inside: Inside):
    with Notebook(inside.db) as notebook:
        assert with_price_of_signing(night(1), notebook) == night(1)
        server = Target(protocol="smb", host="nas", share="data")
        notebook.add_recording(recording_of(healthy_but(protection_stage(100e6), target=server, id="0123456789ab")))
        facts = with_price_of_signing(night(1), notebook).environment["path"]
    assert facts[SIGNING_PRICE] == pytest.approx(3.0)


def test_earlier_ones_count_unless_alone(inside: Inside):
    nights = [night(day) for day in range(1, 15)]
    store(inside, *nights, night(20, 0.75))
    assert inside("compare", f"{14:012}", "last").returncode == 1
    assert inside("compare", f"{14:012}", "last", "--alone").returncode == 3


def test_those_of_another_path_unfinished_or_later_are_not_alike(inside: Inside):
    base = night(10)
    store(
        inside,
        base,
        night(1),
        night(2, link_bits_per_second=10),
        night(3, status=SeriesStatus.INTERRUPTED),
        night(11),
    )
    with Notebook(inside.db) as notebook:
        alike = quick_tests_like(notebook, base, before=base.created_at)
    assert [quick.id for quick in alike] == [f"{1:012}"]


def test_the_history_has_a_curve_of_each_line_and_names_what_changed(inside: Inside):
    store(inside, *(night(day) for day in range(1, 10)), *(night(day, 0.4) for day in range(10, 13)))
    done = inside("history", "last")
    assert done.returncode == 0, done.stderr
    assert "SEQ1M Q8T1 read: Slower by 60 %" in " ".join(done.stdout.split())
    document = inside.json("history", f"{3:012}", "--json")
    assert document["unit"] == "bytes/s"
    assert len(document["lines"]) == 8
    first = document["lines"][0]
    assert (first["name"], first["users"], len(first["levels"])) == ("SEQ1M Q8 read", None, 2)
    assert [len(line["levels"]) for line in document["lines"][1:]] == [1] * 7


def test_a_history_without_a_change_says_so(inside: Inside):
    store(inside, night(1), night(2))
    answer = inside("history", "last").stdout
    assert "No change found in 2 recordings" in answer
