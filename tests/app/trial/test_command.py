"""``sharebench try``, ``sweep`` and ``restore`` as they are called."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.base.errors import CancelledError
from app.cli.trial_pace import TrialPace
from app.recording.process import SeriesControl
from app.trial.fitting import FittedRequest
from app.trial.server_setting import ServerSetting
from app.trial.tune import Tuning
from forms.trial.summary import trial_summary
from storage.changes import ChangeKind, GridAxis, Slot, TrialPlan
from storage.notebook import Notebook
from storage.records import Change, Experiment, ExperimentKind, format_target
from tests.builders import abandoned_change, series
from tests.command_line import Inside
from tests.servers.process import require
from tests.servers.smbd import Smbd
from tests.waiting import HANG_SECONDS, wait_for

SKIP = ("--ceiling", "skip", "--timeout", "10")


@pytest.fixture(scope="module")
def samba() -> Iterator[Smbd]:
    found = Smbd()
    try:
        found.start()
        found.make_file("file", b"x" * 3_000_000)
        yield found
    finally:
        found.stop()


@pytest.fixture
def sharebench(samba: Smbd, tmp_path: Path) -> Inside:
    """The command with the server's password, inside the test's own process."""
    return Inside(tmp_path / "notebook.db", samba.password)


def url(samba: Smbd, name: str = "file") -> str:
    return f"smb://{samba.user}@{samba.host}:{samba.port}/{samba.share}/{name}"


def conf(samba: Smbd) -> tuple[str, ...]:
    return ("--smb-conf", str(samba.conf), *SKIP)


def test_nothing_is_written_without_consent(samba: Smbd, sharebench: Inside):
    before = samba.conf.read_bytes()
    done = sharebench("try", "server signing=mandatory", url(samba), *conf(samba))
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert f"server signing = mandatory, in [global] of {samba.root}/sharebench.conf" in done.stderr
    assert "sharebench restore" in done.stderr
    assert re.search(r"8 pairs take about .+, 20 about .+\.\n", done.stderr), "before it asks"
    sized = sharebench("try", "server signing=mandatory", url(samba, ""), *conf(samba), "--make-file", "--size", "2M")
    assert re.search(r"8 pairs take about .+, 20 about .+\.\n", sized.stderr), "where its size was chosen too"
    assert samba.conf.read_bytes() == before
    assert not (samba.root / "sharebench.conf").exists()


@pytest.mark.varied
@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("strict synk=no", "is refused, and nothing was written: this Samba has no parameter strict synk, "),
        ("strict synk=no", "; did you mean strict sync?\n"),
        ("strict sync=no", "--accept-risk"),
        ("socket options=BOGUS", "no socket option BOGUS"),
        ("interfaces=lo", "never changes it"),
        ("=x", "NAME=VALUE"),
    ],
)
def test_what_is_refused_is_told_in_one_line(samba: Smbd, sharebench: Inside, setting: str, said: str):
    done = sharebench("try", setting, url(samba), *conf(samba), "--yes")
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.long
def test_a_sweep_is_carried_out_shown_and_gone_on_with(samba: Smbd, sharebench: Inside):
    before = samba.conf.read_bytes()
    done = sharebench("sweep", "SO_RCVBUF=256K", url(samba), *conf(samba), "--yes", "--blocks", "2")
    assert "█" not in done.stdout, "the curve is drawn, so the same values as bars would be the second picture"
    assert done.returncode == 0, done.stderr
    assert "Sweep of socket options" in done.stdout
    assert "block 1 (of 2): socket options" in done.stderr
    assert re.search(r"block 2 \(of 2; at most [0-9]+ s left\): socket options", done.stderr)
    assert re.search(r"\n2 blocks take about [0-9]+ s\.\n", done.stderr)
    assert " 1 of 1: " not in done.stderr, "how many runs there are is said of the blocks"
    assert "too short to measure reliably" in " ".join(done.stdout.split())
    assert "(present" in done.stdout
    assert "Restored: socket options is TCP_NODELAY again" in done.stderr
    assert "SO_RCVBUF of a new session" in " ".join(done.stdout.split())
    assert samba.conf.read_bytes() == before
    assert "--resume" not in done.stderr, "it is complete"
    with Notebook(sharebench.db) as notebook:
        (entry,) = notebook.experiments(ExperimentKind.SWEEP)
    shown = sharebench("experiment", "show", entry.experiment.name, "--json")
    assert '"sharebench/sweep/1"' in shown.stdout
    stored = sharebench("experiment", "show", entry.experiment.name).stdout
    told = re.search(r"\nServer: +restored 20[0-9-]+ [0-9:]+ UTC(?=\n)", stored)
    assert told, "the notebook knows that all was restored"
    assert stored.replace(told[0], "") == done.stdout, "with the same curve"
    again = sharebench("try", "--resume", entry.experiment.name, "--yes")
    assert again.returncode == 0, again.stderr
    with Notebook(sharebench.db) as notebook:
        assert [len(one.measured()) for one in notebook.experiment(entry.experiment.name)] == [2, 2]


@pytest.mark.parametrize("setting", ["deadtime=5", "net.core.somaxconn=100"])
def test_a_server_that_ssh_cannot_reach_is_no_usage_error(samba: Smbd, sharebench: Inside, setting: str):
    """As `push` says of the same host."""
    said = sharebench.fails(4, "try", setting, url(samba), *SKIP, "--server-ssh", "root@nohost.invalid", "--yes")
    assert "root@nohost.invalid" in said


@pytest.mark.long
def test_a_sweep_measures_the_present_value_once_and_marks_it(samba: Smbd, sharebench: Inside):
    options = (url(samba, ""), "--put", "--size", "2M", *conf(samba), "--yes")
    done = sharebench("sweep", "strict allocate=yes,no", *options, "--blocks", "2")
    assert done.returncode == 0, done.stderr
    told = "strict allocate = No is the present value: each block measures it once, as the base.\n"
    assert done.stderr.startswith(told)
    assert "strict allocate = no" not in done.stderr, "not written either"
    assert "No (present value)" in done.stdout
    with Notebook(sharebench.db) as notebook:
        (entry,) = notebook.experiments(ExperimentKind.SWEEP)
        measured = notebook.experiment(entry.experiment.name)
    assert sorted(one.change.value if one.change else "" for one in measured) == ["", "yes"], "in whichever order"
    said = sharebench.fails(2, "sweep", "strict allocate=no,0", *options)
    assert said == "strict allocate is No already: name another value"


@pytest.mark.long
def test_a_cancelled_trial_names_what_resumes_it(samba: Smbd, sharebench: Inside):
    samba.make_file("larger", b"x" * 50_000_000)
    process = sharebench.start("try", "server signing=mandatory", url(samba, "larger"), *conf(samba), "--yes")
    wait_for(lambda: sharebench("list", "--all").stdout.count("  series ") >= 2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 130
    (document,) = sharebench.json("list", "--json")
    assert err.splitlines()[-1] == f"sharebench: cancelled; `sharebench try --resume {document['id']}` completes it"
    assert document["status"] == "interrupted"
    again = sharebench("try", "--resume", document["id"], "--within", "1", "--yes")
    assert "no trial or sweep" not in again.stderr
    assert sharebench.json("list", "--json")[0]["id"] == document["id"]


@pytest.mark.parametrize("seconds", [0.02, 0.3])
@pytest.mark.long
def test_ctrl_c_pressed_again_and_again_ends_with_what_was_restored(samba: Smbd, sharebench: Inside, seconds: float):
    """It restored the setting and did not tell, and `restore` told to reload smbd."""
    before = samba.conf.read_bytes()
    process = sharebench.start("try", "server signing=mandatory", url(samba), *conf(samba), "--yes")
    wait_for(lambda: samba.conf.read_bytes() != before)
    for _ in range(int(3 / seconds)):
        process.send_signal(signal.SIGINT)
        time.sleep(seconds)
    _, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 130
    assert "Restored: server signing is default again" in err
    assert err.splitlines()[-1].startswith("sharebench: cancelled")
    assert "Traceback" not in err
    assert samba.conf.read_bytes() == before
    assert sharebench("restore").stdout == "nothing to restore\n"


@pytest.mark.parametrize(("values_set", "is_cancelled"), [(1, True), (4, False)])
@pytest.mark.long
def test_a_trial_whose_time_is_over_ends_in_its_first_pair_and_later_after_a_whole_one(
    samba: Smbd, sharebench: Inside, monkeypatch: pytest.MonkeyPatch, values_set: int, is_cancelled: bool
):
    before, controls, times = samba.conf.read_bytes(), list[SeriesControl](), list[int]()
    begin, set_value = SeriesControl.__init__, ServerSetting.set_value

    def control(self: SeriesControl, *arguments: float) -> None:
        begin(self, *arguments)
        controls.append(self)

    def time_over(self: ServerSetting, arm: int) -> None:
        set_value(self, arm)
        times.append(arm)
        if len(times) == values_set:
            next(each for each in controls if each.limit.seconds == 540).end_in_time()

    monkeypatch.setattr(SeriesControl, "__init__", control)
    monkeypatch.setattr(ServerSetting, "set_value", time_over)
    done = sharebench(
        "sweep", "strict allocate=yes", url(samba), *conf(samba), "--blocks", "2", "--within", "9", "--yes"
    )
    assert (done.returncode == 130) is is_cancelled
    assert ("time is over (--within 9)" in done.stderr) is is_cancelled
    assert len(times) == (1 if is_cancelled else 4)
    assert samba.conf.read_bytes() == before


def test_a_sweep_of_two_settings_is_refused_before_anything_is_looked_at(inside: Inside):
    said = inside.fails(2, "sweep", "aio read size=0,1", "use sendfile=yes,no", "smb://nobody.invalid/share/file")
    assert "the method changes one setting at a time" in said


@pytest.mark.parametrize(("command", "setting"), [("try", "NAME=VALUE"), ("sweep", "NAME=V1,V2")])
def test_a_target_that_is_named_before_the_setting_is_told(inside: Inside, command: str, setting: str):
    said = inside.fails(2, command, "smb://nas/share/a=file", "use sendfile=yes")
    assert f"the setting comes first, then the target: {setting} TARGET" in said
    said = inside.fails(2, command, "smb://alice:sec=ret@nas/share", "use sendfile=yes")
    assert "sec" not in said
    assert "SHAREBENCH_PASSWORD" in said


def test_a_stored_sweep_of_two_settings_is_not_resumed(inside: Inside):
    axes = tuple(GridAxis(kind=ChangeKind.SMB_CONF, name=name, values=("1",)) for name in ("first", "second"))
    plan = TrialPlan(
        kind=ChangeKind.SMB_CONF, name="first, second", values=("1, 1",), axes=axes, cells=(("1", "1"),), looks=(8,)
    )
    with Notebook(inside.db) as notebook:
        notebook.add_experiment(
            Experiment(name="grid", kind=ExperimentKind.SWEEP, created_at="2026-01-01T00:00:00.000Z")
        )
        notebook.add(series([1e8], experiment="grid"))
        notebook.set_trial("grid", plan)
    assert "changes two settings at once" in inside.fails(2, "try", "--resume", "grid")


def test_resuming_what_is_none_is_refused(inside: Inside):
    with Notebook(inside.db) as notebook:
        notebook.add(series([1e8], experiment="an experiment"))
    assert "no trial or sweep" in inside.fails(2, "try", "--resume", "an experiment")


def left_behind(inside: Inside) -> None:
    """A change of a process that is gone, on a machine that is not this one."""
    with Notebook(inside.db) as notebook:
        notebook.open_journal(abandoned_change())
        notebook.add(series([1e8]))


def test_what_was_left_is_told_at_the_next_start_and_listed(inside: Inside):
    left_behind(inside)
    done = inside("list")
    assert "left strict sync changed on this machine: restore it with `sharebench restore`" in done.stderr
    listed = inside("restore", "--list")
    assert "strict sync on this machine (nas), was Yes: left by an interrupted trial" in listed.stdout
    assert "sh /etc/samba/sharebench-undo.sh" in listed.stdout
    (document,) = inside.json("restore", "--list", "--json")
    assert document["effective_before"] == "Yes"


def test_another_machine_is_not_restored_from_here(inside: Inside):
    left_behind(inside)
    assert "--server-ssh root@HOST" in inside.fails(4, "restore")
    with Notebook(inside.db) as notebook:
        assert len(notebook.abandoned_changes()) == 1


def test_there_may_be_nothing_to_put_back(inside: Inside):
    assert inside("restore").stdout == "nothing to restore\n"


def test_a_trial_that_lost_a_series_says_so(inside: Inside):
    with Notebook(inside.db) as notebook:
        notebook.add_experiment(Experiment(name="trial of it", kind=ExperimentKind.TRIAL))
        change = Change(name="strict sync", value="no", previous="Yes")
        notebook.add(series([1e8], experiment="trial of it", change=change))
        plan = TrialPlan(kind=ChangeKind.SMB_CONF, name="strict sync", values=("no",), looks=(8,))
        notebook.set_trial("trial of it", plan)
        assert notebook.trial("trial of it") == plan
    shown = inside("experiment", "show", "trial of it")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "A series of it is missing, so it has no verdict of its own." in shown.stdout
    (document,) = inside.json("list", "--json")
    assert (document["schema"], document["experiment"]) == ("sharebench/series/1", "trial of it")


def kept_trial(inside: Inside) -> str:
    """A stored trial that found something."""
    name = "trial log level nas 2026-01-31 10:00:00"
    plan = TrialPlan(
        kind=ChangeKind.HOOK, name="stripe", previous="as it was", values=("applied",), looks=(8, 14, 20),
        server_ssh="root@nas", apply="touch /tmp/x", revert="rm /tmp/x",
    )  # fmt: skip
    with Notebook(inside.db) as notebook:
        notebook.add_experiment(Experiment(name=name, kind=ExperimentKind.TRIAL, created_at="2026-01-31T10:00:00.000Z"))
        notebook.add(series([1e8 + n for n in range(8)], id="a00000000000", experiment=name))
        change = Change(name="stripe", value="applied", previous="as it was")
        notebook.add(series([9e7 + n for n in range(8)], id="b00000000000", experiment=name, change=change))
        notebook.set_trial(name, plan)
        for number in range(1, 9):
            for place, one in enumerate(("a00000000000", "b00000000000")):
                slot = Slot(series_id=one, number=number, position=2 * number + place, control_seconds=0.01)
                notebook.add_slot(slot)
    return name


def test_a_trial_goes_out_and_comes_in_as_it_was(inside: Inside, tmp_path: Path):
    name = kept_trial(inside)
    file = tmp_path / "trial.json"
    assert inside("export", name, "--form", "experiment", "--format", "json", "-o", str(file)).returncode == 0
    text = file.read_text()
    assert "root@nas" not in text
    assert "/tmp/x" not in text
    other = Inside(tmp_path / "other.db")
    assert other("import", str(file)).stdout.split() == ["a00000000000", "b00000000000"]
    assert "already in the notebook" in other("import", str(file)).stderr
    shown = other("experiment", "show", name)
    assert "▼ Slower by 10" in shown.stdout
    assert "Leave stripe out." in " ".join(shown.stdout.split())
    assert (
        other.json("experiment", "show", name, "--json") == json.loads(text)[0] if text[0] == "[" else json.loads(text)
    )
    assert "imported" in other.fails(2, "try", "--resume", name, "--yes")
    assert "with other series" in other.fails(2, "import", str(file), "--as-new")


@pytest.mark.parametrize("spoil", ['"looks": []', '"looks": [99999999]', '"values": ["other"]', '"kind": "banana"'])
def test_a_trial_that_cannot_be_is_refused_whole(inside: Inside, tmp_path: Path, spoil: str):
    document = inside.json("experiment", "show", kept_trial(inside), "--json")
    document["plan"] |= json.loads("{" + spoil + "}")
    (tmp_path / "trial.json").write_text(json.dumps(document))
    other = Inside(tmp_path / "other.db")
    other.fails(2, "import", str(tmp_path / "trial.json"))
    assert not other.db.exists()


def test_a_notebook_of_somebody_else_is_not_restored_from(inside: Inside):
    require("chown")
    left_behind(inside)
    os.chown(inside.db, 12345, -1)
    try:
        assert "belongs to somebody else" in inside.fails(2, "restore")
    finally:
        os.chown(inside.db, os.geteuid(), -1)


@pytest.mark.varied
@pytest.mark.parametrize("left", [("strict locking", "deadtime"), ()])
def test_a_tuning_that_is_cancelled_shows_what_it_came_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: tuple[str, ...]
):
    def run(tuning: Tuning, _path: Path, _control: SeriesControl) -> Iterator[object]:
        base = series([1e8] * 8, id="a00000000000", warmups=0)
        other = series([1.2e8] * 8, id="b00000000000", warmups=0, change=Change(name="strict sync", value="no"))
        plan = TrialPlan(kind=ChangeKind.SMB_CONF, name="strict sync", values=("no",), looks=(8,))
        experiment = Experiment(name="trial of it", kind=ExperimentKind.TRIAL)
        tuning.trials.append(trial_summary(experiment, plan, [base, other], []))
        tuning.untried = left
        yield from ()
        raise CancelledError("cancelled")

    monkeypatch.setattr(Tuning, "run", run)
    monkeypatch.setattr("app.cli.commands.tune.check_target", lambda _request: None)
    monkeypatch.setattr("app.cli.commands.tune.fitting.fit_request", lambda request, **_: FittedRequest(request, 0))
    done = Inside(tmp_path / "notebook.db", password="x")("tune", "smb://u@127.0.0.1/bench/file", "--yes")
    assert done.returncode == 130
    assert "strict sync" in done.stdout
    rest = "Recommendation: try the rest with the same command and --only 'strict locking' --only deadtime\n"
    assert (rest in done.stderr) is bool(left)
    assert ("Recommendation" in done.stderr) is bool(left)


@pytest.mark.long
def test_tune_refuses_before_measuring_where_only_a_restart_brings_the_remedy(tmp_path: Path):
    server = Smbd({"socket options": "TCP_NODELAY SO_SNDBUF=14596 SO_RCVBUF=14596"})
    try:
        server.start()
        server.make_file("file", b"x" * 3_000_000)
        before = server.conf.read_bytes()
        called = Inside(tmp_path / "notebook.db", server.password)
        said = called.fails(2, "tune", url(server), *conf(server), "--yes")
        assert said.startswith("the audit proposes socket options = TCP_NODELAY first, which needs a restart of smbd")
        assert "--allow-restart" in said
        assert "--only NAME" in said
        assert server.conf.read_bytes() == before
    finally:
        server.stop()


def test_tune_says_what_it_tries_where_it_does_not_try_what_is_named(inside: Inside):
    said = inside.fails(2, "tune", "smb://u@127.0.0.1/bench/file", "--only", "strict synk", "--yes")
    assert said.startswith("--only 'strict synk': tune does not try it; it tries ")
    assert "server signing" in said or "aio read size" in said


@pytest.mark.parametrize(("pair", "looks"), [(1, "8, 14 or 20"), (8, "8, 14 or 20"), (9, "14 or 20"), (15, "20")])
def test_progress_names_the_looks_that_are_still_to_come(pair, looks):
    assert TrialPace((8, 14, 20), 2, ExperimentKind.TRIAL).place(pair) == f"pair {pair} (of {looks})"


@pytest.mark.parametrize(
    ("done", "within", "left"),
    [
        (2, math.inf, "; at most 32 min left"),
        (2, 1901, "; at most 32 min left"),
        (2, 45, "; at most 45 s left"),
        (2, 0, ""),
        (0, 45, ""),
    ],
)
def test_no_more_time_is_left_than_the_limit_leaves(
    monkeypatch: pytest.MonkeyPatch, done: int, within: float, left: str
):
    monkeypatch.setattr("app.cli.trial_pace.time", SimpleNamespace(monotonic=lambda: 100.0))
    pace = TrialPace((8, 14, 20), 2, ExperimentKind.TRIAL, runs_done=done, began=0.0, ends_at=100.0 + within)
    assert pace.place(9) == f"pair 9 (of 14 or 20{left})"


@pytest.mark.varied
@pytest.mark.parametrize("command", ["try", "sweep"])
def test_a_value_that_the_server_refuses_is_refused_before_a_password_is_asked_for(
    inside: Inside, command: str, make_smbd: Callable[..., Smbd]
):
    server = make_smbd()
    server.make_file("file", bytes(1 << 20))
    target = format_target(server.target("file"))
    value = "maybe" if command == "try" else "maybe,auto"
    without_password = Inside(inside.db, None)
    said = without_password.fails(2, command, f"server signing={value}", target, "--smb-conf", str(server.conf))
    assert "maybe" in said
    assert "assword" not in said
