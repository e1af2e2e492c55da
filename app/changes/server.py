"""Runs the scripts of a change on the server."""

import base64
import secrets
from dataclasses import dataclass

from app.changes import script
from app.changes.script import ServerChange
from app.errors import MeasurementError, UsageError
from app.server.shell import Answer, run_script, script_file
from storage.records import LEASE_SECONDS

UNDO_SECONDS = 600.0
ATTEMPTS = 3


class ChangeRefusedError(UsageError):
    """The change is not allowed or not possible here; nothing was written."""


class ConsentNeededError(ChangeRefusedError):
    """The change needs consent to its risk; nothing was written."""

    def __init__(self, text: str, *, risk_of: str | None, options: str) -> None:
        super().__init__(text, options=options)
        self.risk_of = risk_of


class ChangeFailedError(MeasurementError):
    """Making, verifying or restoring failed; the text says what is on the server now."""


class StepRunningError(ChangeFailedError):
    """A step is still running on the server, so nothing was restored."""

    def __init__(self, since: str, process_id: str) -> None:
        super().__init__(f"a step is still running there since {since} (pid {process_id})")
        self.since = since
        self.process_id = process_id


class ConflictError(ChangeFailedError):
    """Somebody else changed the same setting; nothing was overwritten."""

    def __init__(self, text: str, now: dict[str, str]) -> None:
        super().__init__(text)
        self.now = now


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """A file on the server: resolved path, content (None if missing), modification time (epoch)."""

    path: str
    content: bytes | None
    owner: int = 0
    mode: int = 0o644
    links: int = 1
    modified: str = ""

    @property
    def sum(self) -> str:
        return script.sha256(self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """State before any change; ``files`` by the requested path."""

    machine: str
    files: dict[str, FileState]
    managers: tuple[str, ...]


def new_change_id() -> str:
    """Unique, and valid in file names and shell functions."""
    return secrets.token_hex(6)


def look(ssh: str | None, *, undo: str, conf: str = "", dropin: str = "", tools: tuple[str, ...] = ()) -> ServerState:
    """Reads only. Raises ChangeRefusedError: no root, a missing tool, or another open trial."""
    asked = {"conf": conf, "dropin": dropin, "undo": undo, "tools": " ".join(tools)}
    answer = run_script(script_file("app.changes", "look.sh"), asked, ssh)
    where = ssh or "this machine"
    if answer.problem:
        raise ChangeRefusedError(answer.problem.replace("no facts of the server", "the server cannot be changed"))
    if answer.text("uid") != "0":
        how = f"log in there by ssh as root@{ssh.rpartition('@')[2]}" if ssh else "start sharebench as root (sudo)"
        raise ChangeRefusedError(f"only root can change the server's settings, on {where}: {how}; nothing was written")
    missing = (answer.text("missing") or "").split()
    if missing:
        raise ChangeRefusedError(f"{where} lacks {', '.join(missing)}: install that first; nothing was written")
    if age := answer.text("undo"):
        raise _taken(undo, where, age)
    return ServerState(
        machine=" ".join((answer.text("machine") or "").split()),
        files={path: _file(answer, path) for path in (conf, dropin) if path},
        managers=tuple((answer.text("managers") or "").splitlines()),
    )


def _taken(undo: str, where: str, age: str) -> ChangeRefusedError:
    seconds = int(age) if age.strip().isdecimal() else None
    if seconds is not None and seconds < LEASE_SECONDS:
        text = f"another trial is changing {where} (last step {seconds} s ago, {undo}): wait until it has ended"
    else:
        text = (
            f"an interrupted trial's change still stands on {where}: restore it first, with `sharebench restore`, or"
            f" there as root: sh {undo}"
        )
    return ChangeRefusedError(f"{text}; nothing was written")


def read_there(text: str, ssh: str | None) -> Answer:
    """Output of a read-only script, by section."""
    head = "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/samba/sbin:/usr/local/samba/bin\n"
    section = 'section() { printf "\\n%s %s\\n" "$mark" "$1"; }\n'
    return run_script(f"{head}{section}read_all() {{\n{text}\nsection end\n}}\nread_all </dev/null\n", {}, ssh)


def _file(answer: Answer, path: str) -> FileState:
    real = (answer.text(f"real:{path}") or path).strip()
    meta = (answer.text(f"meta:{path}") or "").split()
    if len(meta) != 4:
        return FileState(path=real, content=None)
    owner, mode, links, modified = meta
    return FileState(
        path=real,
        content=base64.b64decode(answer.text(f"content:{path}") or ""),
        owner=int(owner),
        mode=int(mode, 8),
        links=int(links),
        modified=modified,
    )


def begin(change: ServerChange, ssh: str | None) -> Answer:
    """Store the undo script on the server and prepare the change. Raises ChangeFailedError."""
    answer = _run(script.begin_script(change), change, ssh)
    if age := answer.text("taken"):
        raise _taken(change.undo_path, ssh or "this machine", age)
    return _done(answer)


def set_arm(change: ServerChange, arm: int, ssh: str | None) -> Answer:
    """Raises ChangeFailedError."""
    return _done(_run(script.arm_script(change, arm), change, ssh))


def give_word(change: ServerChange, ssh: str | None) -> None:
    """Renew the dead man's switch. Raises ChangeFailedError."""
    _done(_run(script.word_script(change), change, ssh))


def _run(text: str, change: ServerChange, ssh: str | None) -> Answer:
    return run_script(text, {}, ssh, change.seconds + script.LOCK_SECONDS)


def undo(undo_script: str, ssh: str | None) -> Answer:
    """Raises StepRunningError (nothing done), ConflictError (would overwrite another change), ChangeFailedError."""
    answer = run_script(undo_script, {}, ssh, UNDO_SECONDS)
    for _ in range(ATTEMPTS - 1):
        if answer.problem is None:
            break
        answer = run_script(undo_script, {}, ssh, UNDO_SECONDS)
    return _done(answer)


def _done(answer: Answer) -> Answer:
    if answer.problem:
        raise ChangeFailedError(answer.problem.replace("no facts of the server", "the server did not answer"))
    now = {name.partition(":")[2]: text for name, text in answer.sections.items() if name.startswith("conflict:")}
    if now:
        what = ", ".join(now)
        eased = "; the tried value is no longer in effect" if "eased" in answer.sections else ""
        raise ConflictError(f"{what}: somebody else changed it meanwhile, so nothing was overwritten{eased}", now)
    if "busy" in answer.sections:
        since, _, process_id = (answer.text("busy") or "").partition(" ")
        raise StepRunningError(since or "an unknown time", process_id or "unknown")
    if "done" not in answer.sections:
        raise ChangeFailedError(f"the server's setting was not changed: {answer.text('failed') or 'it said nothing'}")
    return answer
