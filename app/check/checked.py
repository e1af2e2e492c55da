"""One line of what ``sharebench check`` says: a thing that was looked at, and whether it is fit for a measurement."""

from dataclasses import dataclass
from enum import StrEnum

from forms.layout import Sign


class CheckState(StrEnum):
    """How fit a thing is for a measurement; UNKNOWN where nobody could tell."""

    FINE = "ok"
    ATTENTION = "warn"
    UNKNOWN = "unknown"
    FAILED = "failed"

    @property
    def sign(self) -> Sign:
        signs = {CheckState.FINE: Sign.GOOD, CheckState.ATTENTION: Sign.WARNING, CheckState.FAILED: Sign.BAD}
        return signs.get(self, Sign.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found out about one thing, and what can be done about it."""

    name: str
    """Of the thing: reach, log in, share, file, …"""
    text: str
    state: CheckState = CheckState.FINE
    options: str = ""
    """Those of ``sharebench check`` and ``run`` with which more would be known; empty where none are."""
    command: str = ""
    """Another command that tells more; empty where none does."""

    @property
    def is_failure(self) -> bool:
        return self.state is CheckState.FAILED
