"""Which forms ``export`` writes: those of --form, of the recordings, experiments or worksheets that are named."""

import click

from app.base.errors import UsageError
from app.cli import notebooks
from app.recording import several
from app.recording.experiments import stored_experiment
from app.recording.kind import ComparisonChoices, kind_of
from forms.report import Report
from storage.recordings import ISOLATION

FORMS = ("run", "comparison", "experiment", "survey", "selftest", "isolation", "bottleneck", "clients")
_WORKSHEETS = frozenset({"bottleneck", "clients"})
_COMPUTED_FORMS = frozenset({"survey", "selftest", "isolation"})
"""There is nothing to fill in by hand."""


def check_names(names: tuple[str, ...], form: str, *, blank: bool) -> None:
    """Raises UsageError where the form takes another number of names."""
    if blank:
        if names:
            raise UsageError("a blank form has no series: leave them out, or leave --blank out")
        if form in _COMPUTED_FORMS:
            raise UsageError(f"there is no blank {form}: it is computed from what was measured")
    elif not names:
        raise UsageError("nothing to export: name series (an id, a baseline, `last`), or ask for --blank")
    elif form == "comparison" and len(names) < 2:
        raise UsageError("a comparison needs a base and at least one other series")
    elif form not in {"run", "comparison"} and len(names) > 1:
        raise UsageError(f"one {form} at a time: {len(names)} names were given")


def reports_of(
    context: click.Context, names: tuple[str, ...], form: str, blank: bool, link: int | None
) -> list[Report]:
    """The forms of what is named; ``blank``: one to fill in, with the rate of the ``link`` on it."""
    if blank:
        from forms import reports

        return [reports.blank_report(form, link_bits_per_second=link)]

    with notebooks.open_notebook(context) as notebook:
        if form == "run":
            return several.forms_of(notebook, names)
        if form == "comparison":
            heads = several.recordings_of_one_kind(notebook, names)
            return [kind_of(heads[0]).compare(notebook, heads, ComparisonChoices(references=names)).report]
        if form == ISOLATION:
            return several.forms_of(notebook, names, ISOLATION)
        if form not in _WORKSHEETS:
            return [stored_experiment(notebook, names[0], None if form == "experiment" else form)]

        from app.worksheets.command import saved_worksheet
        from forms.worksheets.report import worksheet_report

        return [saved_worksheet(context, form, names[0], worksheet_report)]
