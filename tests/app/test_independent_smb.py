"""An SMB server that is not Samba and shares no code with our client: measured, checked, diagnosed and under load."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.records import format_target
from tests.command_line import MIB, QUICK, Sharebench
from tests.release.running import FailedError
from tests.servers import independent_smb
from tests.servers.independent_smb import IndependentSmb
from tests.servers.process import NotPossibleHereError

pytestmark = [pytest.mark.long, pytest.mark.undivided, pytest.mark.xdist_group("independent-smb")]
"""One process builds it."""

BUILT_WITHIN_SECONDS = 300.0


@pytest.fixture(scope="module", params=[(), ("no-leases", "no-notify", "small"), ("signed",)], ids=" ".join)
def server(request: pytest.FixtureRequest) -> Iterator[IndependentSmb]:
    try:
        program = independent_smb.build(BUILT_WITHIN_SECONDS)
    except FailedError as error:
        raise NotPossibleHereError(f"smb-server {independent_smb.VERSION} cannot be built: {error}") from error
    server = IndependentSmb(program, *request.param)
    try:
        server.start()
        server.make_file("big.iso", bytes(8 * MIB))
        yield server
    finally:
        server.stop()


@pytest.fixture
def sharebench(server: IndependentSmb, tmp_path: Path) -> Sharebench:
    return Sharebench(tmp_path / "notebook.db", server.password)


@pytest.mark.parametrize("options", [(), ("--sign",), ("--encrypt",)])
def test_a_get_is_measured(server: IndependentSmb, sharebench: Sharebench, options):
    target = format_target(server.target("big.iso"))
    document = sharebench.json("run", target, "--runs", "2", "--warmup", "0", "--verify", "--json", *options, *QUICK)
    assert [run["size_bytes"] for run in document["runs"]] == [8 * MIB] * 2
    client = document["client"]
    assert (client["encryption"] != "none") == ("--encrypt" in options)
    assert client["signing"] != "none" or "--sign" not in options


def test_a_put_and_a_tree_leave_nothing(server: IndependentSmb, sharebench: Sharebench):
    target = format_target(server.target())
    for words in (("--put", "--size", "4M"), ("--put", "--files", "20")):
        document = sharebench.json("run", target, *words, "--runs", "2", "--warmup", "0", "--json", *QUICK)
        assert len(document["runs"]) == 2
    assert [path.name for path in server.folder.iterdir()] == ["big.iso"]


def test_no_check_fails(server: IndependentSmb, sharebench: Sharebench):
    lines = sharebench.json("check", format_target(server.target("big.iso")), "--json")
    assert [line for line in lines if line["state"] == "failed"] == []


def test_it_is_no_fault_of_a_server_to_be_no_samba(server: IndependentSmb, sharebench: Sharebench):
    target = format_target(server.target())
    document = sharebench.json("diagnose", target, "--quick", "--yes", "--json")
    assert [finding["key"] for finding in document["findings"] if finding["severity"] == "problem"] == []
    assert [stage["name"] for stage in document["stages"] if stage["status"] == "failed"] == []
    assert [path.name for path in server.folder.iterdir()] == ["big.iso"]


def test_a_short_load(server: IndependentSmb, sharebench: Sharebench):
    words = ("--users", "2", "--scenario", "small", "--files", "20", "--duration", "1", "--settle", "0.2", "--json")
    document = sharebench.json("load", format_target(server.target()), *words)
    [point] = document["points"]
    assert point["requests"] > 0
    assert point["errors"] == {}
