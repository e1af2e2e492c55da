"""``sharebench try``, ``sweep`` and ``restore`` as they are called."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from storage.changes import ChangeKind, JournalEntry, TrialPlan
from storage.notebook import Notebook
from storage.ownership import this_process
from storage.records import Change, Experiment, ExperimentKind
from tests.builders import series
from tests.command_line import Inside, Sharebench
from tests.servers.smbd import Smbd

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


def url(samba: Smbd, name: str = "file") -> str:
    return f"smb://{samba.user}@{samba.host}:{samba.port}/{samba.share}/{name}"


def conf(samba: Smbd) -> tuple[str, ...]:
    return ("--smb-conf", str(samba.conf), *SKIP)


def test_nothing_is_written_without_consent(samba: Smbd, sharebench: Sharebench):
    before = samba.conf.read_bytes()
    done = sharebench("try", "server signing=mandatory", url(samba), *conf(samba))
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert f"server signing = mandatory, in [global] of {samba.root}/sharebench.conf" in done.stderr
    assert "sharebench restore" in done.stderr
    assert samba.conf.read_bytes() == before
    assert not (samba.root / "sharebench.conf").exists()


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("strict synk=no", "did you mean strict sync"),
        ("strict sync=no", "--accept-risk"),
        ("socket options=BOGUS", "no socket option BOGUS"),
        ("interfaces=lo", "never changes it"),
        ("=x", "NAME=VALUE"),
    ],
)
def test_what_is_refused_is_told_in_one_line(samba: Smbd, sharebench: Sharebench, setting: str, said: str):
    done = sharebench("try", setting, url(samba), *conf(samba), "--yes")
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_sweep_is_carried_out_shown_and_gone_on_with(samba: Smbd, sharebench: Sharebench):
    before = samba.conf.read_bytes()
    done = sharebench("sweep", "SO_RCVBUF=256K", url(samba), *conf(samba), "--yes", "--blocks", "2")
    assert done.returncode == 0, done.stderr
    assert "Sweep of socket options" in done.stdout
    assert "as it was" in done.stdout
    assert "put back: socket options is TCP_NODELAY again" in done.stderr
    assert "SO_RCVBUF of a new session" in done.stdout
    assert samba.conf.read_bytes() == before
    with Notebook(sharebench.db) as notebook:
        (entry,) = notebook.experiments(ExperimentKind.SWEEP)
    shown = sharebench("experiment", "show", entry.experiment.name, "--json")
    assert '"sharebench/sweep/1"' in shown.stdout
    again = sharebench("try", "--resume", entry.experiment.name, "--yes")
    assert again.returncode == 0, again.stderr
    with Notebook(sharebench.db) as notebook:
        assert [len(one.measured()) for one in notebook.experiment(entry.experiment.name)] == [2, 2]


def test_resuming_what_is_none_is_refused(inside: Inside):
    with Notebook(inside.db) as notebook:
        notebook.add(series([1e8], experiment="a ladder"))
    assert "no trial or sweep" in inside.fails(2, "try", "--resume", "a ladder")


def left_behind(inside: Inside) -> JournalEntry:
    """A change of a process that is gone, on a machine that is not this one."""
    gone = this_process().__class__(
        host="elsewhere", boot_id="x", process_id=1, process_started="1", since="2026-01-01T00:00:00Z",
        renewed_at="2026-01-01T00:00:00Z",
    )  # fmt: skip
    entry = JournalEntry(
        id="0123456789ab", created_at="2026-01-31T10:00:00.000Z", experiment="trial of it", kind=ChangeKind.SMB_CONF,
        name="strict sync", machine="nas 1234", undo_path="/etc/samba/sharebench-undo.sh", undo_script="exit 1",
        effective_before="Yes", owner=gone,
    )  # fmt: skip
    with Notebook(inside.db) as notebook:
        notebook.open_journal(entry)
        notebook.add(series([1e8]))
    return entry


def test_what_was_left_is_told_at_the_next_start_and_listed(inside: Inside):
    left_behind(inside)
    done = inside("list")
    assert "left strict sync changed on this machine: put it back with `sharebench restore`" in done.stderr
    listed = inside("restore", "--list")
    assert "strict sync on this machine (nas), was Yes: left by an interrupted trial" in listed.stdout
    assert "sh /etc/samba/sharebench-undo.sh" in listed.stdout
    (document,) = inside.json("restore", "--list", "--json")
    assert document["effective_before"] == "Yes"


def test_another_machine_is_not_restored_from_here(inside: Inside):
    left_behind(inside)
    assert "--server-ssh root@HOST" in inside.fails(4, "restore")
    with Notebook(inside.db) as notebook:
        assert len(notebook.left_behind()) == 1


def test_there_may_be_nothing_to_put_back(inside: Inside):
    assert inside("restore").stdout == "nothing to put back\n"


def test_a_trial_that_lost_a_series_says_so(inside: Inside):
    with Notebook(inside.db) as notebook:
        notebook.add_experiment(Experiment(name="trial of it", kind=ExperimentKind.TRIAL))
        change = Change(name="strict sync", value="no", previous="Yes")
        notebook.add(series([1e8], experiment="trial of it", change=change))
        plan = TrialPlan(kind=ChangeKind.SMB_CONF, name="strict sync", values=("no",), looks=(8,))
        notebook.set_trial("trial of it", plan)
        assert notebook.trial("trial of it") == plan
    assert "sharebench show" in inside.fails(2, "experiment", "show", "trial of it")
