"""Two series compared in two ways, as the compare screen shows them: alone, and with the others of their settings."""

from dataclasses import replace
from typing import NamedTuple

from app.comparison import named
from app.comparison.sides import sides_to_compare
from forms import layout, wording
from forms.comparison import summary as comparison_summary
from forms.comparison import wording as comparison_wording
from forms.comparison.remarks import weaknesses
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


def read_both_ways(notebook: Notebook, references: tuple[str, str]) -> BothWays:
    """The comparisons of what two names mean: that of a baseline all its series, and its newest where two are alone."""
    base, other = named.first_series(notebook, references)
    ids = (base.id, other.id)
    # Also its newest series alone is called by the name of the baseline, and asked about as such.
    baselines = named.baseline_names(notebook, references, (base, other))
    two_alone = [replace(sides, baselines=baselines) for sides in sides_to_compare(notebook, ids)]
    of_two, *_ = comparison_summary.comparisons(two_alone)

    of_all = sides_to_compare(notebook, references, counted=named.Counted.REPEATS)
    with_others, *_ = comparison_summary.comparisons(of_all)
    return BothWays(ids, of_two, with_others)


def verdict_lines(both_ways: BothWays, *, two_alone: bool) -> list[layout.Toned]:
    """The one verdict on what is shown, and which series that counts where the two are not all there are.

    ``two_alone`` says which of both comparisons is shown. The other one is a key away, and is no second verdict.
    """
    form = both_ways.of_two if two_alone else both_ways.with_others
    comparison = form.comparison
    text = f"{comparison.sign} {comparison_wording.comparison_sentences(comparison, names_sides=True)}"
    lines = [*tried_lines(comparison.tried), layout.Toned(text, comparison.tone)]
    lines += [layout.Toned(sentence, layout.Tone.CAUTION) for sentence in weaknesses(form)]
    if not both_ways.others_count:
        return lines

    of_all = both_ways.with_others.comparison
    if two_alone and of_all.stands_in:
        lines.append(layout.Toned("Of these two series alone (press o for the two that stand for them, interleaved)."))
    elif two_alone:
        count = len(of_all.base_ids) + len(of_all.other_ids) - 2
        lines.append(
            layout.Toned(f"Of these two series alone (press o for {wording.count(count, 'repeat')} of them, too).")
        )
    elif of_all.stands_in:
        lines.append(layout.Toned("By their interleaved series (press o for the two series alone)."))
    else:
        lines.append(
            layout.Toned("Repeats with the same settings count, too (press o for one series of each side alone).")
        )
    return lines
