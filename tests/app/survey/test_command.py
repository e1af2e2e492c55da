"""``sharebench survey`` against a real smbd, vsftpd and iperf3."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.main import run
from storage.notebook import Notebook
from storage.records import SeriesStatus
from tests.servers.iperf3 import Iperf3Server
from tests.servers.smbd import Smbd
from tests.servers.vsftpd import Vsftpd
from tests.waiting import HANG_SECONDS, wait_for


def survey(db: Path, *arguments: str) -> int:
    return run(
        ["survey", "--db", str(db), "--quiet-time", "skip", "--ceiling", "skip", *arguments], lambda *_args, **_more: 0
    )


@pytest.fixture
def options(monkeypatch, smbd: Smbd, vsftpd: Vsftpd, iperf3_server: Iperf3Server) -> list[str]:
    monkeypatch.setenv("SHAREBENCH_PASSWORD", smbd.password)
    return [
        "127.0.0.1", "--smb", smbd.share, "--smb-port", str(smbd.port), "--ftp", "/", "--ftp-port", str(vsftpd.port),
        "--iperf3-port", str(iperf3_server.port), "--user", smbd.user, "--size", "4M", "--runs", "4", "--warmup", "1",
    ]  # fmt: skip


def test_one_command_gives_table_findings_and_the_next_step(options, smbd, vsftpd, tmp_path, capsys):
    db = tmp_path / "notebook.db"
    assert survey(db, *options) == 0
    out, err = capsys.readouterr()
    assert max(map(len, out.splitlines())) <= 80
    assert "6 interleaved series, 6 left out, about 1 s or longer (at 1 GB/s, assumed within this machine)" in err
    columns = out.partition("Averages. ±")[2].partition("─")[0]
    assert all(name in columns for name in ("FTP,", "SMB,", "TCP", "MB/s"))
    assert [line.split()[0] for line in out.splitlines() if line.startswith(("get ", "put "))] == ["get", "put"]
    assert out.index("Answer:") < out.index("Averages.") < out.index("Findings")
    with Notebook(db) as notebook:
        series = [notebook.series(head.id) for head in notebook.heads()]
    assert len(series) == 6
    assert {one.status for one in series} == {SeriesStatus.COMPLETE}
    assert all(len(one.measured()) == 4 for one in series)
    starts = sorted((run.started_at, one.id) for one in series for run in one.measured())
    assert len({series_id for _, series_id in starts[:6]}) == 6
    assert list(smbd.folder.glob(".sharebench-*")) == []
    assert list(vsftpd.folder.glob(".sharebench-*")) == []


def test_the_document_and_a_survey_of_one_command(options, tmp_path, capsys):
    assert survey(tmp_path / "notebook.db", *options, "--only", "put", "--no-iperf3", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "sharebench/survey/1"
    loopback = [station for station in document["stations"] if station["place"] == "loopback"]
    assert [(s["protocol"], s["command"], s["state"]) for s in loopback] == [
        ("ftp", "put", "done"),
        ("smb", "put", "done"),
    ]
    assert document["complete"] is True
    assert document["next_step"]


def test_a_file_that_is_there_is_read_and_nothing_is_written(options, smbd, vsftpd, tmp_path, capsys):
    for server in (smbd, vsftpd):
        server.make_file("there.bin", bytes(2 << 20))
    before = [sorted(server.folder.iterdir()) for server in (smbd, vsftpd)]
    arguments = [*options, "--only", "get", "--no-iperf3", "--file", "there.bin", "--json"]
    assert survey(tmp_path / "notebook.db", *arguments) == 0
    document = json.loads(capsys.readouterr().out)
    done = [station["series"] for station in document["stations"] if station["state"] == "done"]
    with Notebook(tmp_path / "notebook.db") as notebook:
        series = [notebook.series(series_id) for series_id in done]
    assert [one.target.path for one in series] == ["/there.bin", "there.bin"]
    assert {run.size_bytes for one in series for run in one.measured()} == {2 << 20}
    assert [sorted(server.folder.iterdir()) for server in (smbd, vsftpd)] == before


@pytest.mark.long
def test_what_fails_is_named_and_the_rest_is_kept(options, tmp_path, capsys):
    wrong = [*options, "--ftp", "/no such folder", "--no-iperf3"]
    assert survey(tmp_path / "notebook.db", *wrong) == 4
    out, err = capsys.readouterr()
    assert "loopback FTP get and put: failed: " in " ".join(out.split())
    assert "SMB" in out
    assert "2 of " in err
    assert survey(tmp_path / "notebook.db", *wrong) == 4
    assert "resuming survey 127.0.0.1" in capsys.readouterr().err


def test_wrong_words_and_nobody_there(tmp_path, capsys):
    db = tmp_path / "notebook.db"
    assert survey(db, "smb://nas/share") == 2
    assert survey(db, "127.0.0.1", "--no-iperf3") == 2
    assert survey(db, "127.0.0.1", "--iperf3-port", "1") == 4
    assert survey(db) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "no answer on 127.0.0.1 port 1" in err


@pytest.mark.long
def test_ctrl_c_keeps_what_is_done_and_the_same_command_resumes_it(
    make_link, make_smbd, make_vsftpd, tmp_path, capsys, monkeypatch
):
    link = make_link("20mbit")  # the runs take some 15 s, however late the signal comes
    smb, ftp = make_smbd(link=link), make_vsftpd(link=link)
    monkeypatch.setenv("SHAREBENCH_PASSWORD", smb.password)
    db = tmp_path / "notebook.db"
    command = [
        link.host, "--smb", smb.share, "--smb-port", str(smb.port), "--ftp", "/", "--ftp-port", str(ftp.port), "--user",
        smb.user, "--no-iperf3", "--size", "1M", "--runs", "8", "--warmup", "1",
    ]  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-m", "app", "survey", "--db", str(db), "--quiet-time", "skip", "--ceiling", "skip", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        wait_for(lambda: _measured(db) or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "the same command resumes the survey" in err
    assert "network FTP get and put: interrupted" in " ".join(out.split())
    assert [list(folder.glob(".sharebench-*")) for folder in (smb.folder, ftp.folder)] == [[], []]
    kept = _measured(db)
    link.change_rate("1gbit")
    assert survey(db, *command) == 0
    assert f"resuming survey {link.host}" in capsys.readouterr().err
    assert kept < _measured(db)
    with Notebook(db) as notebook:
        heads = notebook.heads()
        assert {head.status for head in heads} == {SeriesStatus.COMPLETE}
        assert [len(notebook.series(head.id).measured()) for head in heads] == [8] * 4


def _measured(db: Path) -> set[tuple[str, str]]:
    """(series, start) of each measured run that is stored."""
    if not db.exists():
        return set()
    with Notebook(db) as notebook:
        series = [notebook.series(head.id) for head in notebook.heads()]
    return {(one.id, run.started_at) for one in series for run in one.measured()}
