"""The smbd of another release of Debian, a different one at each commit: measured, checked and under load."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.server.changes.samba_setting import samba_setting
from app.server.changes.setting import Ways
from storage.records import format_target
from tests.command_line import MIB, QUICK, Sharebench
from tests.release.running import FailedError
from tests.servers.debian_servers import pinned_servers, server_root
from tests.servers.other_smbd import OtherSmbd
from tests.servers.process import NotPossibleHereError

pytestmark = pytest.mark.xdist_group("other-servers")
"""One process lays the packages out."""

FETCHED_WITHIN_SECONDS = 60.0
"""For each of two steps; where it takes longer the tests are skipped, also in CI."""


def _commits() -> int:
    """Of which there is one more each time; 0 where this is no checkout."""
    words = ["git", "-C", str(Path(__file__).parent), "rev-list", "--count", "HEAD"]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    return int(done.stdout) if done.returncode == 0 else 0


@pytest.fixture(scope="module")
def other_smbd() -> Iterator[OtherSmbd]:
    pinned = [server for name, server in pinned_servers().items() if name.startswith("samba")]
    chosen = pinned[_commits() % len(pinned)]
    try:
        root = server_root(chosen, FETCHED_WITHIN_SECONDS)
    except FailedError as error:
        raise NotPossibleHereError(f"{chosen.name} of {chosen.release} cannot be fetched: {error}") from error
    server = OtherSmbd(root)
    try:
        server.start()
        server.make_file("big.iso", bytes(8 * MIB))
        yield server
    finally:
        server.stop()


@pytest.fixture
def sharebench(other_smbd: OtherSmbd, tmp_path: Path) -> Sharebench:
    return Sharebench(tmp_path / "notebook.db", other_smbd.password)


@pytest.mark.varied
@pytest.mark.parametrize("options", [(), ("--sign",), ("--encrypt",)])
def test_a_get_is_measured(other_smbd: OtherSmbd, sharebench: Sharebench, options):
    target = format_target(other_smbd.target("big.iso"))
    document = sharebench.json("run", target, "--runs", "2", "--warmup", "0", "--verify", "--json", *options, *QUICK)
    assert [run["size_bytes"] for run in document["runs"]] == [8 * MIB] * 2
    client = document["client"]
    assert (client["signing"] != "none") == ("--sign" in options)
    assert (client["encryption"] != "none") == ("--encrypt" in options)


@pytest.mark.long
def test_a_put_and_a_tree_leave_nothing(other_smbd: OtherSmbd, sharebench: Sharebench):
    target = format_target(other_smbd.target())
    for words in (("--put", "--size", "4M"), ("--put", "--files", "20")):
        document = sharebench.json("run", target, *words, "--runs", "2", "--warmup", "0", "--json", *QUICK)
        assert len(document["runs"]) == 2
    assert [path.name for path in other_smbd.folder.iterdir()] == ["big.iso"]


def test_it_is_checked_and_its_settings_are_no_faults(other_smbd: OtherSmbd, sharebench: Sharebench):
    target = format_target(other_smbd.target("big.iso"))
    lines = sharebench.json("check", target, "--json")
    assert all(line["state"] != "failed" for line in lines)
    audit = sharebench.json("audit", target, "--smb-conf", str(other_smbd.conf), "--json")
    assert audit["findings"] == []


def test_a_setting_is_tried_by_the_name_that_this_samba_has_for_it(
    other_smbd: OtherSmbd, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", f"{other_smbd.path}:{os.environ['PATH']}")
    ways = Ways(smb_conf=str(other_smbd.conf), accepted=("smb encrypt",))
    setting = samba_setting("smb encrypt", ["required"], other_smbd.target(), ways)
    own_name = "smb encrypt" if "4.13" in other_smbd.server_root.version else "server smb encrypt"
    assert setting.writes[0].startswith(f"{own_name} = required, in [bench]")


@pytest.mark.long
def test_a_short_load(other_smbd: OtherSmbd, sharebench: Sharebench):
    words = ("--users", "2", "--scenario", "small", "--files", "20", "--duration", "1", "--settle", "0.2", "--json")
    document = sharebench.json("load", format_target(other_smbd.target()), *words)
    [point] = document["points"]
    assert point["requests"] > 0
    assert point["errors"] == {}
