"""Commands around each run: ``--prepare``, ``--conclude`` and ``--server-prepare``, on local files and through ssh."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from app.base import config
from app.base.errors import UsageError
from app.base.targets import parse_target
from app.cli.main import run
from app.clients.base import Secrets
from app.recording.process import SeriesControl
from app.recording.spec import Hooks, SeriesSpec
from app.series.interleaved import record_interleaved
from app.series.record import new_series
from app.series.requests import series_request, spec_of
from app.series.resume import resume
from forms.series.head_fields import head_fields
from forms.tuning.differences import differences
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, MonitorChoices, QuietTime, RunCounts
from storage.records import Phase, RunStatus, Series, SeriesStatus
from tests.builders import all_series, last_series
from tests.servers.sshd import Sshd
from tests.waiting import HANG_SECONDS

QUICK = ("--runs", "2", "--warmup", "1", "--quiet-time", "skip", "--ceiling", "skip")
SIZE_BYTES = 1 << 20


@pytest.fixture
def url(tmp_path: Path) -> str:
    (tmp_path / "file").write_bytes(bytes(SIZE_BYTES))
    return f"file://{tmp_path}/file"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def sharebench(db: Path, *words: str) -> int:
    return run([*words, "--db", str(db)], lambda *_args, **_more: 0)


def stored(db: Path) -> Series:
    return last_series(db)


def noting(word: str, log: Path) -> str:
    return f"echo {word} >> {log}"


def failing_from(call: int, log: Path) -> str:
    """A command that ends with exit code 7 the n-th time that it is called."""
    return f"echo x >> {log}; test $(wc -l < {log}) -lt {call} || {{ echo disk gone >&2; exit 7; }}"


def test_commands_run_around_each_run_warm_ups_too(tmp_path, url, log):
    db = tmp_path / "notebook.db"
    hooks = [
        "--prepare",
        noting("here", log),
        "--server-prepare",
        noting("there", log),
        "--conclude",
        noting("end", log),
    ]
    assert sharebench(db, "run", url, *QUICK, *hooks) == 0

    assert log.read_text().split() == ["here", "there", "end"] * 3
    series = stored(db)
    path_facts = series.environment["path"]
    assert [path_facts[f"hook.{name}"] for name in ("prepare", "server_prepare", "conclude")] == hooks[1::2]
    assert {field.text for field in head_fields(series)} >= set(hooks[1::2])


def test_what_a_command_takes_is_no_part_of_a_run(tmp_path, url, log):
    db = tmp_path / "notebook.db"
    prepare, conclude = f"sleep 0.2; date +%s.%N >> {log}", f"date +%s.%N >> {log}; sleep 0.2"
    assert sharebench(db, "run", url, *QUICK, "--prepare", prepare, "--conclude", conclude) == 0
    moments = [float(word) for word in log.read_text().split()]
    between_seconds = [end - start for start, end in zip(moments[::2], moments[1::2], strict=True)]
    for measured, seconds in zip(stored(db).runs, between_seconds, strict=True):
        assert measured.seconds is not None
        assert measured.seconds < seconds


@pytest.mark.parametrize(("option", "call"), [("--prepare", 3), ("--conclude", 3), ("--server-prepare", 3)])
def test_a_run_fails_with_its_command_and_earlier_runs_stay(tmp_path, url, log, capsys, option, call):
    db = tmp_path / "notebook.db"
    assert sharebench(db, "run", url, *QUICK, option, failing_from(call, log)) == 4
    assert "exit code 7 (disk gone)" in capsys.readouterr().err

    series = stored(db)
    assert series.status is SeriesStatus.FAILED
    states = [(run.phase, run.number, run.status) for run in series.runs]
    # What comes after a run finds it measured, and stored.
    last_state = RunStatus.VALID if option == "--conclude" else RunStatus.FAILED
    assert states == [
        (Phase.WARM_UP, 1, RunStatus.VALID),
        (Phase.MEASURED, 1, RunStatus.VALID),
        (Phase.MEASURED, 2, last_state),
    ]


def test_a_failed_series_goes_on_only_with_its_command_typed_anew(tmp_path, url, log):
    db = tmp_path / "notebook.db"
    command = failing_from(3, log)
    assert sharebench(db, "run", url, *QUICK, "--prepare", command) == 4
    series_id = stored(db).id
    calls = log.read_text()

    assert sharebench(db, "run", "--resume", series_id) == 2
    assert sharebench(db, "run", "--resume", series_id, "--prepare", "true") == 2
    assert sharebench(db, "run", "--resume", series_id, "--prepare", command, "--conclude", "true") == 2
    with pytest.raises(UsageError):
        list(resume(series_id, Secrets(), db, SeriesControl()))
    assert log.read_text() == calls

    log.unlink()
    assert sharebench(db, "run", "--resume", series_id, "--prepare", command) == 0
    assert log.read_text() == "x\n" * 2, "a warm-up run and the run that failed"
    assert stored(db).status is SeriesStatus.COMPLETE


def test_a_series_without_commands_is_not_resumed_with_one(tmp_path, url):
    db = tmp_path / "notebook.db"
    request = series_request(quick_spec(Hooks()), parse_target(url), Secrets())
    series = replace(new_series(request), status=SeriesStatus.INTERRUPTED, scratch_path=None)
    with Notebook(db) as notebook:
        notebook.add(series)
    assert sharebench(db, "run", "--resume", series.id, "--prepare", "true") == 2


def quick_spec(hooks: Hooks, runs: int = 2) -> SeriesSpec:
    return SeriesSpec(
        hooks=hooks,
        counts=RunCounts(runs=runs, warmups=0),
        monitor=MonitorChoices(quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP),
    )


def test_again_runs_no_stored_command_and_says_what_differs(tmp_path, url, log):
    db = tmp_path / "notebook.db"
    command = noting("x", log)
    assert sharebench(db, "run", url, *QUICK, "--prepare", command) == 0
    log.unlink()

    assert sharebench(db, "run", "--again", "last") == 2
    assert not log.exists()
    assert len(with_runs(db)) == 1

    assert sharebench(db, "run", "--again", "last", "--prepare", command) == 0
    assert log.read_text() == "x\n" * 3
    first, second = with_runs(db)
    assert differences(first, second) == ()


def with_runs(db: Path) -> list[Series]:
    """Oldest first."""
    return [series for series in reversed(all_series(db)) if series.runs]


def test_an_imported_series_brings_no_command_to_run(tmp_path, url, log, capsys):
    db, other_db = tmp_path / "notebook.db", tmp_path / "other.db"
    assert sharebench(db, "run", url, *QUICK, "--prepare", noting("x", log)) == 0
    log.unlink()
    capsys.readouterr()
    assert sharebench(db, "export", "last", "--format", "json") == 0
    document = tmp_path / "series.json"
    document.write_text(capsys.readouterr().out)

    assert sharebench(other_db, "import", str(document)) == 0
    imported = stored(other_db)
    assert imported.environment["path"]["hook.prepare"] == noting("x", log)
    assert spec_of(imported).hooks == Hooks()
    sharebench(other_db, "run", "--again", imported.id, "--confirm-target")
    assert not log.exists()


def test_series_with_and_without_a_command_differ_by_it(tmp_path, url):
    db = tmp_path / "notebook.db"
    assert sharebench(db, "run", url, *QUICK) == 0
    assert sharebench(db, "run", url, *QUICK, "--prepare", "true") == 0
    plain, prepared = with_runs(db)
    (difference,) = differences(plain, prepared)
    assert (difference.name, difference.base, difference.other) == ("hook.prepare", "none", "true")


def test_the_server_is_prepared_through_ssh(tmp_path, url, log, through: Sshd):
    db = tmp_path / "notebook.db"
    command = f"echo $SSH_CONNECTION >> {log}"
    assert sharebench(db, "run", url, *QUICK, "--server-prepare", command, "--server-ssh", "fileserver") == 0
    lines = log.read_text().splitlines()
    assert len(lines) == 3
    assert all(line.split()[2] == through.host for line in lines)


def test_a_server_without_a_way_to_it_cannot_be_prepared():
    target = parse_target("smb://alice@nas.invalid/public/file")
    with pytest.raises(UsageError):
        series_request(quick_spec(Hooks(server_prepare="true")), target, Secrets())
    monitor = MonitorChoices(server_ssh="root@nas.invalid")
    series_request(replace(quick_spec(Hooks(server_prepare="true")), monitor=monitor), target, Secrets())


def test_a_command_ends_when_the_series_is_cancelled(tmp_path, url, log):
    db = tmp_path / "notebook.db"
    command = f"echo $$ > {log}; exec sleep 300"
    words = [sys.executable, "-m", "app", "run", url, *QUICK, "--prepare", command, "--db", str(db)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        deadline = time.monotonic() + HANG_SECONDS
        while not (log.exists() and log.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        hook = psutil.Process(int(log.read_text()))
        os.kill(running.pid, signal.SIGINT)
        assert running.wait(HANG_SECONDS) == 130
        hook.wait(HANG_SECONDS)


def test_the_time_of_preparing_counts_for_the_limit(tmp_path, url):
    """With --within nothing begins that would end too late: a run is as long as what prepares it, and itself."""
    db = tmp_path / "notebook.db"
    request = series_request(quick_spec(Hooks(prepare="sleep 1"), runs=50), parse_target(url), Secrets())
    control = SeriesControl(5)
    control.limit.start()
    list(record_interleaved([request], db, control))
    series = stored(db)
    assert series.status is SeriesStatus.COMPLETE
    assert 1 <= len(series.runs) <= 5


def test_config_toml_gives_no_commands(tmp_path, url, capsys, monkeypatch):
    (tmp_path / "sharebench").mkdir()
    (tmp_path / "sharebench" / "config.toml").write_text('[defaults]\nprepare = "true"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    config.config.cache_clear()
    try:
        assert sharebench(tmp_path / "notebook.db", "run", url, *QUICK) == 2
    finally:
        config.config.cache_clear()
    assert "prepare" in capsys.readouterr().err


def test_documents_tell_the_commands_as_text(tmp_path, url, capsys):
    db = tmp_path / "notebook.db"
    assert sharebench(db, "run", url, *QUICK, "--conclude", "true", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["environment"]["path"]["hook.conclude"] == "true"


def test_a_command_has_the_users_variables_not_ours(tmp_path, url, monkeypatch):
    monkeypatch.setenv("COLOUR", "blue")
    seen = tmp_path / "environment"
    assert sharebench(tmp_path / "notebook.db", "run", url, *QUICK, "--prepare", f"env > {seen}") == 0
    names = {line.partition("=")[0] for line in seen.read_text().splitlines()}
    assert "COLOUR" in names
    assert names.isdisjoint({"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "LC_ALL", "SHAREBENCH_PASSWORD"})


def test_a_command_may_say_as_much_as_it_likes(tmp_path, url):
    command = f"yes | head -c {9 * 2**20}"
    assert sharebench(tmp_path / "notebook.db", "run", url, *QUICK, "--prepare", command) == 0


def test_a_run_stays_when_its_conclusion_is_cancelled(tmp_path, url, log):
    db = tmp_path / "notebook.db"
    command = f"echo $$ > {log}; exec sleep 300"
    words = [sys.executable, "-m", "app", "run", url, *QUICK, "--conclude", command, "--db", str(db)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        deadline = time.monotonic() + HANG_SECONDS
        while not (log.exists() and log.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(running.pid, signal.SIGINT)
        assert running.wait(HANG_SECONDS) == 130
    (run_before,) = stored(db).runs
    assert run_before.status is RunStatus.VALID


def test_a_server_without_a_way_to_it_is_not_prepared_when_a_series_is_resumed(tmp_path):
    db = tmp_path / "notebook.db"
    target = parse_target("smb://alice@nas.invalid/public/file")
    monitor = MonitorChoices(server_ssh="root@nas.invalid")
    spec = replace(quick_spec(Hooks(server_prepare="true")), monitor=monitor)
    series = new_series(series_request(spec, target, Secrets()))
    way_is_gone = replace(series.plan, monitor=replace(monitor, server_ssh=None)) if series.plan else None
    environment = {"path": {"hook.server_prepare": "true"}}
    with Notebook(db) as notebook:
        notebook.add(replace(series, status=SeriesStatus.INTERRUPTED, plan=way_is_gone, environment=environment))
    with pytest.raises(UsageError):
        list(resume(series.id, Secrets(), db, SeriesControl(), hooks=Hooks(server_prepare="true")))
