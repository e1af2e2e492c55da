"""Comments at the end of a line of smb.conf, which Samba takes for a part of the value."""

import re
from enum import StrEnum

from forms.tuning import smb_conf

_COMMENT = re.compile(r"(?:^|\s)(?:#|;|//)")
"""In any spelling: ``# word``, ``#word``, ``;word``, ``//word``."""
_NUMBERED_NAME = re.compile(r"#\d+$")
"""As in the folder ``/srv/Plant #5``."""
_SHARED_PATH = re.compile(r"//[^\s/]+/")
"""As in ``//server/share``."""
_TEXTS_FOR_PEOPLE = frozenset({"comment", "server string", "volume", "full_audit:prefix", "message command"})
_RUN_BY_A_SHELL = re.compile(r"(command|script|exec|program|action|chat|hook)$")
"""How the names of parameters end whose value is a command: there, these letters mean something."""


class CommentEffect(StrEnum):
    """What smbd makes of a comment."""

    BELONGS_TO_VALUE = "belongs to the value"
    IS_SHOWN = "is shown"
    """To people, who see a text with a comment in it."""
    IS_ENTRY = "is an entry"
    """A semicolon separates the entries of a list."""


def comment_effect(name: str, value: str) -> CommentEffect | None:
    """What a comment in the value of a parameter does; None where there is none, or it does nothing.

    A number ends where its digits do, so that nothing behind it matters.
    """
    spelled = smb_conf.spelling(name)
    kind = spelled.parameter.kind if spelled.parameter else ""
    if kind in {"number", "octal"} or _RUN_BY_A_SHELL.search(spelled.name):
        return None

    mark = _mark_of(value)
    if not mark:
        return None
    if spelled.name in _TEXTS_FOR_PEOPLE:
        return CommentEffect.IS_SHOWN if re.search(r"\s[#;](\s|$)", value) else None
    if kind == "list" and mark == ";":
        return CommentEffect.IS_ENTRY
    return CommentEffect.BELONGS_TO_VALUE


def without_comment(value: str) -> str:
    """The value up to its comment."""
    match = _comment_in(value)
    return value[: match.start()].strip() if match else value


def _mark_of(value: str) -> str:
    """The letters that the comment begins with; empty for none."""
    match = _comment_in(value)
    return match[0].strip() if match else ""


def _comment_in(value: str) -> re.Match[str] | None:
    for match in _COMMENT.finditer(value):
        comment = value[match.start() :].strip()
        if not _NUMBERED_NAME.match(comment) and not _SHARED_PATH.match(comment):
            return match
    return None
