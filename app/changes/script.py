"""The shell scripts that change a server's setting and restore it: the same here and through ssh.

Each is one function that is called in its last line, so that a script which was cut off on its way does nothing. Each
takes the lock of its undo script, looks for that script under the lock, and acts before it releases the lock. The undo
script is complete in itself: it lies on the server as long as the change stands, and in the notebook.
"""

import base64
import hashlib
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from app.server.shell import script_file

STEP_SECONDS = 30.0
CONFLICT_CODE = 3
BUSY_CODE = 75
"""A step is still running and nothing was restored (EX_TEMPFAIL of sysexits.h)."""
LOCK_SECONDS = 15
"""How long a step waits for a running one; without the lock it does nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerChange:
    """A change on one server, as shell text for each step."""

    id: str
    title: str
    undo_path: str
    check: str
    """``check_*`` calls: everything is as it was or as we wrote it."""
    check_undo: str = ""
    """The same before restoring; empty means ``check``."""
    before: str
    """``check_*`` calls: everything is as it was when planned."""
    begin: str = ":"
    arms: tuple[str, ...]
    """The first arm sets the previous value. Failures set ``broken=yes``."""
    restore: str
    """Harmless if nothing changed."""
    ease: str = ":"
    settle: str = ":"
    look: str = ":"
    seconds: float = STEP_SECONDS
    dead_man_seconds: int = 0
    """Time without renewal after which the server restores everything; 0: never."""


def library() -> str:
    """Functions at the start of every script."""
    return script_file("app.changes", "undo.sh")


def sha256(content: bytes | None) -> str:
    """As the scripts print it; ``absent`` for a missing file."""
    return "absent" if content is None else hashlib.sha256(content).hexdigest()


def quoted(words: Iterable[str]) -> str:
    """Quoted for the shell."""
    return " ".join(shlex.quote(word) for word in words)


def here(content: bytes, rest: str = "") -> str:
    """A base64 here document that ends a command; ``rest`` follows on its line."""
    return f"<<'SHAREBENCH'{rest}\n{base64.encodebytes(content).decode()}SHAREBENCH"


def undo_script(change: ServerChange) -> str:
    """Restores everything; complete in itself, for the server, the notebook and manual use."""
    path = shlex.quote(change.undo_path)
    ease = f"{change.ease}\n{change.settle}" if change.ease != ":" else ":"
    return (
        "#!/bin/sh\n"
        f"# sharebench is trying {change.title.replace(chr(10), ' ')}, and restores it when it is done.\n"
        f"# Where it could not: `sharebench restore` does, or by hand, as root: sh {path}\n"
        f"{library()}"
        f"restore_{change.id}() {{\n"
        f"{_take_lock(change)}\n"
        f"rm -f {path}.new\n"
        f"if was_undone {change.id} || {{ [ -e {path} ] && ! {_is_ours(change)}; }}; then\n"
        f"if {_is_ours(change)}; then rm -f {path}; fi\n"
        f"{change.look}\nsection done\nsection end\nexit 0\nfi\n"
        f"{change.check_undo or change.check}\n"
        f"[ $conflict = no ] || {{\n{ease}\nsection end\nexit {CONFLICT_CODE}\n}}\n"
        f"{change.restore}\n"
        f"[ $broken = no ] || {{\n{ease}\n{failed('not everything could be restored')} }}\n"
        f"{change.settle}\n"
        f"echo 'undone {change.id}' >>\"$lock\"\n"
        f"rm -f {path} || {{ {failed('everything is restored, but this script cannot be removed')} }}\n"
        f"{change.look}\n"
        f"{_stop_timer(change)}\n"
        "section done\nsection end\n"
        "}\n"
        f"restore_{change.id} </dev/null\n"
    )


def begin_script(change: ServerChange) -> str:
    """Stores the undo script on the server and prepares the change, or changes nothing."""
    path, folder = shlex.quote(change.undo_path), shlex.quote(change.undo_path.rpartition("/")[0] or "/")
    new = f"{path}.new"
    return _step(
        change,
        f"if was_undone {change.id}; then {failed('it was restored before it began')} fi\n"
        f"if [ -e {path} ] || [ -h {path} ]; then\n"
        f"section taken\necho $(($(date +%s) - $(stat -c %Y {path})))\nsection end\nexit 0\nfi\n"
        f"mkdir -p {folder} || {{ {failed('nothing can be written there')} }}\n"
        f"{change.before}\n"
        f"[ $conflict = no ] || {{ section end; exit {CONFLICT_CODE}; }}\n"
        f"rm -f {new}\n"
        f"(set -C; base64 -d >{new}) {here(undo_script(change).encode(), ' || broken=yes')}\n"
        f"[ $broken = no ] && flush {new} && ln {new} {path} ||\n"
        f"{{ rm -f {new}; {failed('no undo script could be written')} }}\n"
        f"rm -f {new}\nflush {folder}\n"
        f"{_start_timer(change)}\n"
        f"{change.begin}\n"
        f"[ $broken = no ] || {{ {failed('it could not be written')} }}\n"
        f"{change.settle}\n{change.look}\n",
    )


def arm_script(change: ServerChange, arm: int) -> str:
    """Sets one value."""
    return _step(
        change,
        f"{_still_stands(change)}"
        f"{change.check}\n"
        f"[ $conflict = no ] || {{ section end; exit {CONFLICT_CODE}; }}\n"
        f"{_start_timer(change)}\n"
        f"{change.arms[arm]}\n"
        f"[ $broken = no ] || {{ {failed('it could not be written')} }}\n"
        f"{change.settle}\n{change.look}\n",
    )


def word_script(change: ServerChange) -> str:
    """Renews the dead man's switch."""
    return _step(change, f"{_still_stands(change)}{_start_timer(change)}\n")


def lock_name(undo_path: str) -> str:
    """Lock file in /run/sharebench, shared by all changes with that undo script."""
    return f"{hashlib.sha256(undo_path.encode()).hexdigest()[:12]}.lock"


def _take_lock(change: ServerChange) -> str:
    return f"take_lock {lock_name(change.undo_path)} {LOCK_SECONDS}"


def _is_ours(change: ServerChange) -> str:
    return f"grep -q restore_{change.id} {shlex.quote(change.undo_path)} 2>/dev/null"


def _still_stands(change: ServerChange) -> str:
    gone = failed("the change was restored meanwhile")
    return f"{_is_ours(change)} || {{ {gone} }}\ntouch -c {shlex.quote(change.undo_path)}\n"


def failed(why: str) -> str:
    """Ends a step without changes, with the reason."""
    return f"section failed; echo '{why}'; section end; exit 1;"


def _step(change: ServerChange, body: str) -> str:
    name = f"step_{change.id}"
    return f"{library()}{name}() {{\n{_take_lock(change)}\n{body}section done\nsection end\n}}\n{name} </dev/null\n"


def _unit(change: ServerChange) -> str:
    return f"sharebench-undo-{change.id}"


def _start_timer(change: ServerChange) -> str:
    """The old timer is stopped only when the new one runs; it retries while a step is running."""
    if not change.dead_man_seconds:
        return ":"
    unit, path = _unit(change), shlex.quote(change.undo_path)
    return (
        f"timer={unit}-$(date +%s%N)\n"
        f"systemd-run --quiet --collect --on-active={change.dead_man_seconds} --timer-property=AccuracySec=1s"
        f" --property=RestartForceExitStatus={BUSY_CODE} --property=RestartSec=5"
        f' --unit="$timer" /bin/sh {path} ||\n'
        f"{{ {failed('the timer that restores it could not be started')} }}\n"
        f'for old in $(systemctl list-units --plain --no-legend --all "{unit}-*.timer" | cut -d" " -f1); do\n'
        '[ "$old" = "$timer.timer" ] || systemctl stop "$old"\ndone'
    )


def _stop_timer(change: ServerChange) -> str:
    return f'systemctl stop "{_unit(change)}-*.timer" 2>/dev/null' if change.dead_man_seconds else ":"
