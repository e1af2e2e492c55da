"""What the page of an open answer asks about its base: over which link it was measured, and whether it is gone.

And what is left to measure where nobody knows that.
"""

from collections.abc import Iterator

from app.base.units import parse_rate
from app.comparison.gone_bases import remember_gone
from app.guide import page
from app.method.base_repeats import repeat_later
from app.method.choices import GuideChoices
from forms import wording
from forms.comparison.comparison import Comparison
from forms.comparison.several.likely_links import outgrown_ethernet, would_be_certain
from forms.comparison.summary import ComparisonSummary
from forms.stats.before_change import SPACING_SECONDS
from storage.notebook import Notebook
from storage.records import Series


def base_link_option(choices: GuideChoices, summary: ComparisonSummary) -> Iterator[page.Option]:
    """To say over which link the base was measured, where its rates look like one and the answer is open without it."""
    outgrown = outgrown_ethernet(summary)
    if outgrown is None or not would_be_certain(summary):
        return
    base = wording.plain(summary.comparison.base_name)

    def take_rate(text: str) -> page.Act:
        given_rate = parse_rate(text)

        def give_link(notebook: Notebook) -> None:
            for series_id in summary.comparison.base_ids:
                notebook.set_link(series_id, given_rate)

        return page.Store(give_link, choices)

    likely_rate = wording.link_rate(outgrown.bits_per_second)
    question = page.Ask(
        heading="Rate of the link",
        text=f"The slowest part of the way when {base} was measured; its runs look like {likely_rate}.",
        then=take_rate,
        value=wording.typed_rate(int(outgrown.bits_per_second)),
    )
    yield page.Option(
        f"Give {base} its link speed…", question, f"if it was {likely_rate}, this is certain", advised=True
    )


def gone_option(choices: GuideChoices, comparison: Comparison) -> Iterator[page.Option]:
    """To say that nobody can measure the base again, where nothing that was recorded says so."""
    if not comparison.is_open or comparison.is_base_gone or comparison.change is not None:
        return
    base_ids = comparison.base_ids

    def note_gone(notebook: Notebook) -> str:
        remember_gone(notebook, base_ids)
        return "Noted: only the new side is measured again from now on."

    hint = "a switch, a disk or a server was replaced"
    yield page.Option("The old side is no longer there", page.Store(note_gone, choices), hint)


def new_side_later(choices: GuideChoices, series: Series, comparison: Comparison) -> page.Option:
    """One more series of the new side, where the old one may be gone."""
    title = f"Measure {wording.plain(comparison.other_name)} again, {wording.duration(SPACING_SECONDS)} later"
    begin = page.Begin(repeat_later(choices, series))
    return page.Option(title, begin, "all series of it count, and may settle it", advised=True)
