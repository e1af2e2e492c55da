"""The shell scripts that change a server's setting and restore it, and what runs them, the same here and through ssh.

A change is a `ServerChange`: shell text for each of its parts, made by a module of this folder for its kind of setting.
``steps.sh.jinja`` joins the parts to four scripts, whose sequence the docstring of `ServerChange` tells: *begin*,
*arm* (set one of the values), *word* (tell the server that we are still there) and *undo*.

Each script is one function that is called in its last line, so that a script which was cut off on its way does nothing.
Each takes the lock of its undo script, looks for that script under the lock, and acts before it releases the lock. The
undo script is complete in itself: it lies on the server as long as the change stands, and in the notebook.
"""

import base64
import hashlib
import secrets
import shlex
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, StrictUndefined, Template

from app.base.errors import MeasurementError, UsageError
from app.server.shell import Answer, run_script, script_file
from storage.owners import LEASE_SECONDS

STEP_SECONDS = 30.0
"""The limit of one step of a change (check, apply, verify, dead man's switch), to which ``LOCK_SECONDS`` is added.

The other limits: ``RESTART_SECONDS`` (``smbd_restart.py``) for a step that restarts smbd, ``UNDO_SECONDS`` for
restoring, and ``RUN_SECONDS`` (``app/server/shell.py``) for every other script; no script has less than that.
"""
CONFLICT_CODE = 3
"""Somebody else changed what this would change, or restore: nothing was done."""
BUSY_CODE = 75
"""A step is still running and nothing was restored (EX_TEMPFAIL of sysexits.h)."""
LOCK_SECONDS = 15
"""How long a step waits for a running one; without the lock it does nothing."""
UNDO_SECONDS = 600.0
"""The limit of an undo script, which waits for smbd; a step has ``STEP_SECONDS``."""
ATTEMPTS = 3
"""How often an undo script is started that the server does not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerChange:
    """A change on one server, as shell text for each of its parts.

    The scripts run the parts in this order; ``undo.sh`` has the shell functions that the parts may call:

    ========  ==========================================================================================================
    begin     ``before``, store the undo script, start the timer, ``begin``, ``settle``, ``look``
    arm       ``check``, start the timer anew, one of ``arms``, ``settle``, ``look``; again for each value to measure
    word      start the timer anew
    undo      ``check_undo``, ``restore``, ``settle``, remove the undo script, ``look``
    ========  ==========================================================================================================

    The timer is the dead man's switch, where there is one: the server runs the undo script when it runs out. A check
    that finds a conflict (``conflict=yes``) ends the script before it writes; undo then runs ``ease`` and ``settle``. A
    part that fails sets ``broken=yes``: the script ends, and undo runs ``ease`` and ``settle`` first.
    """

    id: str
    title: str
    """What is changed, for whoever reads the undo script."""
    undo_path: str
    """Where the undo script lies on the server."""

    before: str
    """Calls of ``check_file`` or ``check_value``: everything is as it was when the change was planned."""
    check: str
    """The same kind of calls: everything is as it was, or as we wrote it."""
    check_undo: str = ""
    """The same before restoring; empty means ``check``."""

    begin: str = ":"
    """Prepares the server once, before the first value is set."""
    arms: tuple[str, ...]
    """Each sets one of the values that are compared; the first one sets the previous value."""
    restore: str
    """Writes everything back as it was; harmless if nothing was changed."""
    ease: str = ":"
    """Done where not everything can be restored: it takes at least our values out."""

    settle: str = ":"
    """Brings into effect what was written, and waits until it is."""
    look: str = ":"
    """Prints the value in effect as the section ``effective``."""

    seconds: float = STEP_SECONDS
    """How long a script but undo may take."""
    dead_man_seconds: int = 0
    """Time without begin, arm or word after which the server restores everything by itself; 0: never."""


def library() -> str:
    """The shell functions at the start of every script, which the parts of a change may call."""
    return script_file("app.server.changes", "undo.sh")


def sha256(content: bytes | None) -> str:
    """As the scripts print it; ``absent`` for a missing file."""
    return "absent" if content is None else hashlib.sha256(content).hexdigest()


def here_document(content: bytes, line_end: str = "") -> str:
    """A base64 here document that ends a command; ``line_end`` follows on the line of the command."""
    return f"<<'SHAREBENCH'{line_end}\n{base64.encodebytes(content).decode()}SHAREBENCH"


def undo_command(undo_path: str) -> str:
    return f"sh {shlex.quote(undo_path)}"


def lock_name(undo_path: str) -> str:
    """Lock file in /run/sharebench, shared by all changes with that undo script."""
    return f"{hashlib.sha256(undo_path.encode()).hexdigest()[:12]}.lock"


def failure_text(reason: str) -> str:
    """Shell text that ends a script without changes, with the reason."""
    return f"section failed; echo '{reason}'; section end; exit 1;"


@cache
def _template() -> Template:
    jinja = Environment(trim_blocks=True, undefined=StrictUndefined)  # noqa: S701  shell, not HTML
    jinja.filters |= {"quoted": shlex.quote, "lock_name": lock_name, "here": _here_document_of_text}
    return jinja.from_string(script_file("app.server.changes", "steps.sh.jinja"))


def _here_document_of_text(text: str, line_end: str) -> str:
    return here_document(text.encode(), line_end)


def steps() -> Any:
    """The template's macros, each of which makes a script: ``begin``, ``arm``, ``word`` and ``undo``."""
    variables = {
        "library": library,
        "failed": failure_text,
        "busy_code": BUSY_CODE,
        "conflict_code": CONFLICT_CODE,
        "lock_seconds": LOCK_SECONDS,
    }
    return _template().make_module(variables)


def undo_script(change: ServerChange) -> str:
    return str(steps().undo(change))


class ChangeRefusedError(UsageError):
    """The change is not allowed or not possible here; nothing was written."""


class ConsentNeededError(ChangeRefusedError):
    """The change needs consent to its risk; nothing was written."""

    def __init__(self, text: str, *, risk_of: str | None, options: str) -> None:
        super().__init__(text, options=options)
        self.risk_of = risk_of
        """The setting whose risk is to be accepted; None where a restart of smbd is."""


class ChangeFailedError(MeasurementError):
    """Making, verifying or restoring failed; the text says what is on the server now."""


class StepRunningError(ChangeFailedError):
    """A step is still running on the server, so nothing was restored."""

    def __init__(self, since: str, process_id: str) -> None:
        super().__init__(f"a step is still running there since {since} (pid {process_id})")
        self.since = since
        """The server's time of day, ``14:05``."""
        self.process_id = process_id


class ConflictError(ChangeFailedError):
    """Somebody else changed the same setting; nothing was overwritten."""

    def __init__(self, text: str, now: dict[str, str]) -> None:
        super().__init__(text)
        self.now = now
        """What is there now, by the file or the setting that somebody else changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """A file on the server before any change."""

    path: str
    """Where its links lead."""
    content: bytes | None
    """None where there is no such file."""
    owner: int = 0
    """Its user's number."""
    mode: int = 0o644
    links: int = 1
    """How many hard links it has."""
    modified: str = ""
    """Seconds since the epoch, with nine digits behind the point."""

    @property
    def sum(self) -> str:
        return sha256(self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """What is known of a server before any change."""

    machine: str
    """Its name and its machine id, with a blank between."""
    files: dict[str, FileState]
    """By the path that was asked for."""
    managers: tuple[str, ...]
    """What there may write its settings anew, a line each."""


def new_change_id() -> str:
    """Unique, and valid in file names and shell functions."""
    return secrets.token_hex(6)


def server_state(
    ssh: str | None, *, undo: str, conf: str = "", dropin: str = "", tools: tuple[str, ...] = ()
) -> ServerState:
    """The server before a change that would have its undo script at ``undo``; nothing is written.

    ``conf`` and ``dropin`` are the paths of smb.conf and of our own file, ``tools`` the programs that the change needs.
    Raises ChangeFailedError where it does not answer, ChangeRefusedError without root or a tool, or if another trial's
    change stands there.
    """
    variables = {"conf": conf, "dropin": dropin, "undo": undo, "tools": " ".join(tools)}
    answer = run_script(script_file("app.server.changes", "look.sh"), variables, ssh)
    machine = ssh or "this machine"
    if answer.problem:
        raise ChangeFailedError(f"the server cannot be changed: {answer.problem}")
    if answer.text("uid") != "0":
        advice = f"log in there by ssh as root@{ssh.rpartition('@')[2]}" if ssh else "start sharebench as root (sudo)"
        raise ChangeRefusedError(
            f"only root can change the server's settings, on {machine}: {advice}; nothing was written"
        )

    missing_tools = (answer.text("missing") or "").split()
    if missing_tools:
        raise ChangeRefusedError(f"{machine} lacks {', '.join(missing_tools)}: install that first; nothing was written")
    age = answer.text("undo")
    if age:
        raise _changed_by_another(undo, machine, age)

    return ServerState(
        machine=" ".join((answer.text("machine") or "").split()),
        files={path: _file_state(answer, path) for path in (conf, dropin) if path},
        managers=tuple((answer.text("managers") or "").splitlines()),
    )


def _changed_by_another(undo: str, machine: str, age: str) -> ChangeRefusedError:
    """``age`` is in seconds, of the last step of the trial whose undo script lies there."""
    seconds = int(age) if age.strip().isdecimal() else None
    if seconds is not None and seconds < LEASE_SECONDS:
        text = (
            f"a trial is changing {machine} (last step {seconds} s ago, {undo}): wait until it has ended, or restore it"
            " first if it was interrupted (R in the notebook, or `sharebench restore`)"
        )
    else:
        text = (
            f"an interrupted trial's change still stands on {machine}: restore it first, with `sharebench restore`, or"
            f" there as root: {undo_command(undo)}"
        )
    return ChangeRefusedError(f"{text}; nothing was written")


def read_there(text: str, ssh: str | None) -> Answer:
    """Run commands that change nothing, with the folders of Samba and of the system on their PATH."""
    head = "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/samba/sbin:/usr/local/samba/bin\n"
    section = 'section() { printf "\\n%s %s\\n" "$mark" "$1"; }\n'
    return run_script(f"{head}{section}read_all() {{\n{text}\nsection end\n}}\nread_all </dev/null\n", {}, ssh)


def _file_state(answer: Answer, path: str) -> FileState:
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
    answer = _run_step(steps().begin(change), change, ssh)
    age = answer.text("taken")
    if age:
        raise _changed_by_another(change.undo_path, ssh or "this machine", age)
    return _answer_of_done_step(answer)


def set_arm(change: ServerChange, arm: int, ssh: str | None) -> Answer:
    """Set one of the change's values. Raises ChangeFailedError."""
    return _answer_of_done_step(_run_step(steps().arm(change, arm), change, ssh))


def give_word(change: ServerChange, ssh: str | None) -> None:
    """Start the dead man's switch anew: we are still there. Raises ChangeFailedError."""
    _answer_of_done_step(_run_step(steps().word(change), change, ssh))


def _run_step(text: str, change: ServerChange, ssh: str | None) -> Answer:
    return run_script(text, {}, ssh, change.seconds + LOCK_SECONDS)


def undo(undo_script: str, ssh: str | None) -> Answer:
    """Restore a change by its undo script, which may be run again at any time.

    Raises StepRunningError (nothing was done), ConflictError (it would overwrite what somebody else changed), or
    ChangeFailedError.
    """
    for _ in range(ATTEMPTS):
        answer = run_script(undo_script, {}, ssh, UNDO_SECONDS)
        if answer.problem is None:
            break
    return _answer_of_done_step(answer)


def _answer_of_done_step(answer: Answer) -> Answer:
    """The answer of a step that was done. Raises ChangeFailedError."""
    if answer.problem:
        raise ChangeFailedError(f"the server did not answer: {answer.problem}")

    conflicts = {name.partition(":")[2]: text for name, text in answer.sections.items() if name.startswith("conflict:")}
    if conflicts:
        eased = "; the tried value is no longer in effect" if "eased" in answer.sections else ""
        raise ConflictError(
            f"{', '.join(conflicts)}: somebody else changed it meanwhile, so nothing was overwritten{eased}", conflicts
        )
    if "busy" in answer.sections:
        since, _, process_id = (answer.text("busy") or "").partition(" ")
        raise StepRunningError(since or "an unknown time", process_id or "unknown")
    if "done" not in answer.sections:
        raise ChangeFailedError(f"the server's setting was not changed: {answer.text('failed') or 'it said nothing'}")
    return answer
