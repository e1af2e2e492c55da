"""Series compared with a base, and each with the one measured before it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.comparison.several import compare_named
from app.series.kind import SERIES_KIND
from storage.notebook import Notebook
from storage.records import Command, Series
from tests.builders import book, one

RATES = (100e6, 101e6, 99e6, 100.5e6, 99.5e6)


def months(count: int) -> list[Series]:
    """Equal work on one day after another, each in a state of its own, so that none repeats another."""
    return [one(number, RATES, environment={"server": {"os": f"Linux 6.{number}"}}) for number in range(1, count + 1)]


def pairs_of_neighbours(tmp_path: Path, all_series: list[Series], named: list[Series]) -> list[tuple[str, str]]:
    with Notebook(book(tmp_path / "n.db", *all_series)) as notebook:
        compared = compare_named(notebook, [series.id for series in named])
    return [(summary.comparison.base_id, summary.comparison.other_id) for summary in compared.neighbours]


def test_each_stands_beside_the_one_before_whatever_the_base_is(tmp_path: Path):
    first, second, third = months(3)
    found = pairs_of_neighbours(tmp_path, [first, second, third], [third, first, second])
    assert found == [(first.id, second.id), (second.id, third.id)]


def test_a_pair_has_no_neighbours(tmp_path: Path):
    both = months(2)
    assert pairs_of_neighbours(tmp_path, both, both) == []


@pytest.mark.parametrize("change", ["command", "host"])
def test_other_work_is_no_neighbour(tmp_path: Path, change: str):
    first, second, third = months(3)
    other = replace(third, command=Command.PUT)
    if change == "host":
        other = replace(third, target=replace(third.target, host="other"))
    assert pairs_of_neighbours(tmp_path, [first, second, other], [first, second, other]) == []


def test_a_comparison_reads_each_series_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    read_ids: list[str] = []
    read_all = Notebook.all_of

    def noted(notebook: Notebook, ids: Sequence[str], **how: Any) -> list[Series]:
        read_ids.extend(ids)
        return read_all(notebook, ids, **how)

    monkeypatch.setattr(Notebook, "all_of", noted)
    of_path = months(5)
    with Notebook(book(tmp_path / "n.db", *of_path)) as notebook:
        SERIES_KIND.compare(notebook, notebook.recordings_of([of_path[3].id, of_path[4].id]))
    assert sorted(read_ids) == [series.id for series in of_path]
