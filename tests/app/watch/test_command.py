"""``sharebench watch`` as a timer calls it."""

import json
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.base.errors import NotQuietError
from app.cli.main import run
from app.recording.spec import SeriesRequest
from storage.notebook import Notebook
from storage.plan import QuietTime
from storage.recordings import WATCH
from storage.records import format_target
from tests.command_line import QUICK, Inside
from tests.servers.process import program, require


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "big.bin"
    found.write_bytes(b"x" * 300_000)
    return found


@pytest.mark.long
def test_the_first_night_is_collected_and_a_failure_is_told_once(inside: Inside, file: Path, tmp_path: Path):
    told = tmp_path / "told"
    asked = ("watch", f"file://{file}", "--baseline", "nightly", *QUICK, "--runs", "3", "--warmup", "0")
    done = inside(*asked, "--on-change", f"cat >> {told}")
    assert done.returncode == 3
    assert "1 of 3 nights" in done.stdout
    assert not told.exists()
    with Notebook(inside.db) as notebook:
        assert len(notebook.baseline_ids("nightly")) == 1
        assert len(notebook.recordings(WATCH)) == 1
    assert "is a new baseline" not in done.stderr, "the first one"
    begun = inside("watch", f"file://{file}", "--baseline", "nihgtly", *QUICK, "--runs", "3", "--warmup", "0").stderr
    assert "nihgtly is a new baseline; the notebook has: nightly" in begun
    file.unlink()
    other = ("watch", f"file://{file}", "--baseline", "weekly", *QUICK)
    assert ["weekly is a new baseline" in inside(*other).stderr for _ in range(2)] == [True, False], "watched once"
    for _ in range(2):
        done = inside(*asked, "--on-change", f"cat >> {told}", "--json")
        assert done.returncode == 4
        assert json.loads(done.stdout)["state"] == "unmeasurable"
    assert [json.loads(line)["state"] for line in told.read_text().splitlines()] == ["unmeasurable"]
    assert "Cannot be measured since" in inside("show", "last").stdout or inside("list").stdout


@pytest.mark.parametrize(
    ("words", "quiet_time"),
    [((), QuietTime.REQUIRE), (("--quiet-time", "record"), QuietTime.RECORD), (QUICK, QuietTime.SKIP)],
)
def test_a_busy_time_is_looked_for_before_a_check_measures(
    monkeypatch: pytest.MonkeyPatch, file: Path, tmp_path: Path, words: tuple[str, ...], quiet_time: QuietTime
):
    asked: list[SeriesRequest] = []

    def refuse(request: SeriesRequest, *_others: object) -> Iterator[object]:
        asked.append(request)
        raise NotQuietError("others are at work")

    monkeypatch.setattr("app.watch.command.record", refuse)
    command = ["watch", f"file://{file}", "--baseline", "nightly", "--db", str(tmp_path / "n.db"), *words]
    assert run(command, open_tui=pytest.fail) == 3
    assert [request.spec.monitor.quiet_time for request in asked] == [quiet_time]


@pytest.mark.parametrize("confirm", ["3/2", "0/2", "2", "x/3", "9/10"])
def test_a_wrong_confirm_stores_nothing(inside: Inside, file: Path, confirm: str):
    assert "--confirm" in inside.fails(2, "watch", f"file://{file}", "--baseline", "n", "--confirm", confirm)
    assert not inside.db.exists()


def test_options_that_do_not_fit_store_nothing(inside: Inside, file: Path):
    assert "smb://" in inside.fails(2, "watch", f"file://{file}", "--baseline", "n", "--sign")
    assert not inside.db.exists()


def test_the_textfile_is_written_whatever_happens(inside: Inside, file: Path, tmp_path: Path):
    prom = tmp_path / "sharebench.prom"
    asked = (f"file://{file}", *QUICK, "--runs", "3", "--warmup", "0", "--textfile", str(prom))
    for command, code in (("run", 0), ("watch", 3)):
        assert inside(command, *asked, *(["--baseline", "nightly"] if command == "watch" else [])).returncode == code
        assert "\nsharebench_success{" in prom.read_text()
        assert " 1.0\n" in prom.read_text()
        prom.unlink()
    file.unlink()
    for command in ("run", "watch"):
        assert inside(command, *asked, *(["--baseline", "nightly"] if command == "watch" else [])).returncode == 4
        name = 'name="nightly"' if command == "watch" else 'name=""'
        assert f'sharebench_success{{protocol="file",host="",share="",command="get",{name}}} 0.0' in prom.read_text()
        prom.unlink()


@pytest.mark.parametrize(
    ("words", "command"),
    [(("run", "smb://alice@nas.example/data/file"), "get"), (("load", "smb://alice@nas.example/data/folder"), "load")],
)
def test_a_login_that_fails_is_an_attempt_too(inside: Inside, tmp_path: Path, words, command):
    prom = tmp_path / "sharebench.prom"
    inside.fails(4, *words, "--label", "nightly", "--textfile", str(prom))
    found = prom.read_text()
    labels = f'{{protocol="smb",host="nas.example",share="data",command="{command}",name="nightly"}}'
    assert f"sharebench_success{labels} 0.0\n" in found
    assert f"sharebench_last_attempt_timestamp_seconds{labels} 1" in found
    assert command == "get" or 'users="10"} 0.0' in found
    prom.unlink()
    inside.fails(2, words[0], "smb://nas.example", "--textfile", str(prom))
    assert not prom.exists(), "a usage error is no attempt"


SCHEDULED = ("smb://alice@nas/public/big.iso", "--baseline", "after 50% upgrade", "--link", "1G")


def test_units_pass_systemd_and_keep_the_password_out(inside: Inside, tmp_path: Path):
    require("systemd-analyze", root=False)
    words = (*SCHEDULED, "--on-change", 'mail -s "$HOST: slow" root', "--confirm", "2/3")
    done = inside("schedule", *words, "--print", "systemd", "--at", "3:05", "--delay", "45")
    assert done.returncode == 0, done.stderr
    parts = re.split(r"^# /etc/systemd/.*\n", done.stdout, flags=re.MULTILINE)[1:]
    names = re.findall(r"^# /etc/systemd/system/([\w.-]+(?:service|timer))", done.stdout, re.MULTILINE)
    assert names == [f"sharebench-watch-nas-after-50-upgrade.{kind}" for kind in ("service", "timer")]
    for name, part in zip(names, parts, strict=True):
        (tmp_path / name).write_text(part)
    checked = subprocess.run(
        [program("systemd-analyze"), "verify", "--man=no", *(str(tmp_path / name) for name in names)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (checked.returncode, [line for line in checked.stderr.splitlines() if "sharebench" in line]) == (0, [])
    lines = done.stdout.splitlines()
    for line in (
        "OnCalendar=*-*-* 03:05:00", "RandomizedDelaySec=45min", "Persistent=true", "SuccessExitStatus=1 3",
        "LoadCredential=login:/etc/sharebench/credentials",
    ):  # fmt: skip
        assert line in lines
    command = next(line for line in lines if line.startswith("ExecStart="))
    assert f"--db {inside.db} --credentials %d/login watch smb://alice@nas/public/big.iso" in command
    assert '--baseline "after 50%% upgrade"' in command
    assert r'--on-change "mail -s \"$$HOST: slow\" root" --confirm 2/3' in command


def test_a_line_for_cron(inside: Inside):
    done = inside("schedule", *SCHEDULED, "--print", "cron", "--at", "3:05")
    line = done.stdout.splitlines()[-1]
    assert line.startswith("5 3 * * * sleep $(shuf -i 0-1800 -n 1); ")
    assert r"'after 50\% upgrade'" in line
    assert "--credentials /etc/sharebench/credentials watch" in line
    assert not inside.db.exists()


@pytest.mark.parametrize("form", ["cron", "systemd"])
@pytest.mark.parametrize("end", ["\n", "\r", "\u2028", "\x0b"])
def test_a_word_with_a_line_end_is_in_no_timer(inside: Inside, form: str, end: str):
    words = (*SCHEDULED, "--on-change", f"mail{end}* * * * * root rm")
    assert "line end" in inside.fails(2, "schedule", *words, "--print", form)


def test_a_percent_sign_in_the_name_of_the_credentials_file_is_no_specifier(inside: Inside, tmp_path: Path):
    credentials = tmp_path / "50%d"
    printed = inside("--credentials", str(credentials), "schedule", *SCHEDULED, "--print", "systemd").stdout
    assert f"LoadCredential=login:{tmp_path}/50%%d" in printed.splitlines()
    line = inside("--credentials", str(credentials), "schedule", *SCHEDULED, "--print", "cron").stdout.splitlines()[-1]
    assert rf"{tmp_path}/50\%d" in line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("smb://nas/public/big.iso",), "--baseline"),
        ((*SCHEDULED, "--textfile", "here.prom"), "whole path"),
        ((*SCHEDULED, "--at", "24:00"), "--at 24:00"),
        ((*SCHEDULED, "--at", "3:60"), "--at 3:60"),
        (("ftp://nas/f", "--baseline", "n", "--sign"), "smb://"),
        ((*SCHEDULED, "--nonsense"), "--nonsense"),
    ],
)
def test_what_watch_would_refuse_is_refused(inside: Inside, words, said):
    assert said in inside.fails(2, "schedule", *words, "--print", "cron")


@pytest.mark.alone
@pytest.mark.long
def test_a_real_server_is_reported_slower_recovered_and_gone_once_each(make_link, make_smbd, tmp_path: Path):
    """Three nights of a baseline, then checks on a link of 100 Mbit/s, of 20, of 100 again, and without the server."""
    link = make_link("100mbit")
    server = make_smbd(link=link)
    server.make_file("file", bytes(1 << 19))
    inside, told = Inside(tmp_path / "n.db", server.password), tmp_path / "told"
    target = format_target(server.target("file"))
    asked = (
        "watch", target, "--baseline", "nightly", *QUICK, "--runs", "4", "--warmup", "1", "--link", "100M",
        "--textfile", str(tmp_path / "n.prom"), "--on-change", f"cat >> {told}",
    )  # fmt: skip

    def night() -> int:
        """One check, a day after those before."""
        days = "strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '-1 day')"
        with sqlite3.connect(inside.db) as database:
            database.execute(f"UPDATE recordings SET created_at = {days} WHERE kind = 'series'")
        return inside(*asked).returncode

    assert inside(*asked).returncode == 3
    assert [night(), night()] == [3, 3]
    assert not told.exists()
    link.change_rate("20mbit")
    assert [night(), night()] == [1, 1]
    link.change_rate("100mbit")
    assert night() in {0, 3}
    server.stop()
    assert [night(), night()] == [4, 4]
    reports = [json.loads(line) for line in told.read_text().splitlines()]
    assert [report["state"] for report in reports] == ["slower", "recovered", "unmeasurable"]
    assert reports[0]["comparison"]["change_percent"] == pytest.approx(-80, abs=10)
    assert server.password not in told.read_text() + (tmp_path / "n.prom").read_text()
    assert 'state="unmeasurable"} 1.0' in (tmp_path / "n.prom").read_text()
