"""The name that was meant by a word that nothing is called."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``did you mean before?`` and a space, for the known name that looks most like the word; empty where none does."""
    near = get_close_matches(word, sorted(set(known)), n=1)
    return f"did you mean {near[0]}? " if near else ""
