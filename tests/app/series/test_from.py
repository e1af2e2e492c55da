"""``run --from``: measured on another machine through a real sshd, with the notebook here and nothing left there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from app.base.errors import ChildDiedError
from app.base.own_names import PREFIX
from app.recording.process import Failed, RunStarted, SeriesControl
from app.series.events import SeriesClosed
from app.series.record import record
from app.series.requests import series_request
from storage.plan import CeilingPolicy, QuietTime
from storage.records import Command
from tests.command_line import QUICK, ROOT, Inside
from tests.servers.smbd import Smbd
from tests.servers.sshd import Sshd
from tests.specs import spec_with
from tests.waiting import wait_for

pytestmark = pytest.mark.long

ONE_RUN = ("--runs", "1", "--warmup", "0", "--make-file", "--size", "1M", *QUICK)


MEASURING_MODULES = (
    "app.recording.child, app.series.observer_child, app.check.engine, app.clients.smb.client, app.clients.ftp.client",
    "app.clients.smbclientng, app.clients.smbclient, app.clients.curl, app.clients.iperf3, app.clients.local",
    "app.clients.smb.kerberos, app.clients.smb.ceiling, app.diagnosis.child, app.diagnosis.stages",
    "gevent.monkey, app.load.process, app.load.engine_child, app.load.worker",
)


@pytest.fixture
def inside(tmp_path: Path, smbd: Smbd) -> Inside:
    return Inside(tmp_path / "notebook.db", smbd.password)


def url(smbd: Smbd) -> str:
    return f"smb://{smbd.user}@{smbd.host}:{smbd.port}/{smbd.share}"


def files_in(folder: Path) -> list[str]:
    """Those of ours: other tests share the server."""
    return [path.name for path in folder.iterdir() if path.name.startswith(PREFIX)]


def test_the_program_is_carried_once_and_checked_before_each_start(inside: Inside, smbd: Smbd, place: Sshd):
    first = inside("run", url(smbd), "--from", "fileserver", "--json", *ONE_RUN)
    assert first.returncode == 0, first.stderr
    assert "carried" in first.stderr
    folder = place.carried
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not [path for path in folder.rglob("*") if path.stat().st_mode & 0o077]
    assert not list(folder.rglob("__pycache__"))

    # All that measures there can be loaded from what was carried alone.
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    for modules in MEASURING_MODULES:
        words = [sys._base_executable, "-S", "-P", "-c", f"import {modules}"]  # type: ignore[attr-defined]
        subprocess.run(words, env=environment, check=True)

    document = json.loads(first.stdout)
    assert document["plan"]["from_host"] == "fileserver"
    assert document["environment"]["client"]["measured.from"] == "fileserver"
    assert document["environment"]["path"]["link.kind"] == "loopback"
    assert [run["status"] for run in document["runs"]] == ["valid"]

    second = inside("run", url(smbd), "--from", "fileserver", *ONE_RUN)
    assert second.returncode == 0, second.stderr
    assert "carried" not in second.stderr

    # Measured again, it is measured from the same machine.
    (folder / "app" / "planted.py").write_text("")
    third = inside("run", "--again", "last", "--json")
    assert third.returncode == 0, third.stderr
    assert "carried" in third.stderr
    assert json.loads(third.stdout)["plan"]["from_host"] == "fileserver"
    assert not (folder / "app" / "planted.py").exists()

    with (folder / "app" / "__init__.py").open("a") as module:
        module.write("\n# changed\n")
    assert "carried" in inside("run", url(smbd), "--from", "fileserver", *ONE_RUN).stderr
    assert files_in(smbd.folder) == []
    assert place.processes() == []

    assert inside.json("clean", "--from", "fileserver", "--json") == [{"host": "fileserver", "path": str(folder)}]
    assert not (place.root / ".cache" / "sharebench").exists()
    assert inside.json("clean", "--from", "fileserver", "--json") == []


def test_a_quiet_time_is_looked_for_there(inside: Inside, smbd: Smbd, place: Sshd):
    counts = ("--runs", "2", "--warmup", "0", "--make-file", "--size", "8M", "--ceiling", "skip")
    document = inside.json("run", url(smbd), "--from", "fileserver", "--json", *counts)
    assert document["quiet"]["verdict"] in {"quiet", "typical", "busy"}
    assert document["quiet"]["cpu_percent_before"] > 0
    assert document["environment"]["path"]["tcp.segments_sent_during"] > 0
    # The server runs on the machine that measures, so its facts are read there.
    assert document["environment"]["server"]["samba.version"]


def test_commands_around_a_run_run_there(inside: Inside, smbd: Smbd, place: Sshd, tmp_path: Path):
    log = tmp_path / "log"
    options = ("--prepare", f"echo prepare $HOME >> {log}", "--conclude", f"echo conclude $HOME >> {log}")
    document = inside.json("run", url(smbd), "--from", "fileserver", "--json", *ONE_RUN, *options)
    assert log.read_text().splitlines() == [f"prepare {place.root}", f"conclude {place.root}"]
    assert document["environment"]["path"]["hook.prepare"] == options[1]
    assert "on fileserver: echo prepare" in inside("show", "last").stdout


def test_a_command_that_fails_there_names_the_machine(inside: Inside, smbd: Smbd, place: Sshd):
    text = inside.fails(4, "run", url(smbd), "--from", "fileserver", *ONE_RUN, "--prepare", "echo no disk >&2; exit 7")
    assert "--prepare failed on fileserver with exit code 7 (no disk)" in text
    assert files_in(smbd.folder) == []


def test_a_server_is_not_prepared_from_there(inside: Inside, smbd: Smbd):
    words = ("--from", "fileserver", "--server-prepare", "true", "--server-ssh", "fileserver")
    assert "--server-prepare" in inside.fails(2, "run", url(smbd), *ONE_RUN, *words)


def test_the_sharebench_that_is_installed_there_is_used_if_it_is_the_same(inside: Inside, smbd: Smbd, place: Sshd):
    shutil.rmtree(place.carried, ignore_errors=True)
    script = place.path / "sharebench"
    script.write_text(f'#!/bin/sh\ncd "{ROOT}"\nexec "{sys.executable}" -m app "$@"\n')
    script.chmod(0o755)
    done = inside("run", url(smbd), "--from", "fileserver", *ONE_RUN)
    assert done.returncode == 0, done.stderr
    assert "carried" not in done.stderr
    assert not place.carried.exists()


def test_a_killed_ssh_leaves_no_process_and_no_data(tmp_path: Path, make_smbd, make_link, place: Sshd):
    server = make_smbd(link=make_link("20mbit"))
    spec = spec_with(
        command=Command.PUT,
        size_bytes=1 << 24,
        runs=20,
        warmups=0,
        from_host="fileserver",
        quiet_time=QuietTime.SKIP,
        ceiling=CeilingPolicy.SKIP,
    )
    request = series_request(spec, server.target(), server.secrets())
    kinds = []
    for event in record(request, tmp_path / "notebook.db", SeriesControl()):
        kinds.append(type(event))
        if isinstance(event, RunStarted):
            there = place.processes()
            assert any("app.recording.child" in process.cmdline() for process in there)
            for process in there:
                known = f"{process.cmdline()} {process.environ()}"
                assert server.password not in known
            for process in psutil.Process().children():
                with suppress(psutil.Error):
                    if process.name() == "ssh":
                        process.kill()
        if isinstance(event, SeriesClosed):
            closed = event
    assert kinds.count(RunStarted) == 1
    assert kinds.count(Failed) == 1
    assert closed.failure is not None
    assert closed.failure.kind is ChildDiedError
    wait_for(lambda: not place.processes())
    wait_for(lambda: not files_in(server.folder))


_LIKE_CSH = """echo "Welcome to the branch office"
case $SSH_ORIGINAL_COMMAND in
*"
"*) echo "Unmatched '." >&2; exit 1 ;;
*!*) echo "Event not found." >&2; exit 1 ;;
esac
exec sh -c "$SSH_ORIGINAL_COMMAND"
"""


@pytest.mark.long
def test_a_login_shell_that_greets_and_reads_one_line_alone(inside: Inside, smbd: Smbd, place: Sshd):
    with place.login_shell(_LIKE_CSH):
        series = inside.json("run", url(smbd), "--from", "fileserver", "--json", *ONE_RUN)
        assert [run["status"] for run in series["runs"]] == ["valid"]
        assert inside("clean", "--from", "fileserver").returncode == 0
    assert not place.carried.exists()


def test_two_servers_are_compared_from_there(inside: Inside, smbd: Smbd, make_smbd, place: Sshd):
    """And the comparison is measured again from there."""
    other = make_smbd()
    inside.environment["SHAREBENCH_PASSWORD"] = smbd.password
    words = ("--runs", "3", "--warmup", "0", "--put", "--size", "1M", *QUICK)
    done = inside("run", url(smbd), "--from", "fileserver", *words, "--versus", url(other), "--json")
    assert done.returncode in {0, 1, 3}, done.stderr
    comparison = json.loads(done.stdout)
    assert comparison["in_turns"]

    again = inside("run", "--again", comparison["other"], "--json")
    assert again.returncode in {0, 1, 3}, again.stderr
    repeated = json.loads(again.stdout)
    for series_id in (comparison["base"], comparison["other"], repeated["base"], repeated["other"]):
        document = json.loads(inside("show", series_id, "--json").stdout)
        assert document["environment"]["client"]["measured.from"] == "fileserver"
    for server in (smbd, other):
        assert not files_in(server.folder)

    several = inside("run", url(smbd), "--from", "fileserver", "--from", "second", *words, "--versus", url(other))
    assert several.returncode == 2
    assert "--from" in several.stderr
