"""What was measured of a change so far, and which side is measured next where its series alternate.

The sides of a change are its base, measured without it, and the other, measured with it. A change that the user makes
by hand is made and taken back again between the series: A B B A …
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.comparison.named import Counted
from app.comparison.sides import sides_to_compare
from app.method.choices import GuideChoices, choices_to_repeat
from storage.notebook import Notebook
from storage.records import Change, Series

if TYPE_CHECKING:
    from forms.comparison.judged_sides import Sides


def series_called(notebook: Notebook, series_id: str | None) -> Series | None:
    """The series with that id; None where there is none, or none is named."""
    return next(iter(notebook.all_of([series_id] if series_id else [])), None)


def proof_of(notebook: Notebook, changed_id: str | None) -> "Sides | None":
    """The sides of the change that this series was made with; None where it was made with none, or its base is gone."""
    changed_series = series_called(notebook, changed_id)
    if changed_series is None or changed_series.change is None:
        return None
    base = series_called(notebook, changed_series.base_id)
    if base is None:
        return None
    return sides_to_compare(notebook, (base.id, changed_series.id), counted=Counted.REPEATS, by_interleaved=False)[0]


def proof_of_round(notebook: Notebook, choices: GuideChoices) -> "Sides | None":
    """The sides of the change that this round is to prove, else of the one that it made."""
    return proof_of(notebook, choices.proven_id or choices.series_id)


def proven_change(proof: "Sides") -> Change:
    """The change between the sides of a proof, which its changed series all have."""
    assert proof.other[0].change
    return proof.other[0].change


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """How many series were measured in alternation so far: A without the change, B with it."""

    count_a: int = 1
    count_b: int = 0
    last_is_b: bool = False
    """Whether the series that was measured last is of side B."""

    @property
    def count(self) -> int:
        return self.count_a + self.count_b

    @property
    def next_is_b(self) -> bool:
        """In A B B A, the side that was measured last goes on after each pair, and else the other one follows."""
        return self.last_is_b if self.count % 2 == 0 else not self.last_is_b


def turns_so_far(proof: "Sides | None") -> Turns:
    """The series counted from the one base that was there when the change was first made."""
    if proof is None:
        return Turns()

    times_of_changed = [series.created_at for series in proof.other]
    first_changed_at = min(times_of_changed)
    times_of_later_bases = [series.created_at for series in proof.base if series.created_at > first_changed_at]
    return Turns(
        count_a=1 + len(times_of_later_bases),
        count_b=len(times_of_changed),
        last_is_b=max(times_of_changed) > max(times_of_later_bases, default=""),
    )


def next_turn(choices: GuideChoices, proof: "Sides", series_a_side: int) -> GuideChoices:
    """The round of the next series in alternation, of which each side is to have ``series_a_side``."""
    changed_series = proof.other[0]
    next_series = changed_series if turns_so_far(proof).next_is_b else proof.base[0]
    repeat = choices_to_repeat(choices, next_series, changed_series.id)
    return replace(repeat, interleaved=series_a_side)
