"""What was measured of a change so far, and whose turn it is where a change is made by hand, interleaved."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.comparison.sides import sides_to_compare
from app.method.choices import GuideChoices, measured_again
from storage.notebook import Notebook
from storage.records import Change, Series

if TYPE_CHECKING:
    from forms.comparison.judged_sides import Sides


def series_called(notebook: Notebook, series_id: str | None) -> Series | None:
    """The series with that id; None where there is none, or none is named."""
    return next(iter(notebook.all_of([series_id] if series_id else [])), None)


def proof_of(notebook: Notebook, changed_id: str | None) -> "Sides | None":
    """What was measured of the change that this series was made with; None where it was made with none."""
    changed_series = series_called(notebook, changed_id)
    if changed_series is None or changed_series.change is None:
        return None
    base = series_called(notebook, changed_series.base_id)
    if base is None:
        return None
    return sides_to_compare(notebook, (base.id, changed_series.id), turns=False)[0]


def proof_of_round(notebook: Notebook, choices: GuideChoices) -> "Sides | None":
    """What was measured of the change of this round, or of the one that it is to prove."""
    return proof_of(notebook, choices.proven_id or choices.series_id)


def proven_change(proof: "Sides") -> Change:
    assert proof.other[0].change
    return proof.other[0].change


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """The series of a change that is made by hand and interleaved: A without it, B with it."""

    count_a: int = 1
    count_b: int = 0
    last_is_b: bool = False
    """Whether the series that was measured last is of side B."""

    @property
    def count(self) -> int:
        return self.count_a + self.count_b

    @property
    def next_is_b(self) -> bool:
        """A B B A: after each pair the side that was measured last goes on."""
        return self.last_is_b if self.count % 2 == 0 else not self.last_is_b


def turns_so_far(proof: "Sides | None") -> Turns:
    """Counted from the base that was there when the change was first made."""
    if proof is None:
        return Turns()
    changed_at = [series.created_at for series in proof.other]
    first = min(changed_at)
    later_bases = [series.created_at for series in proof.base if series.created_at > first]
    return Turns(
        count_a=1 + len(later_bases),
        count_b=len(changed_at),
        last_is_b=max(changed_at) > max(later_bases, default=""),
    )


def next_turn(choices: GuideChoices, proof: "Sides", each: int) -> GuideChoices:
    """The next of ``each`` series a side that are interleaved by hand: A B B A."""
    changed_series = proof.other[0]
    repeated = changed_series if turns_so_far(proof).next_is_b else proof.base[0]
    again = measured_again(choices, repeated, changed_series.id)
    return replace(again, interleaved=each)
