"""The steps campaign: a change is cut off at each external command, and at any moment; nothing of it stays.

A *loss* of power ends a step before, half-way through or after one of its commands, and what was not synced by then is
lost. A *kill* ends any process of a change at any moment, or cuts its connection. With *slow* ones, everything takes
seconds, and whoever restores too early must be told so. Afterwards ``restore``, or the undo script alone, has to leave
the server as it was: content, mode, owner, ACL, attributes and time of every file, and nothing beside it.
"""

import hashlib
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from unittest.mock import patch

import psutil

from app.server.changes import machine, script
from app.server.changes.find_setting import find_setting
from app.server.changes.script import (
    ChangeFailedError,
    ChangeRefusedError,
    ServerChange,
    StepRunningError,
    new_change_id,
    set_arm,
    undo_script,
)
from app.server.changes.setting import ChangeableSetting, Ways
from app.server.shell import run_script
from app.trial.change_journal import begin_change, restore_entry
from storage.changes import ChangeState, JournalEntry
from storage.notebook import Notebook
from storage.owners import this_process
from storage.records import Target, utc_now
from tests.reliability.figures import Clock, Figures, Share
from tests.reliability.layouts import KINDS, ChangedServer, servers
from tests.waiting import HANG_SECONDS, LIMIT_SECONDS

TARGET = Target(protocol="smb", host="127.0.0.1", port=445, share="bench", path="x")
COMMANDS = (
    "base64", "cat", "chmod", "cp", "cut", "date", "find", "flock", "grep", "head", "ip", "ln", "mkdir", "mv", "net",
    "rm", "sed", "sha256sum", "smbcontrol", "sort", "stat", "sync", "systemctl", "systemd-run", "tail", "testparm",
    "touch", "tr",
)  # fmt: skip
"""What the steps call, each with a program before it that can cut them off."""
HALVES = {"base64", "cp", "net"}
"""Of these there is something between before and after."""
STEPS = ("begin", "arm 1", "arm 0", "undo")
WAYS = ("restore", "script")
VICTIMS = ("program", "step", "command", "all", "connection")
SLOW_SECONDS = 4
WAIT_SECONDS = 1
"""How long a step waits for another one here."""
MOST_COMMANDS = 60
KILLS = 30
"""Of each kind and victim."""

_PROGRAM = """#!/bin/sh
real={real} control={control} name={name}
case $name in sync) if [ -f "$1" ]; then
    read -r sum rest <<END
$(/usr/bin/sha256sum <"$1")
END
    echo "$(/usr/bin/stat -c %i "$1") $sum" >>$control/synced
    [ ! -e $control/slow ] || /bin/sleep {slow}
fi ;; esac
[ -e $control/at ] || exec $real "$@"
echo $name >>$control/log
number=0
while read -r line; do number=$((number + 1)); done <$control/log
read -r at moment <$control/at
[ "$number" = "$at" ] || exec $real "$@"
case $moment in
before) kill -9 0 ;;
half)
    case $name in
    base64)
        $real "$@" >$control/whole
        /usr/bin/head -c $(($(/usr/bin/stat -c %s $control/whole) / 2)) $control/whole
        ;;
    cp) $real "$@"; for last; do :; done; /usr/bin/truncate -s $(($(/usr/bin/stat -c %s "$last") / 2)) "$last" ;;
    net) $real "$@" & /bin/sleep 0.01 ;;
    esac ;;
after) $real "$@" ;;
esac
kill -9 0
"""


@dataclass(frozen=True, slots=True)
class Case:
    """One way to cut a change off."""

    cut: str
    kind: str
    where: str
    """The step that is cut off; the victim of a kill."""
    number: int
    """Of the command in its step; of the kill."""
    moment: str
    way: str
    """How it is restored."""

    @property
    def text(self) -> str:
        """What names it."""
        return f"{self.cut} {self.kind} / {self.where} {self.number} {self.moment} / {self.way}"


def all_cases(kinds: Sequence[str]) -> list[Case]:
    """Every case, in an order in which each beginning has some of everything."""
    moments = ("before", "half", "after")
    cases = [
        Case("loss", kind, step, number, moment, WAYS[(number + len(kind)) % 2])
        for kind, step, number, moment in product(kinds, STEPS, range(1, MOST_COMMANDS), moments)
    ]
    for cut in ("kill", "slow"):
        cases += [
            Case(cut, kind, victim, number, "any", WAYS[number % 2])
            for kind, victim, number in product(kinds, VICTIMS, range(KILLS if cut == "kill" else KILLS // 10))
            if victim != "connection" or "ssh" in kind
        ]
    random.Random(22).shuffle(cases)
    return cases


def campaign(
    seconds: float,
    kinds: tuple[str, ...] = KINDS,
    cuts: tuple[str, ...] = ("loss", "kill", "slow"),
    share: Share | None = None,
) -> Figures:
    """As many cases as there is time for, at least one of each cut."""
    share, clock = share or Share(), Clock(seconds)
    cases = [case for case in share.of_mine(all_cases(kinds)) if case.cut in cuts]
    with _bench(kinds) as bench:
        left = set(cuts)
        for case in cases:
            if clock.is_over() and not left:
                break
            if clock.is_over() and case.cut not in left:
                continue
            name = f"steps {case.text}"
            if share.has(name):
                continue
            found = bench.carried_out(case)
            if found is not None:
                left.discard(case.cut)
                share.note(name, found)
    return share.figures


@contextmanager
def _bench(kinds: tuple[str, ...]) -> Iterator["_Bench"]:
    with tempfile.TemporaryDirectory(prefix="sharebench-steps-") as folder:
        control = Path(folder)

        def wrap(shell: Path) -> None:
            for name in COMMANDS:
                real = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
                if real:
                    text = _PROGRAM.format(real=real, control=control, name=name, slow=SLOW_SECONDS)
                    (shell / name).write_text(text)
                    (shell / name).chmod(0o755)

        with (
            patch.object(script, "LOCK_SECONDS", WAIT_SECONDS),
            servers(kinds, wrap) as found,
        ):
            yield _Bench(control, found)


def setting_of(server: ChangedServer) -> ChangeableSetting:
    """The server's setting, looked up and checked."""
    ways = Ways(
        ssh=server.ssh, smb_conf=str(server.conf) if server.conf else None, apply=server.apply, revert=server.revert,
        accepted=(server.name,),
    )  # fmt: skip
    return find_setting(server.name, [] if server.value is None else [server.value], TARGET, ways)


@contextmanager
def on(server: ChangedServer) -> Iterator[None]:
    """With the server's shell as ours, and its undo script in its place."""
    with (
        patch.dict(os.environ, {"PATH": f"{server.shell}:{os.environ['PATH']}"}),
        patch.object(machine, "UNDO", str(server.undo)),
    ):
        yield


class _Bench:
    """All servers, with what each was like in the beginning."""

    def __init__(self, control: Path, found: dict[str, ChangedServer]) -> None:
        self._control = control
        self._servers = found
        self._before = {kind: server.state() for kind, server in found.items()}
        self._settings: dict[str, ChangeableSetting] = {}
        self._commands: dict[tuple[str, str], list[str]] = {}

    def carried_out(self, case: Case) -> Figures | None:
        """What came of the case; None where there is no such one, since the step has fewer commands."""
        server, figures = self._servers[case.kind], Figures()
        began = time.monotonic()
        with on(server), tempfile.TemporaryDirectory(prefix="sharebench-steps-") as folder:
            try:
                if case.kind not in self._settings:
                    self._settings[case.kind] = setting_of(server)
            except ChangeRefusedError:  # ssh takes long on a machine that is very busy: another case comes to it again
                return None
            if case.cut == "loss":
                names = self._names(server, case.where, Path(folder))
                if case.number > len(names) or (case.moment == "half" and names[case.number - 1] not in HALVES):
                    return None
                self._lose_power(server, case, Path(folder), figures)
            else:
                figures.counts["kills" if case.cut == "kill" else "kills of slow steps"] += 1
                self._kill(server, case, Path(folder), figures)
        now = server.state()
        for name in sorted(now.keys() | self._before[case.kind].keys()):
            if now.get(name) != self._before[case.kind].get(name):
                figures.losses.append(
                    f"{case.text}: {name} is {now.get(name)}, was {self._before[case.kind].get(name)}"
                )
        figures.took(time.monotonic() - began)
        return figures

    def _names(self, server: ChangedServer, step: str, folder: Path) -> list[str]:
        """The commands of a step, one after the other; nearly the same in all layouts of smb.conf."""
        family = "smb.conf" if server.conf and "registry" not in server.kind else server.kind.partition(" ")[0]
        if (family, step) not in self._commands:
            with Notebook(folder / "names.db") as notebook:
                change, entry = self._begin(server, notebook)
                for one in _before_and(step)[:-1]:
                    _do(one, change, server.ssh)
                self._cut_at("0 never")
                _do(step, change, server.ssh)
                log = (self._control / "log").read_text()
                self._clear()
                restore_entry(entry, notebook)
            self._commands[family, step] = log.split()
        return self._commands[family, step]

    def _cut_at(self, where: str) -> None:
        (self._control / "log").write_text("")
        (self._control / "at").write_text(f"{where}\n")

    def _clear(self) -> None:
        (self._control / "at").unlink(missing_ok=True)

    def _begin(self, server: ChangedServer, notebook: Notebook) -> tuple[ServerChange, JournalEntry]:
        """The change as it is written down in the notebook; nothing is made yet."""
        found = self._settings[server.kind]
        change = found.plan(new_change_id(), found.values)
        entry = JournalEntry(
            id=change.id, created_at=utc_now(), experiment="steps", kind=found.kind, name=found.name,
            machine=found.machine, ssh=found.ssh, undo_path=change.undo_path, undo_script=undo_script(change),
            owner=this_process(),
        )  # fmt: skip
        notebook.open_journal(entry)
        return change, entry

    def _lose_power(self, server: ChangedServer, case: Case, folder: Path, figures: Figures) -> None:
        (self._control / "synced").write_text("")
        with Notebook(folder / "notebook.db") as notebook:
            change, entry = self._begin(server, notebook)
            for one in _before_and(case.where)[:-1]:
                _do(one, change, server.ssh)
            self._cut_at(f"{case.number} {case.moment}")
            _do(case.where, change, server.ssh)
            reached = len((self._control / "log").read_text().split()) >= case.number
            figures.counts["power losses" if reached else "no such command"] += 1
            self._clear()
            figures.counts["lost what was not synced"] += self._forget(server)
            server.after_loss()
            self._restore(server, case.way, entry, notebook, figures)

    def _forget(self, server: ChangedServer) -> int:
        """Empty our files whose content was not synced, as a disk may that had no time to write it."""
        synced = {tuple(line.split()) for line in (self._control / "synced").read_text().splitlines()}
        lost = 0
        for folder in server.folders:
            for path in folder.iterdir() if folder.exists() else ():
                same = _untouched(path, self._before[server.kind])
                if path.is_symlink() or not path.is_file() or same or not path.stat().st_size:
                    continue
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                if (str(path.stat().st_ino), content) not in synced:
                    os.truncate(path, 0)
                    lost += 1
        return lost

    def _restore(
        self, server: ChangedServer, way: str, entry: JournalEntry, notebook: Notebook, figures: Figures
    ) -> None:
        """By ``restore``, or by the undo script alone, as long as somebody tells that a step is still running."""
        until = time.monotonic() + LIMIT_SECONDS
        while True:
            if way == "script" and server.undo.exists():
                by_ssh = ["ssh", server.ssh, f"sh {shlex.quote(str(server.undo))}"] if server.ssh else None
                command = by_ssh or ["sh", str(server.undo)]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                figures.counts["undo script"] += 1
                if done.returncode == script.BUSY_CODE and time.monotonic() < until:
                    figures.counts["told that a step was running"] += 1
                    continue
                if done.returncode and not server.undo.exists():  # the step that was still running undid it itself
                    continue
                if done.returncode:
                    figures.losses.append(f"undo script: {done.returncode}, {done.stdout} {done.stderr}")
                return
            figures.counts["restore"] += 1
            try:
                restore_entry(entry, notebook)
            except StepRunningError:
                figures.counts["told that a step was running"] += 1
                if time.monotonic() < until:
                    continue
                raise
            return

    def _kill(self, server: ChangedServer, case: Case, folder: Path, figures: Figures) -> None:
        """Kill one of the processes of a change that a process of its own makes, as a trial does."""
        chance = random.Random(case.text)
        if case.cut == "slow":
            (self._control / "slow").touch()
        order = {
            name: str(value) if isinstance(value, Path) else value
            for name in ("name", "value", "conf", "ssh", "apply", "revert", "undo")
            for value in [getattr(server, name)]
        }
        words = [sys.executable, "-P", "-c", "from tests.reliability.steps import work; work()", json.dumps(order)]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        process = subprocess.Popen(
            [*words, str(folder / "notebook.db")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment,
        )  # fmt: skip
        assert process.stdout
        for _ in range(chance.randrange(1, 6)):
            if not process.stdout.readline():
                break
        time.sleep(chance.uniform(0, 0.6))
        seen = _tree(process.pid, server.ssh)
        victims = _victims(case.where, process.pid, seen, chance)
        figures.counts[f"killed: {case.where}" if victims else "nothing to kill"] += 1
        for victim in victims:
            with suppress(psutil.NoSuchProcess):
                victim.kill()
        if case.where not in {"program", "all"} and not victims:
            process.kill()
        try:
            process.communicate(timeout=HANG_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            figures.losses.append(f"{case.text}: the program does not end")
        (self._control / "slow").unlink(missing_ok=True)
        if (folder / "notebook.db").exists():
            with Notebook(folder / "notebook.db") as notebook:
                for entry in notebook.journal(ChangeState.OPEN):
                    self._restore(server, case.way, entry, notebook, figures)
        _, alive = psutil.wait_procs([one for one in seen if one.pid != process.pid], timeout=LIMIT_SECONDS)
        if server.kind != "card" and alive:
            figures.counts["processes that went on"] += len(alive)


def _untouched(path: Path, before: dict[str, object]) -> bool:
    known = before.get(str(path))
    return isinstance(known, tuple) and known[4:5] == (path.lstat().st_mtime_ns,) and known[0] == _sum(path)


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _before_and(step: str) -> list[str]:
    """The steps up to that one; an undo comes where the value stands."""
    return {"begin": ["begin"], "arm 1": ["begin", "arm 1"], "arm 0": ["begin", "arm 1", "arm 0"]}.get(
        step, ["begin", "arm 1", "undo"]
    )


def _do(step: str, change: ServerChange, ssh: str | None) -> None:
    """A step, whatever becomes of it."""
    texts = script.steps()
    text = getattr(texts, step)(change) if step in {"begin", "undo"} else texts.arm(change, int(step[-1]))
    run_script(text, {}, ssh, 60)


def _tree(process_id: int, ssh: str | None) -> list[psutil.Process]:
    """The process and all that it started, here and through ssh."""
    found: list[psutil.Process] = []
    with suppress(psutil.NoSuchProcess):
        found = [psutil.Process(process_id), *psutil.Process(process_id).children(recursive=True)]
    if ssh:
        for one in psutil.process_iter(["name", "cmdline"]):
            with suppress(psutil.NoSuchProcess):
                if one.info["name"].startswith("sshd") and os.environ["PATH"].split(":")[0].rsplit("/", 1)[
                    0
                ] in " ".join(one.info["cmdline"] or []):
                    found += one.children(recursive=True)
    return found


def _victims(which: str, process_id: int, seen: list[psutil.Process], chance: random.Random) -> list[psutil.Process]:
    if which == "program":
        return seen[:1]
    if which == "all":
        return seen
    if which == "step":
        return [one for one in seen if _is_step(one)]
    if which == "connection":
        return [one for one in seen if _name(one) == "ssh"]
    leaves = [one for one in seen if one.pid != process_id and not _is_step(one) and _name(one) not in {"ssh", "sshd"}]
    return [chance.choice(leaves)] if leaves else []


def _is_step(one: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return bool(one.cmdline()[-1:] == ["-s"])
    return False


def _name(one: psutil.Process) -> str:
    with suppress(psutil.Error):
        return str(one.name())
    return ""


def work() -> None:
    """Make a change as a trial does, and say each step: what is killed."""
    order = json.loads(sys.argv[1])
    script.LOCK_SECONDS = WAIT_SECONDS
    machine.UNDO = order["undo"]
    server = ChangedServer(
        kind="", name=order["name"], value=order["value"], undo=Path(order["undo"]), folders=(), shell=Path(),
        conf=Path(order["conf"]) if order["conf"] else None, ssh=order["ssh"], apply=order["apply"],
        revert=order["revert"],
    )  # fmt: skip
    found = setting_of(server)
    change = found.plan(new_change_id(), found.values)
    with Notebook(Path(sys.argv[2])) as notebook:
        print("begin", flush=True)
        entry = begin_change(change, found, "trial of it", notebook)
        try:
            for arm in (1, 0, 1, 0):
                print("arm", flush=True)
                with suppress(ChangeFailedError):
                    set_arm(change, arm, found.ssh)
        finally:
            print("undo", flush=True)
            restore_entry(entry, notebook)
