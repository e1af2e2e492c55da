"""What the kinds of settings of a machine share: where their changes are undone, how values are compared."""

import shlex
from collections.abc import Sequence

from app.server.changes import script
from app.server.shell import Answer

UNDO = "/var/lib/sharebench/sharebench-undo.sh"


def tidy(value: str) -> str:
    """The value with one blank between its words: the kernel prints tabs, people type what they like."""
    return " ".join(value.split())


# How `ChangeableSetting` reads and compares the value in effect.


def is_same(effective: str, value: str) -> bool:
    return tidy(effective) == tidy(value)


def effective_value(answer: Answer) -> str | None:
    """None where it could not be read."""
    return tidy(answer.sections.get("effective", "")) if answer.code("effective") == 0 else None


def refuse_if_wrong(name: str, value: str, wrong: str | None) -> None:
    """Raises ChangeRefusedError; ``wrong`` is what is wrong with the value, None for nothing."""
    if wrong:
        raise script.ChangeRefusedError(f"{name} = {value} is refused: {wrong}; nothing was written")


def check_value_call(label: str, now: str, allowed: Sequence[str]) -> str:
    """The call that sees whether the value that the shell text ``now`` reads is one of those."""
    words = " ".join(shlex.quote(value) for value in allowed)
    return f"check_value {shlex.quote(label)} {now} {words}"
