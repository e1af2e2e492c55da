"""The shell scripts by which a server's setting is changed and put back: the same here and through ssh.

Each is one function that is called in its last line, so that a script which was cut off on its way does nothing. The
undo script is complete in itself: it lies on the server as long as the change stands, and in the notebook.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerChange:
    """A setting's change on one server, as shell text for each of its steps."""

    id: str
    title: str
    """What is changed, in words for whoever finds the undo script."""
    undo_path: str
    check: str
    """Whether everything is as it was or as we wrote it: ``check_*`` calls."""
    before: str
    """Whether everything still is as it was when this was planned: ``check_*`` calls."""
    begin: str = ":"
    """What has to be done once, before the first value."""
    arms: tuple[str, ...]
    """What sets each value: the first one the value that was there. What fails sets ``broken=yes``, here as below."""
    put_back: str
    """What puts everything back as it was; harmless where it is."""
    settle: str = ":"
    """What has the server notice what was written."""
    look: str = ":"
    """What prints what is in effect now, by sections."""
    seconds: float = STEP_SECONDS
    """How long a step may take there."""
    dead_man_seconds: int = 0
    """After so long without a word from us the server puts everything back by itself; 0: it does not."""


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
    """The script that puts everything back, for the server's disk, for the notebook and for a person's hands."""
    path = shlex.quote(change.undo_path)
    timer = f"{_stop_timer(change)}\n" if change.dead_man_seconds else ""
    return (
        "#!/bin/sh\n"
        f"# sharebench is trying {change.title.replace(chr(10), ' ')}, and puts it back when it is done.\n"
        f"# Where it could not: `sharebench restore` does, or by hand, as root: sh {path}\n"
        f"{library()}"
        f"restore_{change.id}() {{\n"
        "take_lock\n"
        f"{change.check}\n"
        f"[ $conflict = no ] || {{ section end; exit {CONFLICT_CODE}; }}\n"
        f"{change.put_back}\n"
        "[ $broken = no ] || { section failed; echo 'not everything could be put back'; section end; exit 1; }\n"
        f"rm -f {path} {path}.new\n"
        f"{change.settle}\n"
        f"{change.look}\n"
        f"{timer}"
        "section done\nsection end\n"
        "}\n"
        f"restore_{change.id} </dev/null\n"
    )


def begin_script(change: ServerChange) -> str:
    """The script that writes the undo script down on the server and prepares the change, or leaves all as it is."""
    path = shlex.quote(change.undo_path)
    return _step(
        change,
        f"if [ -e {path} ]; then section taken; cat {path}; section end; exit 0; fi\n"
        f"mkdir -p {shlex.quote(change.undo_path.rpartition('/')[0] or '/')} || "
        "{ section failed; echo 'nothing can be written there'; section end; exit 1; }\n"
        f"{change.before}\n"
        "[ $conflict = no ] || { section end; exit 3; }\n"
        f"base64 -d >{path}.new {here(undo_script(change).encode())}\n"
        f"sync {path}.new 2>/dev/null || sync\n"
        f"ln {path}.new {path} || {{ rm -f {path}.new; section failed; echo 'no undo script could be written';"
        " section end; exit 1; }\n"
        f"rm -f {path}.new\n"
        f"{_start_timer(change)}\n"
        f"{change.begin}\n"
        "[ $broken = no ] || { section failed; echo 'it could not be written'; section end; exit 1; }\n"
        f"{change.settle}\n{change.look}\n",
    )


def arm_script(change: ServerChange, arm: int) -> str:
    """The script that sets one of the values."""
    path = shlex.quote(change.undo_path)
    return _step(
        change,
        f"grep -q restore_{change.id} {path} 2>/dev/null || {{ section failed; "
        "echo 'the change was put back meanwhile'; section end; exit 1; }\n"
        f"{change.check}\n"
        "[ $conflict = no ] || { section end; exit 3; }\n"
        f"{_start_timer(change)}\n"
        f"{change.arms[arm]}\n"
        "[ $broken = no ] || { section failed; echo 'it could not be written'; section end; exit 1; }\n"
        f"{change.settle}\n{change.look}\n",
    )


def word_script(change: ServerChange) -> str:
    """The script that gives the dead man's switch a sign of life."""
    return _step(change, f"{_start_timer(change)}\n")


def _step(change: ServerChange, body: str) -> str:
    name = f"step_{change.id}"
    return f"{library()}{name}() {{\ntake_lock\n{body}section done\nsection end\n}}\n{name} </dev/null\n"


def _unit(change: ServerChange) -> str:
    return f"sharebench-undo-{change.id}"


def _start_timer(change: ServerChange) -> str:
    """The dead man's switch, wound up anew; the last one is only stopped when the next one runs."""
    if not change.dead_man_seconds:
        return ":"
    unit, path = _unit(change), shlex.quote(change.undo_path)
    return (
        f"timer={unit}-$(date +%s%N)\n"
        f"systemd-run --quiet --collect --on-active={change.dead_man_seconds} --timer-property=AccuracySec=1s"
        f' --unit="$timer" /bin/sh {path} ||\n'
        "{ section failed; echo 'the timer that puts it back could not be started'; section end; exit 1; }\n"
        f'for old in $(systemctl list-units --plain --no-legend --all "{unit}-*.timer" | cut -d" " -f1); do\n'
        '[ "$old" = "$timer.timer" ] || systemctl stop "$old"\ndone'
    )


def _stop_timer(change: ServerChange) -> str:
    return f'systemctl stop "{_unit(change)}-*.timer" 2>/dev/null'
