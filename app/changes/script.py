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
from functools import cache
from importlib.resources import files

STEP_SECONDS = 30.0
CONFLICT_CODE = 3
"""What the undo script exits with where somebody else changed something meanwhile."""
BUSY_CODE = 75
"""What it exits with where a step is still running, with nothing restored (EX_TEMPFAIL of sysexits.h)."""
LOCK_SECONDS = 15
"""How long a step waits for one that is still running; without the lock it does nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerChange:
    """A setting's change on one server, as shell text for each of its steps."""

    id: str
    title: str
    """What is changed, in words for whoever finds the undo script."""
    undo_path: str
    check: str
    """Whether everything is as it was or as we wrote it: ``check_*`` calls."""
    check_undo: str = ""
    """The same before everything is restored, where that can do with less; else as ``check``."""
    before: str
    """Whether everything still is as it was when this was planned: ``check_*`` calls."""
    begin: str = ":"
    """What has to be done once, before the first value."""
    arms: tuple[str, ...]
    """What sets each value: the first one the value that was there. What fails sets ``broken=yes``, here as below."""
    put_back: str
    """What restores everything; harmless where it is as it was."""
    ease: str = ":"
    """What takes the value out of effect where not everything can be restored."""
    settle: str = ":"
    """What has the server notice what was written."""
    look: str = ":"
    """What prints what is in effect now, by sections."""
    seconds: float = STEP_SECONDS
    """How long a step may take there."""
    dead_man_seconds: int = 0
    """After this long without a word from us the server restores everything by itself; 0: it does not."""


@cache
def library() -> str:
    """The functions that all scripts begin with."""
    return files("app.changes").joinpath("undo.sh").read_text(encoding="utf-8")


def sha256(content: bytes | None) -> str:
    """The check sum of a file's content as the scripts print it; ``absent`` for a file that is not there."""
    return "absent" if content is None else hashlib.sha256(content).hexdigest()


def quoted(words: Iterable[str]) -> str:
    """The words as the shell reads them back."""
    return " ".join(shlex.quote(word) for word in words)


def here(content: bytes, rest: str = "") -> str:
    """The content as a here document in base64, to stand at the end of a command; ``rest`` follows on its line."""
    return f"<<'SHAREBENCH'{rest}\n{base64.encodebytes(content).decode()}SHAREBENCH"


def undo_script(change: ServerChange) -> str:
    """The script that restores everything, for the server's disk, for the notebook and for a person's hands."""
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
        f"{change.put_back}\n"
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
    """The script that writes the undo script down on the server and prepares the change, or leaves all as it is."""
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
    """The script that sets one of the values."""
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
    """The script that gives the dead man's switch a sign of life."""
    return _step(change, f"{_still_stands(change)}{_start_timer(change)}\n")


def lock_name(undo_path: str) -> str:
    """The file in /run/sharebench that the steps of all changes with that undo script lock."""
    return f"{hashlib.sha256(undo_path.encode()).hexdigest()[:12]}.lock"


def _take_lock(change: ServerChange) -> str:
    return f"take_lock {lock_name(change.undo_path)} {LOCK_SECONDS}"


def _is_ours(change: ServerChange) -> str:
    """Whether the undo script on the server is this change's."""
    return f"grep -q restore_{change.id} {shlex.quote(change.undo_path)} 2>/dev/null"


def _still_stands(change: ServerChange) -> str:
    """What ends a step of a change that was undone; the undo script's time says when the last step was."""
    gone = failed("the change was restored meanwhile")
    return f"{_is_ours(change)} || {{ {gone} }}\ntouch -c {shlex.quote(change.undo_path)}\n"


def failed(why: str) -> str:
    """What ends a step with nothing done, and says why."""
    return f"section failed; echo '{why}'; section end; exit 1;"


def _step(change: ServerChange, body: str) -> str:
    name = f"step_{change.id}"
    return f"{library()}{name}() {{\n{_take_lock(change)}\n{body}section done\nsection end\n}}\n{name} </dev/null\n"


def _unit(change: ServerChange) -> str:
    return f"sharebench-undo-{change.id}"


def _start_timer(change: ServerChange) -> str:
    """The dead man's switch, wound up anew; the last one is only stopped when the next one runs.

    Where a step is still running, it tries again until that has ended.
    """
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
