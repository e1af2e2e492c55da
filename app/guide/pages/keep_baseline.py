"""A series kept as a baseline, under a name that is asked for."""

from collections.abc import Sequence

from app.base.errors import UsageError
from app.comparison.stored_base import power_of_stored_base
from app.guide import context as guide_context
from app.guide import page as guide_page
from app.method import choices as method_choices
from forms import wording
from forms.comparison.bases import power_sentence
from storage import records
from storage.notebook import Notebook
from storage.shared import why_no_baseline_name


def keep_as_baseline(
    choices: method_choices.GuideChoices, context: guide_context.GuideContext, series: records.Series
) -> guide_page.Option:
    """To give the series a name as a baseline, and its repeats with it."""
    ids = context.as_base.ids if context.as_base is not None else (series.id,)
    if context.kept_as:
        names = wording.plain(wording.listed([f'"{name}"' for name in context.kept_as]))
        hint = f"is baseline {names}"
    elif len(ids) > 1:
        hint = f"a name for these {len(ids)} series, to compare with"
    else:
        hint = "a name to compare with"
    return guide_page.Option("Keep it as a baseline…", _ask_baseline(choices, ids), hint, is_value=True)


def _ask_baseline(choices: method_choices.GuideChoices, ids: Sequence[str]) -> guide_page.Ask:
    def take_name(text: str) -> guide_page.Store:
        name = text.strip()
        if problem := why_no_baseline_name(name):
            raise UsageError(problem)

        def set_baseline(notebook: Notebook) -> str:
            notebook.set_baseline(name, *ids)
            power = power_of_stored_base(notebook, ids)
            shows = power_sentence(power) if power is not None else ""
            return f"Kept as baseline {name}. {shows}".rstrip()

        return guide_page.Store(set_baseline, choices)

    return guide_page.ask_question("Baseline", take_name)
