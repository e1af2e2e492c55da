"""What settings of the kernel, of a network card and of the user's commands share: their undo script, their values."""

import shlex
from collections.abc import Sequence

from app.server.changes import script
from app.server.shell import Answer

UNDO = "/var/lib/sharebench/sharebench-undo.sh"
"""The undo script of such a change; one of Samba lies beside smb.conf."""


def tidy(value: str) -> str:
    """The value with one blank between its words: the kernel prints tabs, people type what they like."""
    return " ".join(value.split())


# How `ChangeableSetting` reads and compares the value in effect.


def is_same(effective: str, value: str) -> bool:
    return tidy(effective) == tidy(value)


def effective_value(answer: Answer) -> str | None:
    """The value in effect, from the answer to a change's ``look``; None where it could not be read."""
    return tidy(answer.sections.get("effective", "")) if answer.code("effective") == 0 else None


def refuse_if_wrong(name: str, value: str, wrong: str | None) -> None:
    """Raises ChangeRefusedError; ``wrong`` is what is wrong with the value, None for nothing."""
    if wrong:
        raise script.ChangeRefusedError(f"{name} = {value} is refused: {wrong}; nothing was written")


def check_value_call(label: str, now: str, allowed: Sequence[str]) -> str:
    """The call of ``check_value`` (``undo.sh``), which finds whether somebody else changed the value.

    ``now`` is shell text that reads the value, ``allowed`` what it may be, ``label`` the setting's name in a message.
    """
    words = " ".join(shlex.quote(value) for value in allowed)
    return f"check_value {shlex.quote(label)} {now} {words}"
