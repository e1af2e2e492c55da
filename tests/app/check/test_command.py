"""``sharebench check`` against a real smbd: how far it comes, and what it says to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.check import command as check
from app.check.checked import Checked, CheckState
from storage.records import format_target
from tests.command_line import Inside
from tests.servers.smbd import Smbd


def states(inside: Inside, *arguments: str) -> dict[str, str]:
    found = inside.json("check", *arguments, "--json")
    assert all(item["text"] for item in found)
    return {item["name"]: item["state"] for item in found}


@pytest.mark.usefixtures("real_ceiling", "real_quiet_time")
def test_all_that_is_looked_at(inside: Inside, smbd: Smbd):
    smbd.make_file("file", b"x" * 5_000_000)
    found = states(inside, format_target(smbd.target("file")), "--smb-conf", str(smbd.conf))
    assert list(found) == ["reach", "log in", "share", "file", "server", "settings", "link", "quiet time", "ceiling"]
    del found["quiet time"], found["ceiling"]  # others may be at work here
    assert found == dict.fromkeys(found, "fine")


@pytest.mark.long
def test_a_harmful_setting_of_the_server_needs_attention(inside: Inside, make_smbd):
    smbd: Smbd = make_smbd(global_options={"socket options": "TCP_NODELAY SO_RCVBUF=65536"})
    smbd.make_file("file", b"x" * 5_000_000)
    target = format_target(smbd.target("file"))
    found = inside.json("check", target, "--smb-conf", str(smbd.conf), "--json")
    (settings,) = (item for item in found if item["name"] == "settings")
    assert settings["state"] == "attention"
    assert settings["text"].startswith("harmful: socket options = TCP_NODELAY SO_RCVBUF=65536")
    audit = f"Recommendation: sharebench audit {target} --smb-conf {smbd.conf}\n"
    assert audit in inside("check", target, "--smb-conf", str(smbd.conf)).stderr


def test_a_small_file_on_a_fast_link_needs_attention_on_the_loopback_too(inside: Inside, smbd: Smbd):
    smbd.make_file("file", b"x" * 5_000_000)
    found = inside.json("check", format_target(smbd.target("file")), "--link", "1G", "--json")
    assert {item["name"]: item["state"] for item in found}["file"] == "attention"
    assert "the loopback of this machine, which has no rate; it is held against 1 Gb/s, as you said" in {
        item["text"] for item in found
    }


def test_a_server_without_a_share_lists_them(inside: Inside, smbd: Smbd):
    done = inside("check", f"smb://bench@{smbd.host}:{smbd.port}")
    assert done.returncode == 0
    assert "name one of bench, open" in done.stdout


def test_a_folder_for_a_put_is_tried_and_left_as_it_was(inside: Inside, smbd: Smbd):
    before = sorted(smbd.folder.iterdir())
    assert states(inside, format_target(smbd.target("")), "--put")["folder"] == "fine"
    assert sorted(smbd.folder.iterdir()) == before


@pytest.mark.varied
@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"port": 1}, "reach"),
        ({"user": "nobody-such"}, "log in"),
        ({"share": "none"}, "share"),
        ({"path": "none"}, "file"),
    ],
)
def test_what_failed_is_named_and_ends_with_4(tmp_path: Path, make_smbd, change: dict[str, Any], name: str):
    server = make_smbd({"map to guest": "never"})
    target = replace(server.target("file"), **change)
    done = Inside(tmp_path / "notebook.db", server.password)("check", format_target(target), "--timeout", "5")
    assert done.returncode == 4
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("✗ ")]
    assert line[2:13].strip() == name
    assert "ceiling" not in done.stdout, "what cannot be measured needs none"
    assert len(done.stderr.splitlines()) == 1


def test_what_the_command_line_can_do_about_it_is_said_apart(inside: Inside, monkeypatch: pytest.MonkeyPatch):
    found = [Checked("server", "its settings are unknown", CheckState.UNKNOWN, "--server-ssh HOST")] * 2
    monkeypatch.setattr(check, "check", lambda *_: found)
    done = inside("check", "file:///none")
    assert "--server-ssh" not in done.stdout
    assert done.stderr.splitlines() == ["Recommendation: measure with --server-ssh HOST"]


@pytest.mark.long
def test_a_file_that_veto_files_hides_is_said_to_be_hidden(inside: Inside, make_smbd: Callable[..., Smbd]):
    server = make_smbd(share_options={"veto files": "/*.iso/"})
    server.make_file("big.iso", b"x" * 1000)
    url, conf = format_target(server.target("big.iso")), ("--smb-conf", str(server.conf))
    hidden = "veto files on the server hides names like *.iso"
    found = {item["name"]: item["text"] for item in json.loads(inside("check", url, *conf, "--json").stdout)}
    assert hidden in found["file"]
    done = inside("run", url, *conf, "--runs", "1", "--warmup", "0", "--ceiling", "skip", "--quiet-time", "skip")
    assert done.returncode == 4
    assert hidden in " ".join(done.stderr.split())
    other = inside("run", url.replace("big.iso", "no.such"), *conf, "--quiet-time", "skip", "--ceiling", "skip")
    assert "veto" not in other.stderr


def test_each_of_several_machines_has_a_line_at_the_end(inside: Inside, smbd: Smbd, monkeypatch: pytest.MonkeyPatch):
    found = {
        "office": [Checked("from", "there")],
        "branch": [Checked("from", "there"), Checked("quiet time", "busy", CheckState.ATTENTION)],
        "depot": [Checked("log in", "refused", CheckState.FAILED)],
        "nohost": [Checked("from", "no such host", CheckState.FAILED)],
    }
    monkeypatch.setattr(check, "check", lambda _place, _secrets, spec, _notebook: found[spec.monitor.from_host])
    url = format_target(smbd.target("file"))
    several = [word for host in found for word in ("--from", host)]
    done = inside("check", url, *several, "--from", "office")
    assert done.returncode == 4
    for host in found:
        assert done.stdout.count(f"From {host}:") == 1
    places = dict(line[2:].split(None, 1) for line in done.stdout.partition("Places:\n")[2].splitlines())
    assert list(places) == list(found)
    assert "quiet time" in places["branch"]
    assert "log in" in places["depot"]

    said = done.stderr.splitlines()
    assert [line for line in said if "once" in line and "office" in line]
    assert "depot, nohost" in said[-1]

    one_failed = inside("check", url, "--from", "office", "--from", "depot")
    assert one_failed.stderr.splitlines()[-1] == "sharebench: depot: refused"
    assert "Places:" not in inside("check", url, "--from", "office").stdout
