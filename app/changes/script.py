"""The shell scripts that change a server's setting and restore it: the same here and through ssh.

Each is one function that is called in its last line, so that a script which was cut off on its way does nothing. Each
takes the lock of its undo script, looks for that script under the lock, and acts before it releases the lock. The undo
script is complete in itself: it lies on the server as long as the change stands, and in the notebook.
"""

import base64
import hashlib
import shlex
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, StrictUndefined, Template

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


def here(content: bytes, rest: str = "") -> str:
    """A base64 here document that ends a command; ``rest`` follows on its line."""
    return f"<<'SHAREBENCH'{rest}\n{base64.encodebytes(content).decode()}SHAREBENCH"


def lock_name(undo_path: str) -> str:
    """Lock file in /run/sharebench, shared by all changes with that undo script."""
    return f"{hashlib.sha256(undo_path.encode()).hexdigest()[:12]}.lock"


def failed(why: str) -> str:
    """Ends a step without changes, with the reason."""
    return f"section failed; echo '{why}'; section end; exit 1;"


@cache
def _template() -> Template:
    steps = Environment(trim_blocks=True, undefined=StrictUndefined)  # noqa: S701  shell, not HTML
    steps.filters |= {
        "quoted": shlex.quote,
        "lock_name": lock_name,
        "here": lambda text, rest: here(text.encode(), rest),
    }
    return steps.from_string(script_file("app.changes", "steps.sh.jinja"))


def _steps() -> Any:
    known = {"busy_code": BUSY_CODE, "conflict_code": CONFLICT_CODE, "lock_seconds": LOCK_SECONDS}
    return _template().make_module({"library": library, "failed": failed, **known})


def undo_script(change: ServerChange) -> str:
    """Restores everything; complete in itself, for the server, the notebook and manual use."""
    return str(_steps().undo(change))


def begin_script(change: ServerChange) -> str:
    """Stores the undo script on the server and prepares the change, or changes nothing."""
    return str(_steps().begin(change))


def arm_script(change: ServerChange, arm: int) -> str:
    """Sets one value."""
    return str(_steps().arm(change, arm))


def word_script(change: ServerChange) -> str:
    """Renews the dead man's switch."""
    return str(_steps().word(change))
