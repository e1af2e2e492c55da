"""Two series compared in two ways, as the compare screen shows them: alone, and with the others of their settings."""

from typing import NamedTuple

from app.comparison.named import Counted
from app.comparison.sides import sides_to_compare
from forms import layout
from forms.comparison import summary as comparison_summary
from forms.comparison import wording as comparison_wording
from forms.trial.report import tried_lines
from storage.notebook import Notebook


class BothWays(NamedTuple):
    """A comparison of the two series alone, and one with the series that repeat the two, or stand for them."""

    ids: tuple[str, str]
    """Of the two series."""
    of_two: comparison_summary.ComparisonSummary
    with_others: comparison_summary.ComparisonSummary

    @property
    def others_count(self) -> bool:
        """Whether other series are judged with the two, or in their place."""
        of_all = self.with_others.comparison
        return {*of_all.base_ids, *of_all.other_ids} != {*self.ids}


def read_both_ways(notebook: Notebook, ids: tuple[str, str]) -> BothWays:
    of_two, *_ = comparison_summary.comparisons(sides_to_compare(notebook, ids))
    with_others, *_ = comparison_summary.comparisons(sides_to_compare(notebook, ids, counted=Counted.REPEATS))
    return BothWays(ids, of_two, with_others)


def verdict_lines(both_ways: BothWays, *, two_alone: bool) -> list[layout.Toned]:
    """The verdict on the two; where others count too, also that of all, which goes first where it decides.

    ``two_alone`` says which of the two comparisons is shown below the verdict.
    """
    form = both_ways.of_two if two_alone else both_ways.with_others
    comparison = form.comparison
    lines = tried_lines(comparison.tried)
    verdict = layout.Toned(f"{comparison.sign} {comparison_wording.comparison_sentences(comparison)}", comparison.tone)
    if not both_ways.others_count:
        return [*lines, verdict]

    of_all = both_ways.with_others.comparison
    by_whom = "By their interleaved series" if of_all.stands_in else "By all series of their settings"
    verdict_of_all = layout.Toned(
        f"{of_all.sign} {by_whom} (o): {comparison_wording.comparison_headline(of_all)}", of_all.tone
    )
    if not two_alone:
        return [*lines, verdict, layout.Toned(f"{by_whom} (o: the two you marked).")]
    if not of_all.known:
        return [*lines, verdict, verdict_of_all]

    of_two = f"The two you marked, alone: {comparison.sign} {comparison_wording.comparison_headline(comparison)}"
    return [verdict_of_all, layout.Toned(of_two, comparison.tone)]
