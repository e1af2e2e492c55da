"""What it means for the answer of a comparison that a side was measured at a busy time.

Other work at that time slows a side down. So it puts an answer in doubt where it may be the reason for it, and nowhere
else.
"""

from collections.abc import Mapping, Sequence

from forms import wording
from forms.comparison.comparison import Comparison
from forms.comparison.doubts.other_load import OtherLoad
from forms.stats.decision import Verdict


def is_in_doubt(comparison: Comparison) -> bool:
    """Whether there is an answer, and a busy time may be the reason for it."""
    if not has_answer(comparison) or not comparison.busy_ids or _met_both_sides(comparison):
        return False
    return why_no_matter(comparison) is None


def has_answer(comparison: Comparison) -> bool:
    """Whether there is a verdict, be it by statistics, by a trial of the change or by the old link."""
    return comparison.decided is not Verdict.UNKNOWN or comparison.is_certain_by_link


def why_no_matter(comparison: Comparison) -> str | None:
    """Why the busy time of a side does not put the answer in doubt, as a clause; None where it may be the reason."""
    if comparison.tried is not None and comparison.tried.verdict is not Verdict.UNKNOWN:
        return "the trial's runs alternated, so that other work met both sides"
    if comparison.interleaved:
        return "the runs alternated, so that other work met both sides"
    if comparison.old_link is not None:
        return "the old link could not have carried as much at any time"
    if comparison.full_links is not None:
        return "each side filled its link all the same"
    if not comparison.busy_ids:
        return "the other series of that side were not, and the range allows for how much they differ"

    faster_id = {Verdict.FASTER: comparison.other_id, Verdict.SLOWER: comparison.base_id}.get(comparison.verdict)
    slower_id = {Verdict.FASTER: comparison.base_id, Verdict.SLOWER: comparison.other_id}.get(comparison.verdict)
    if faster_id is not None and slower_id not in comparison.busy_ids:
        return "other work can only have slowed down the faster side"
    return None


def _met_both_sides(comparison: Comparison) -> bool:
    """Whether one side is faster and both were busy, so that other work slowed both, and the slower one not more."""
    return _is_change_of_busy_sides(comparison) and not _was_slower_side_busier(comparison)


def _is_change_of_busy_sides(comparison: Comparison) -> bool:
    is_one_faster = comparison.verdict in (Verdict.FASTER, Verdict.SLOWER)
    return is_one_faster and {comparison.base_id, comparison.other_id} <= set(comparison.busy_ids)


def _was_slower_side_busier(comparison: Comparison) -> bool:
    load = comparison.other_load
    if load is None:
        return False
    return load.is_base_busier if comparison.verdict is Verdict.FASTER else load.is_other_busier


def titles_by_consequence(comparisons: Mapping[str, Comparison]) -> dict[str, list[str]]:
    """What follows for each of the answers, with the titles of the comparisons that it follows for.

    Where both sides were equally busy, all such comparisons are one: only the shares differ, which are told together.
    """
    equally_busy = {
        title: comparison for title, comparison in comparisons.items() if _is_held_by_equal_load(comparison)
    }
    titles: dict[str, list[str]] = {}
    if len(equally_busy) > 1:
        titles[_consequence_for_equally_busy([*equally_busy.values()])] = [*equally_busy]

    for title, comparison in comparisons.items():
        text = consequence(comparison)
        is_told_together = len(equally_busy) > 1 and title in equally_busy
        if text and not is_told_together:
            titles.setdefault(text, []).append(title)
    return titles


def _is_held_by_equal_load(comparison: Comparison) -> bool:
    """Whether the answer holds because both sides were busy about equally."""
    if not has_answer(comparison) or why_no_matter(comparison) is not None:
        return False
    load = comparison.other_load
    return _is_change_of_busy_sides(comparison) and load is not None and load.is_about_equal


def _consequence_for_equally_busy(comparisons: Sequence[Comparison]) -> str:
    """``other programs took 87 % to 91 % of the client's processors each time: about equally, so the answers hold``"""
    percents: list[float] = []
    for comparison in comparisons:
        if comparison.other_load is not None:
            percents += [comparison.other_load.base_percent, comparison.other_load.other_percent]
    shares = dict.fromkeys(wording.percent(percent) for percent in (min(percents), max(percents)))
    return (
        f"other programs took {' to '.join(shares)} of the client's processors each time: about equally, so the"
        " answers hold"
    )


def consequence(comparison: Comparison) -> str:
    """What follows from a busy time for the answer, as a clause; empty where there is no answer."""
    if not has_answer(comparison):
        return ""
    reason = why_no_matter(comparison)
    if reason is not None:
        return f"this does not matter, because {reason}"

    if _is_change_of_busy_sides(comparison):
        return _consequence_for_busy_sides(comparison)
    is_only_base = comparison.busy_ids and comparison.other_id not in comparison.busy_ids
    if comparison.is_base_gone and is_only_base:
        return "this may be part of the difference, and the old side cannot be measured again"
    return "this may be part of the answer, so measure again at a quiet time"


def _consequence_for_busy_sides(comparison: Comparison) -> str:
    """What follows for a change where both sides were busy: equally, so that it holds, or one side more."""
    load = comparison.other_load
    if load is None:
        return (
            "it slowed both sides, so which is faster is hardly in doubt; the range is right if both were equally busy"
        )

    shares = _shares_text(comparison, load)
    if load.is_about_equal:
        return f"{shares}: about equally, so the answer holds"
    if not _was_slower_side_busier(comparison):
        return f"{shares}, and slowed the faster side more: the true change is larger rather than smaller"
    if comparison.is_base_gone and load.is_base_busier:
        return f"{shares}: part of the change may come from that, and the old side cannot be measured again"
    return f"{shares}: part of the change may come from that, so measure again at a quiet time"


def _shares_text(comparison: Comparison, load: OtherLoad) -> str:
    """``other programs took 89 % of the client's processors before and 86 % after``."""
    base_share = wording.percent(load.base_percent)
    other_share = wording.percent(load.other_percent)
    took = f"other programs took {base_share} of the client's processors"
    if not comparison.is_other_newest:
        return f"{took} during {comparison.base_name} and {other_share} during {comparison.other_name}"
    return f"{took} before and {other_share} after"
