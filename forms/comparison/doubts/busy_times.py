"""What it means for the answer of a comparison that a side was measured at a busy time.

Other work at that time slows a side down. So it puts an answer in doubt where it may be the reason for it, and nowhere
else.
"""

from forms.comparison.comparison import Comparison
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
    """Whether one side is faster and both were busy: other work slowed both, and hardly tells which is faster."""
    is_one_faster = comparison.verdict in (Verdict.FASTER, Verdict.SLOWER)
    return is_one_faster and {comparison.base_id, comparison.other_id} <= set(comparison.busy_ids)


def consequence(comparison: Comparison) -> str:
    """What follows from a busy time for the answer, as a clause; empty where there is no answer."""
    if not has_answer(comparison):
        return ""
    reason = why_no_matter(comparison)
    if reason is not None:
        return f"this does not matter, because {reason}"

    if _met_both_sides(comparison):
        return (
            "it slowed both sides, so which is faster is hardly in doubt; the range is right if both were equally busy"
        )
    is_only_base = comparison.busy_ids and comparison.other_id not in comparison.busy_ids
    if comparison.is_base_gone and is_only_base:
        return "this may be part of the difference, and the old side cannot be measured again"
    return "this may be part of the answer, so measure again at a quiet time"
