"""The recommended numbers of runs in the texts of files: their placeholders, and what is written in place of them."""

from collections.abc import Mapping
from types import MappingProxyType

from storage.recommended import DEFAULT_RUNS, DEFAULT_WARMUPS

_SPELLED = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def spelled(number: int) -> str:
    """``five``; above twelve in figures, as a text has it."""
    return _SPELLED[number] if number < len(_SPELLED) else str(number)


RECOMMENDED: Mapping[str, str] = MappingProxyType(
    {
        "recommended_runs": str(DEFAULT_RUNS),
        "recommended_warmups": str(DEFAULT_WARMUPS),
        "recommended_runs_spelled": spelled(DEFAULT_RUNS),
        "recommended_runs_capital": spelled(DEFAULT_RUNS).capitalize(),
    }
)
"""By placeholder, ``{recommended_runs}`` in a text: what is recommended."""


def with_recommended_numbers(text: str) -> str:
    """A file of texts with its placeholders filled; other braces stay."""
    for name, number in RECOMMENDED.items():
        text = text.replace(f"{{{name}}}", number)
    return text
