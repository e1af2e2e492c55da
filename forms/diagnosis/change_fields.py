"""What changed between two diagnoses beside the complaint, in the fields of their comparison."""

from collections.abc import Iterator, Sequence

from forms import wording
from forms.diagnosis.figure_changes import FigurePair
from forms.diagnosis.figures import FLUSH
from forms.layout import Sign
from forms.tuning.differences import listed_few


def change_fields(pairs: Sequence[FigurePair], *, is_written_later: bool) -> Iterator[tuple[str, str]]:
    """What got slower for certain, what the change costs, and what nobody can tell, each a name with a text.

    ``is_written_later``: the server no longer writes at once.
    """
    yield "Slower", slower_text(pairs)
    yield "The price", price_text(pairs) if is_written_later else ""
    yield "Not certain", uncertain_text(pairs, is_written_later=is_written_later)


def slower_text(pairs: Sequence[FigurePair]) -> str:
    """What is certainly slower than before; empty where nothing is."""
    slower = [pair.name_with_values for pair in pairs if pair.sign is Sign.SLOWER]
    return f"{listed_few(slower)}, by more than it varied." if slower else ""


def uncertain_text(pairs: Sequence[FigurePair], *, is_written_later: bool = False) -> str:
    """How many figures are another than before by what can be chance; empty where none is.

    Named they would read as if they had changed. ``is_written_later``: the server no longer writes at once; what that
    costs is told by `price_text`.
    """
    prices = _prices(pairs) if is_written_later else []
    uncertain = [pair.change for pair in pairs if pair.sign is Sign.UNKNOWN and pair not in prices]
    slower_count = sum(change.times < 1 for change in uncertain if change is not None)
    faster_count = len(uncertain) - slower_count
    if not uncertain:
        return ""

    counts = []
    if faster_count:
        counts.append(f"{wording.count(faster_count, 'figure')} better")
    if slower_count:
        counts.append(f"{wording.count(slower_count, 'figure')} worse")
    reasons = "each varies as much as it changed, was measured once, or this client was busy"
    return f"{wording.listed(counts)} by what can be chance: {reasons}. The table marks them with {Sign.UNKNOWN}."


def price_text(pairs: Sequence[FigurePair]) -> str:
    """What it costs that the server no longer writes at once: what was not written meanwhile is written at the end."""
    sentences = []
    for pair in _prices(pairs):
        reason = "what no longer waits for the disk is written then, so that is how it should be"
        sentences.append(f"{pair.name_with_values}: {reason}.")
    return " ".join(sentences)


def _prices(pairs: Sequence[FigurePair]) -> list[FigurePair]:
    flushes = [pair for pair in pairs if pair.known_figure.key == FLUSH]
    return [pair for pair in flushes if pair.sign is Sign.UNKNOWN and pair.change and pair.change.times < 1]
