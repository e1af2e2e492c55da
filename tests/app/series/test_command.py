"""``sharebench run`` as an admin and a script would call it, against a real smbd."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from app.recording.process import TimeLimit
from storage.records import format_target
from tests.command_line import MIB, QUICK, Inside, check_document
from tests.servers.process import require
from tests.servers.smbd import Smbd
from tests.waiting import HANG_SECONDS, wait_for


def url(server: Smbd, path: str = "", **how) -> str:
    return format_target(server.target(path, **how))


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def measured_runs(db: Path) -> int:
    if not db.exists():
        return 0
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM runs WHERE phase = 'measured'").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def status(db: Path) -> str:
    with sqlite3.connect(db) as connection:
        return str(connection.execute("SELECT status FROM recordings").fetchone()[0])


def test_the_series_document_of_a_get(inside: Inside, smbd: Smbd):
    smbd.make_file("file", os.urandom(4 * MIB))
    document = inside.json(
        "run", url(smbd, "file"), "--runs", "5", "--warmup", "2", "--link", "1G", "--json", "--label", "first", *QUICK
    )
    check_document(document, 5, 2)
    assert document["schema"] == "sharebench/series/1"
    assert (document["status"], document["command"], document["label"]) == ("complete", "get", "first")
    assert document["target"] == {
        "protocol": "smb", "host": "127.0.0.1", "port": smbd.port, "share": "bench", "path": "file", "user": "bench"
    }  # fmt: skip
    client = document["client"]
    assert (client["name"], client["dialect"], client["signing"], client["encryption"]) == (
        "sharebench", "3.1.1", "none", "none"
    )  # fmt: skip
    assert smbd.password not in str(document)


def test_a_put_leaves_nothing_behind(inside: Inside, smbd: Smbd):
    before = sorted(smbd.folder.iterdir())
    document = inside.json("run", url(smbd), "--put", "--size", "2M", "--runs", "3", "--link", "1G", "--json", *QUICK)
    check_document(document, 3, 2)
    assert {row["size_bytes"] for row in document["runs"]} == {2 * MIB}
    assert sorted(smbd.folder.iterdir()) == before


def test_a_guest_needs_no_password(tmp_path: Path, smbd: Smbd):
    inside = Inside(tmp_path / "notebook.db")
    (smbd.guest_folder / "hello").write_bytes(b"x" * MIB)
    document = inside.json("run", url(smbd, "hello", guest=True), "--runs", "2", "--json", *QUICK)
    assert document["status"] == "complete"
    assert document["target"]["user"] is None


def test_make_file_on_a_get(inside: Inside, smbd: Smbd):
    before = sorted(smbd.folder.iterdir())
    document = inside.json("run", url(smbd), "--make-file", "--size", "3M", "--runs", "2", "--verify", "--json", *QUICK)
    assert {row["size_bytes"] for row in document["runs"]} == {3 * MIB}
    assert sorted(smbd.folder.iterdir()) == before


def test_the_form_and_the_paper_view_agree(inside: Inside, smbd: Smbd):
    smbd.make_file("file", os.urandom(MIB))
    done = inside("run", url(smbd, "file"), "--runs", "2", "--warmup", "1", "--link", "100M", *QUICK)
    assert done.returncode == 0
    for heading in ("Run No", "Size in", "Average:", "Deviation:", "W1"):
        assert heading in done.stdout
    require("sqlite3", root=False)
    shell = subprocess.run(
        ["sqlite3", "-json", inside.db, "select * from form_rows"], capture_output=True, text=True, check=True
    )
    document = inside.json("show", "last", "--json")
    rows = json.loads(shell.stdout)
    assert [(row["phase"], row["run_number"]) for row in rows] == [("warm-up", 1), ("measured", 1), ("measured", 2)]
    for row, run in zip(rows, document["runs"], strict=True):
        for name in ("size_bytes", "seconds", "bytes_per_second", "bits_per_second", "percent_of_link"):
            assert row[name] == pytest.approx(run[name], rel=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("name", ["[bold]it's 100% quoted[red]", "Größe-日本語 a%20b.bin", "-rf", "..dots", "#1!"])
def test_names_that_trip_tools(inside: Inside, smbd: Smbd, name: str):
    there = smbd.make_file(name, b"y" * 70_000)
    document = inside.json("run", url(smbd, name), "--runs", "1", "--warmup", "0", "--json", *QUICK)
    assert document["target"]["path"] == name
    assert document["deviation"] is None
    there.unlink()
    assert url(smbd, name) in inside("show", "last").stdout.replace("\n            ", "")


@pytest.mark.parametrize("arguments", [("--runs", "1", "--warmup", "0")])
@pytest.mark.long
def test_one_line_and_the_right_exit_code(tmp_path: Path, smbd: Smbd, arguments: tuple[str, ...]):
    inside = Inside(tmp_path / "notebook.db", smbd.password)
    smbd.make_file("empty", b"")
    smbd.make_file("one", b"1")
    (smbd.folder / "folder").mkdir(exist_ok=True)
    host = f"{smbd.host}:{smbd.port}"

    def failed(code: int, target: str, *more: str) -> str:
        return inside.fails(code, "run", target, *arguments, *QUICK, *more)

    assert "no-such-host.invalid" in failed(4, "smb://bench@no-such-host.invalid/bench/one")
    assert "127.0.0.1" in failed(4, "smb://bench@127.0.0.1:1/bench/one")
    assert "nosuchshare" in failed(4, f"smb://bench@{host}/nosuchshare/one")
    assert "missing" in failed(4, f"smb://bench@{host}/bench/missing")
    assert "folder" in failed(4, f"smb://bench@{host}/bench/folder")
    assert "empty" in failed(4, f"smb://bench@{host}/bench/empty")
    assert "(--credentials FILE)" in failed(2, f"smb://bench:hunter2@{host}/bench/one")
    assert "--credentials" in failed(2, f"smb://bench@{host}/bench/one", "--password", "x")
    assert "no such option" in failed(2, f"smb://bench@{host}/bench/one", "--fast").lower()
    wrong = Inside(tmp_path / "notebook.db", "wrong")
    said = wrong.fails(4, "run", f"smb://bench@{host}/bench/one", *arguments, *QUICK)
    assert "bench" in said
    assert "password" in said
    nobody = Inside(tmp_path / "notebook.db")
    assert "SHAREBENCH_PASSWORD" in nobody.fails(4, "run", f"smb://bench@{host}/bench/one", *arguments, *QUICK)


def test_a_share_that_cannot_be_written(tmp_path: Path, make_smbd):
    server = make_smbd(share_options={"read only": "yes"})
    inside = Inside(tmp_path / "notebook.db", server.password)
    said = inside.fails(4, "run", url(server), "--put", "--size", "1M", *QUICK)
    assert "bench" in said
    assert "denies access" in said


def test_a_notebook_that_cannot_be_written(tmp_path: Path, smbd: Smbd):
    (tmp_path / "file").write_text("not a folder")
    inside = Inside(tmp_path / "file" / "notebook.db", smbd.password)
    inside.db = tmp_path / "x"
    said = inside.fails(4, "run", url(smbd, "one"), "--db", str(tmp_path / "file/notebook.db"), *QUICK)
    assert "notebook" in said
    assert "--db" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.long
def test_ctrl_c_keeps_the_runs_and_resume_completes_them(tmp_path: Path, make_link, make_smbd, number: signal.Signals):
    link = make_link("20mbit")  # the runs take half a minute, however late the signal comes
    server = make_smbd(link=link)
    inside = Inside(tmp_path / "notebook.db", server.password)
    process = inside.start("run", url(server), "--put", "--size", "1M", "--runs", "60", "--json", *QUICK)
    wait_for(lambda: measured_runs(inside.db) >= 2)
    (child,) = children_of(process.pid)
    process.send_signal(number)
    _, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 130
    expected, *told, last = err.splitlines()
    assert expected == (
        "sharebench: 2 warm-up runs and 60 measured runs, of 1M each, 62 MiB in all, about 26 s or longer"
        " (at 20 Mb/s, the link speed)."
    )
    assert re.fullmatch(r"sharebench: cancelled; `sharebench run --resume [0-9a-f]{12}` completes it", last)
    assert all(line.startswith(("sharebench: warm-up ", "sharebench: run ")) for line in told)
    assert not Path(f"/proc/{child}").exists()
    assert list(server.folder.iterdir()) == []
    assert status(inside.db) == "interrupted"
    kept = measured_runs(inside.db)
    assert 2 <= kept < 60
    link.change_rate("1gbit")
    document = inside.json("run", "--resume", "last", "--json")
    assert document["status"] == "complete"
    assert [row["number"] for row in document["runs"] if row["phase"] == "measured"] == list(range(1, 61))
    assert list(server.folder.iterdir()) == []
    assert "complete" in inside.fails(2, "run", "--resume", "last")


def allows_one(limit: TimeLimit, *_kinds: int) -> bool:
    """As if nothing that begins after the first would end in time."""
    return not limit._longest


def test_within_a_time_a_series_is_complete_with_the_runs_that_fit(
    inside: Inside, smbd: Smbd, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(TimeLimit, "has_time_for_another", allows_one)
    words = ("run", url(smbd), "--put", "--size", "1M", "--warmup", "0", "--runs", "9", "--within", "30", *QUICK)
    done = inside(*words)
    assert done.returncode == 0, done.stderr
    assert "sharebench: no further run would end in time (--within 30): it ends with what it has\n" in done.stderr
    assert (status(inside.db), measured_runs(inside.db)) == ("complete", 1)


@pytest.mark.long
def test_what_runs_when_the_time_is_over_is_interrupted_and_resumed(
    make_link, make_smbd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    link = make_link("20mbit")
    server = make_smbd(link=link)
    inside = Inside(tmp_path / "notebook.db", server.password)

    class OnceMeasured(threading.Thread):
        """A timer whose time is over in the middle of the third run."""

        def __init__(self, seconds: float, end: Callable[[], None]) -> None:
            super().__init__(daemon=True)
            self.seconds, self.end = seconds, end

        def run(self) -> None:
            wait_for(lambda: measured_runs(inside.db) >= 2)
            self.end()

        def cancel(self) -> None:
            assert 0 < self.seconds <= 1800

    monkeypatch.setattr("app.cli.cancelling.threading.Timer", OnceMeasured)
    words = ("run", url(server), "--put", "--size", "1M", "--warmup", "0", "--runs", "60", "--within", "30", *QUICK)
    done = inside(*words)
    assert done.returncode == 130
    last = done.stderr.splitlines()[-1]
    assert re.fullmatch(
        r"sharebench: time is over \(--within 30\); `sharebench run --resume [0-9a-f]{12}` completes it", last
    )
    assert status(inside.db) == "interrupted"
    link.change_rate("1gbit")
    monkeypatch.undo()
    assert inside("run", "--resume", "last", "--within", "30").returncode == 0
    assert (status(inside.db), measured_runs(inside.db)) == ("complete", 60)
    assert list(server.folder.iterdir()) == []


@pytest.mark.long
def test_kill_9_of_the_program_keeps_the_runs_and_ends_the_child(inside: Inside, smbd: Smbd):
    before = sorted(smbd.folder.iterdir())
    process = inside.start("run", url(smbd), "--put", "--size", "16M", "--runs", "1000", *QUICK)
    wait_for(lambda: measured_runs(inside.db) >= 2)
    (child,) = children_of(process.pid)
    process.kill()
    process.communicate(timeout=HANG_SECONDS)
    wait_for(lambda: not Path(f"/proc/{child}").exists())
    assert status(inside.db) == "interrupted"
    assert measured_runs(inside.db) >= 2
    assert sorted(smbd.folder.iterdir()) == before


@pytest.mark.long
def test_kill_9_of_the_child_says_so(inside: Inside, smbd: Smbd):
    before = sorted(smbd.folder.iterdir())
    process = inside.start("run", url(smbd), "--put", "--size", "16M", "--runs", "1000", *QUICK)
    wait_for(lambda: measured_runs(inside.db) >= 2)
    (child,) = children_of(process.pid)
    os.kill(child, signal.SIGKILL)
    out, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 4
    assert "SIGKILL" in err
    assert "Traceback" not in err
    assert "Average:" in out
    assert status(inside.db) == "failed"
    assert sorted(smbd.folder.iterdir()) == before


def test_a_server_that_is_killed_is_named(tmp_path: Path, make_smbd):
    server = make_smbd()
    server.make_file("file", os.urandom(16 * MIB))
    inside = Inside(tmp_path / "notebook.db", server.password)
    process = inside.start("run", url(server, "file"), "--runs", "100000", *QUICK)
    wait_for(lambda: measured_runs(inside.db) >= 2)
    server.kill()
    _, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 4
    _expected, *told, last = err.splitlines()
    assert "127.0.0.1" in last
    assert all(line.startswith(("sharebench: warm-up ", "sharebench: run ", "Recommendation: ")) for line in told)
    assert "Traceback" not in err
    assert status(inside.db) == "failed"
    assert measured_runs(inside.db) >= 2


def test_a_disk_that_fills_up(tmp_path: Path, make_smbd, small_disk: Path):
    server = make_smbd(share_options={"path": str(small_disk)})
    inside = Inside(tmp_path / "notebook.db", server.password)
    said = inside.fails(4, "run", url(server), "--put", "--size", "256M", "--runs", "1", *QUICK)
    assert "full" in said
    assert [path for path in small_disk.iterdir() if path.name.startswith(".sharebench-")] == []


@pytest.mark.parametrize("option", ["--until", "--timeout", "--wait"])
def test_nan_is_no_number(inside: Inside, smbd: Smbd, option: str):
    assert "not a valid number" in inside.fails(2, "run", url(smbd, "file"), option, "nan")


@pytest.mark.long
def test_under_nohup_a_closed_terminal_does_not_cancel(inside: Inside, smbd: Smbd):
    smbd.make_file("file", os.urandom(MIB))
    program = inside.start("run", url(smbd, "file"), "--runs", "100000", *QUICK, under=("nohup",))
    wait_for(lambda: measured_runs(inside.db) > 3)
    program.send_signal(signal.SIGHUP)
    before = measured_runs(inside.db)
    wait_for(lambda: measured_runs(inside.db) > before + 20)
    program.send_signal(signal.SIGINT)
    program.communicate(timeout=HANG_SECONDS)
    assert program.returncode == 130


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("ftp://127.0.0.1:1/x", "--sign"), "belong to smb://"),
        (("ftp://127.0.0.1:1/x", "--encrypt"), "ftps://"),
        (("smb://127.0.0.1:1/share/x", "--drop-cache"), "belongs to file://"),
        (("smb://127.0.0.1:1/share/x", "--verify", "--client", "smbclient"), "cannot be verified"),
        (("iperf3://127.0.0.1:1", "--verify"), "leave out --verify"),
    ],
)
def test_what_would_be_ignored_or_come_out_wrong_is_refused(tmp_path: Path, words: tuple[str, ...], says: str):
    inside = Inside(tmp_path / "notebook.db")
    assert says in inside.fails(2, "run", *words)
    assert "there is no notebook at" in inside.fails(2, "list")


@pytest.mark.parametrize("option", [("--runs", "9"), ("--link", "1G"), ("--put",)])
def test_resume_refuses_what_it_would_ignore(inside: Inside, option: tuple[str, ...]):
    assert f"leave {'--put' if option == ('--put',) else option[0]} out" in inside.fails(
        2, "run", "--resume", "last", *option
    )


@pytest.mark.long
def test_again_refuses_another_session_or_route_before_anything_is_measured(inside: Inside):
    server = Smbd()
    try:
        server.start()
        server.make_file("file", os.urandom(MIB))
        words = ("--runs", "3", "--warmup", "1", *QUICK)
        base = inside.json("run", url(server, "file"), *words, "--json")["id"]
        again = ("--again", base)
        assert inside.json("run", url(server, "file"), *words, *again, "--json")["status"] == "complete"
        for option, part in (("--encrypt", "encryption"), ("--sign", "signing")):
            said = inside.fails(2, "run", url(server, "file"), *words, *again, option)
            assert f"this would not be series {base} measured again: client: {part} none → aes" in said.lower()
        elsewhere = url(server, "file").replace("127.0.0.1", "localhost")
        assert "measured again: target " in inside.fails(2, "run", elsewhere, *words, *again)
        server.rewrite_conf({"server signing": "mandatory"})
        assert "client: signing none → aes-gmac" in inside.fails(2, "run", *again)
        server.rewrite_conf({"server signing": "auto", "server max protocol": "SMB3_02"})
        assert "client: dialect 3.1.1 → 3.0" in inside.fails(2, "run", url(server, "file"), *words, *again)
        with sqlite3.connect(inside.db) as connection:
            assert connection.execute("SELECT count(*) FROM recordings").fetchone() == (2,)
    finally:
        server.stop()
