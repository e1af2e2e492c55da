"""The isolation of 2003, as its author printed it."""

import json

import pytest

from forms.isolation.comparison import isolation_comparison
from forms.isolation.document import EXAMPLES, isolation_document
from forms.isolation.report import isolation_report
from forms.isolation.summary import isolation_summary
from forms.isolation.verdict import Cause, IsolationDoubt
from forms.report import cell_text
from storage.isolation import Layer, isolation_from_json
from storage.json_reader import JSONNode
from tests.builders import example_isolation

PRINTED = {
    1: ("19.7312", "0.583"), 4: ("33.9155", "0.570"), 8: ("43.7450", "0.454"), 12: ("43.6750", "0.442"),
    16: ("41.5259", "0.466"), 20: ("41.7760", "0.458"), 24: ("41.8949", "0.451"), 28: ("41.5549", "0.459"),
    32: ("41.9139", "0.449"), 36: ("41.3715", "0.444"), 40: ("41.4590", "0.440"), 44: ("41.0206", "0.443"),
    48: ("40.3336", "0.450"),
}  # fmt: skip
"""The least of the two, and nbench over it, by clients."""


def rows_of(table):
    kinds = [column.kind for column in table.columns]
    return [[cell_text(cell, kind) for cell, kind in zip(row.cells, kinds, strict=True)] for row in table.rows]


def test_least_and_ratio_come_out_as_printed():
    table = isolation_report(example_isolation()).tables[0]
    rows = rows_of(table)
    assert {int(row[0]): (row[5], row[7]) for row in rows} == PRINTED


def test_the_processors_come_out_as_printed():
    use = isolation_summary(example_isolation()).cpu[Layer.SERVER, 16]
    assert [round(spread.mean, 8) for spread in (use.user, use.system, use.total)] == [
        34.60447761,
        64.14477612,
        98.74925373,
    ]
    assert [spread.median for spread in (use.user, use.system, use.total)] == [35.2, 63.7, 99.9]
    assert use.user.deviation is not None
    assert abs(use.user.deviation / 100 - 0.070189292) < 1e-9


def test_what_each_layer_carries_is_drawn_for_as_many_clients_as_the_verdict_speaks_of():
    isolation = example_isolation()
    said = isolation_summary(isolation).verdict.evidence.clients
    (chart,) = [one for one in isolation_report(isolation).charts if one.title.startswith("What each carries")]
    assert chart.title == f"What each carries, {said} clients"
    row = next(row for row in rows_of(isolation_report(isolation).tables[0]) if int(row[0]) == said)
    assert [f"{bar.value:.4f}" for bar in chart.bars] == [*row[1:5], row[6]]
    assert [bar.name for bar in chart.bars][::4] == ["disk alone", "server"]


def test_the_conclusion_is_that_of_2003():
    verdict = isolation_summary(example_isolation()).verdict
    assert verdict.cause is Cause.SAMBA
    assert IsolationDoubt.ONE_ROUND in verdict.doubts


def test_the_profile_stands_on_the_form_although_more_clients_were_measured_without_one():
    summary = isolation_summary(example_isolation())
    assert summary.profile_clients == 16
    (table,) = [
        one for one in isolation_report(example_isolation()).tables if one.columns[0].heading.startswith("Costliest")
    ]
    assert table.columns[0].heading == "Costliest in smbd, 16 clients"
    assert rows_of(table)[0][:3] == ["Trans2_qpathinfo", "147,536", "1,734.1"]
    assert any(row[:3] == ["syscall_stat", "1,335,959", "108.6"] for row in rows_of(table))


def test_the_profile_without_two_kinds_of_request_stands_on_its_form_and_beside_the_one_before():
    (alone,) = isolation_report(example_isolation(1)).tables[-1:]
    assert rows_of(alone)[0][0] == "syscall_open"
    assert alone.columns[-1].heading == "Share of these calls' time, %"
    beside = isolation_comparison(example_isolation(), example_isolation(1))
    assert beside.fields[0].text == (
        "13 % less time in smbd: 11 of it in stat, 6.9 → 3.1 calls per open. Fewer than three rounds were measured, so"
        " there is no interval."
    )
    assert rows_of(beside.tables[-1])[0][:3] == ["stat", "6.9", "3.1"]


@pytest.mark.parametrize("number", [0, 1])
def test_the_document_gives_the_same_isolation_back(number: int):
    found = example_isolation(number)
    assert found.id == EXAMPLES[number]
    again = isolation_from_json(JSONNode("", json.loads(json.dumps(isolation_document(isolation_summary(found))))))
    assert again == found
