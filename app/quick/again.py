"""Measuring a quick test again: whether it asks for that, and what is then typed in the form."""

from forms import wording
from forms.quick.summary import quick_figures
from storage import records
from storage.quick import records as quick_records


def has_restless_lines(quick: quick_records.Quick) -> bool:
    """Whether the runs of a line differ so much that its figure says little."""
    return any(figures.is_restless for figures in quick_figures(quick))


def is_restless_again(quick: quick_records.Quick, before: quick_records.Quick) -> bool:
    """Whether a line is restless that was so in the quick test before: measuring once more would be no quieter."""
    restless_before = {figures.line.name for figures in quick_figures(before) if figures.is_restless}
    return any(figures.is_restless and figures.line.name in restless_before for figures in quick_figures(quick))


def typed_as_it_was(quick: quick_records.Quick) -> dict[str, str]:
    """What stands in the form of a quick test that measures the same; empty where another program measured."""
    if quick.target is None:
        return {}
    link = quick.link_bits_per_second
    return {
        "target": records.format_target(quick.target),
        "size": wording.typed_size(round(quick.size_bytes)),
        "link": wording.typed_rate(link) if link else "",
        "like": quick.settings.like or "",
    }
