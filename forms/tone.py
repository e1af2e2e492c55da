"""What a word says of a number, so that a terminal can colour it; the word itself stays, colour is never alone."""

from dataclasses import dataclass
from enum import StrEnum


class Tone(StrEnum):
    """How something is meant."""

    PLAIN = "plain"
    GOOD = "good"
    """Faster, quiet, as it should be."""
    BAD = "bad"
    """Slower, failed."""
    CAUTION = "caution"
    """Not to be trusted as it is."""
    FAINT = "faint"
    """Secondary."""
    DATA = "data"
    """Drawn from numbers, neither good nor bad."""


_ANSI = {
    Tone.GOOD: "\x1b[32m",
    Tone.BAD: "\x1b[31m",
    Tone.CAUTION: "\x1b[33m",
    Tone.FAINT: "\x1b[2m",
    Tone.DATA: "\x1b[94m",
}
_END = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Toned:
    """A short text and how it is meant."""

    text: str
    tone: Tone = Tone.PLAIN


def coloured(text: str, tone: Tone) -> str:
    """The text between ANSI escapes, where its tone has a colour."""
    return f"{_ANSI[tone]}{text}{_END}" if tone in _ANSI and text else text
