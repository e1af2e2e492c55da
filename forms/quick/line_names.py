"""The names by which sentences and tables call the lines of a quick test, and its figures in few digits."""

from collections.abc import Sequence

from forms import wording
from forms.quick.summary import LineFigures
from storage.quick.records import Access

MEANING = (
    "SEQ1M: pieces of 1 MiB, one behind the other in the file; RND4K: 4 KiB from anywhere in it; Q32: 32 are asked for"
    " at once; T1: by one thread"
)
"""What the names of the lines mean."""


def by_access(lines: Sequence[LineFigures]) -> dict[Access, list[LineFigures]]:
    of_accesses: dict[Access, list[LineFigures]] = {}
    for figures in lines:
        of_accesses.setdefault(figures.line.access, []).append(figures)
    return of_accesses


def names_of(lines: Sequence[LineFigures], all_lines: Sequence[LineFigures]) -> str:
    """The names of some of all lines: ``SEQ1M and RND4K Q1T1 read``.

    An access whose reads and writes are both among them is named by itself, and a family of which all are by that.
    """
    families = dict.fromkeys(figures.line.access.family for figures in lines)
    names: list[str] = []
    for family in families:
        of_family = [figures for figures in lines if figures.line.access.family == family]
        all_of_family = [figures for figures in all_lines if figures.line.access.family == family]
        has_several_accesses = len(by_access(all_of_family)) > 1
        if has_several_accesses and len(of_family) == len(all_of_family):
            names.append(family)
        else:
            names += _access_names(of_family)
    return wording.listed(names)


def _access_names(lines: Sequence[LineFigures]) -> list[str]:
    """``SEQ1M Q8T1``, or ``SEQ1M Q8T1 read`` where that is all of it."""
    names = []
    for access, of_access in by_access(lines).items():
        names.append(access.quoted_name if len(of_access) > 1 else of_access[0].line.quoted_name)
    return names


def few_milliseconds(seconds: float) -> str:
    """A time to two figures: ``0.05 ms``, ``8.9 ms``, ``69 ms``."""
    value = 1000 * seconds
    return f"{value:.2g} ms" if value < 99.5 else f"{value:.0f} ms"


def both_times(times: Sequence[float]) -> str:
    """One or two times with the unit once: ``0.17 and 0.31 ms``."""
    texts = [few_milliseconds(seconds) for seconds in times]
    *others, last = dict.fromkeys(texts)
    return wording.listed([*(text.removesuffix(" ms") for text in others), last])
