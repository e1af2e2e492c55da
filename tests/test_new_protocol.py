"""What a new protocol takes: a client, a row in the table of protocols, and a row for its modules."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from app.base.targets import check_complete, parse_target
from app.check.checked import CheckState
from app.check.engine import check
from app.clients import registry
from app.clients.base import Secrets
from app.clients.registry import ClientModules, check_client_name
from app.recording.spec import SeriesSpec
from forms.comparison.matrix import heading, protocol_matrix
from forms.comparison.report import comparison_report
from forms.comparison.rules import findings
from forms.comparison.verdict import compare
from forms.experiments.survey import Station, StationPlace, survey, with_series
from forms.experiments.survey_report import survey_document
from forms.findings.series_warnings import advice
from storage.notebook import Notebook
from storage.plan import Settings
from storage.protocols import PROTOCOLS, Protocol, protocol_of
from storage.records import ClientFacts, Command, Series, Target, format_target
from tests.app.fakes import FakeClient, FakeServer
from tests.builders import series

ROOT = Path(__file__).resolve().parents[1]
NULL = Target(protocol="null", host="nas", port=9, path="/data")
LOOPBACK = Target(protocol="null", host="127.0.0.1", port=9, path="/data")


class NullClient(FakeClient):
    """Moves nothing, by the name that the registry's row has."""

    def __init__(self, target: Target, secrets: Secrets, settings: Settings) -> None:
        super().__init__(FakeServer(files={"/data": 1 << 30}), target)

    def close(self) -> None:
        pass


@pytest.fixture
def null_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Protocol(name="null", label="Null", default_port=9, in_survey=True)
    monkeypatch.setitem(PROTOCOLS, "null", row)
    modules = ClientModules(clients={"sharebench": f"{__name__}:NullClient"})
    monkeypatch.setitem(registry.MODULES, "null", modules)
    assert __name__ in sys.modules


def measured(target: Target, number: int, command: Command = Command.GET) -> Series:
    client = ClientFacts(name="sharebench", version="1", block_bytes=1 << 20, in_flight=4)
    rates = [1e8 + 1e5 * number * run for run in range(5)]
    return series(rates, id=f"{number:012x}", target=target, command=command, client=client, label="")


def every_target() -> list[Target]:
    return [
        Target(
            protocol=name, host="" if row.is_local else host, port=row.default_port, path="/x",
            share="s" if row.has_share else None,
        )
        for name, row in PROTOCOLS.items()
        for host in ("nas", "127.0.0.1")
    ]  # fmt: skip


@pytest.mark.usefixtures("null_protocol")
def test_its_targets_are_read_and_written():
    assert parse_target("null://nas/data") == NULL
    assert format_target(NULL) == "null://nas/data"
    check_complete(NULL, Command.GET)
    assert check_client_name("null", "") == "sharebench"


@pytest.mark.usefixtures("null_protocol")
def test_it_is_surveyed_compared_and_judged_beside_every_other():
    many = [
        measured(target, 2 * number + (command is Command.PUT), command)
        for number, target in enumerate(every_target(), 1)
        for command in Command
    ]
    stations = [
        with_series(
            Station(
                place=StationPlace.NETWORK,
                host=one.target.host,
                protocol=one.target.protocol,
                command=one.command,
            ),
            one,
        )
        for one in many
    ]
    filled = survey("survey nas", stations)
    columns = [column.name for column in filled.table.columns]
    assert "Null" in columns
    assert any(row.cells[columns.index("Null")] for row in filled.table.rows)
    assert "network Null get" in {station.name for station in filled.stations}
    assert "null" in {station["protocol"] for station in survey_document(filled)["stations"]}
    assert len(findings(many)) > 0
    null = [one for one in many if one.target.protocol == "null"]
    assert {heading(one) for one in null} == {"Null"}
    assert [advice(one) for one in null]
    assert compare(null[0], null[1]).verdict
    assert comparison_report(null)
    assert [column.name for column in protocol_matrix(null).columns] == ["Null"]


@pytest.mark.usefixtures("null_protocol")
def test_it_is_looked_at_before_a_measurement(tmp_path: Path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        found = {one.name: one for one in check(LOOPBACK, Secrets(), SeriesSpec(), notebook)}
    assert found["reach"].text == "127.0.0.1 answers on port 9"
    assert found["log in"].text == "null has no login"
    assert found["file"].state is CheckState.FINE


def test_a_protocol_that_only_a_document_knows_stops_nothing():
    strange = Target(protocol="afp", host="nas", path="/x")
    one = measured(strange, 1)
    assert [column.name for column in protocol_matrix([one]).columns] == ["afp"]
    assert format_target(strange) == "afp://nas/x"
    assert {series_id for found in findings([one]) for series_id in found.series_ids} <= {one.id}
    assert not protocol_of("afp").in_survey


def test_every_protocol_has_its_clients():
    assert PROTOCOLS.keys() == registry.MODULES.keys()


def test_nothing_but_the_table_asks_for_a_protocol_by_name():
    asking = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for package in ("app", "forms", "storage")
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Compare) and _compares_a_protocol(node)
    ]
    assert asking == []


def _compares_a_protocol(node: ast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    about = any(ast.unparse(side).rpartition(".")[2] in {"protocol", "scheme"} for side in sides)
    names = {part.value for side in sides for part in ast.walk(side) if isinstance(part, ast.Constant)}
    return about and bool(names & {*PROTOCOLS})
