"""Loads where a command takes SERIES: found, listed, shown, compared, brought in."""

from collections.abc import Sequence

import click

from app.cli import common, diagnostics, output
from app.cli.series_output import answer_report
from app.errors import UsageError
from app.workflows.load_forms import load_form
from forms.layout import visible
from forms.load.comparison import compare_loads
from forms.load.comparison_report import load_comparison_report
from forms.load.headline import load_answer
from forms.report import Report
from storage.loads.records import Load
from storage.notebook import Notebook
from storage.recordings import LOAD, UnknownReferenceError
from storage.target_url import format_target

_VERDICT_CODES = {"faster": 0, "slower": 1}
NOT_KNOWN = 3


def load_in(notebook: Notebook, reference: str) -> Load | None:
    """The load that a reference means; None for one that means a series, or nothing."""
    try:
        found = notebook.recording(reference)
    except UnknownReferenceError:
        return None
    return notebook.load(found.id) if found.kind == LOAD else None


def load_meant(context: click.Context, reference: str) -> Load | None:
    """As :func:`load_in`, in the notebook of the command line."""
    with common.notebook(context) as notebook:
        return load_in(notebook, reference)


def compare_named(context: click.Context, base: str, others: Sequence[str], *, as_json: bool) -> int | None:
    """Compare loads: the exit code; None where BASE is no load. Raises UsageError where only some are loads."""
    first = load_meant(context, base)
    if first is None:
        return None
    if len(others) != 1:
        raise UsageError("loads are compared two at a time: name one OTHER")
    second = load_meant(context, others[0])
    if second is None:
        raise UsageError(f"{base} is a load and {others[0]} is none: compare loads with loads")
    found = compare_loads(first, second)
    answer_report(load_comparison_report(found), as_json=as_json)
    return _VERDICT_CODES.get(found.verdict, NOT_KNOWN)


def show_load(context: click.Context, load: Load, *, as_json: bool) -> None:
    """Print a load's form, or its document."""
    with common.notebook(context) as notebook:
        report = load_form(notebook, load)
    answer_report(report, as_json=as_json)
    if load.scratch_folder and not as_json:
        diagnostics.say(f"sharebench: what to do: sharebench clean {visible(format_target(load.targets[0]))}")


def report_of(notebook: Notebook, reference: str) -> Report | None:
    """The form of a load; None where the reference is none."""
    load = load_in(notebook, reference)
    return load_form(notebook, load) if load else None


def delete_load(context: click.Context, load: Load) -> None:
    """Take a load out of the notebook."""
    with common.notebook(context) as notebook:
        notebook.remove(load.id)
    diagnostics.say(f"load {load.id} is deleted: {load_answer(load, brief=True) or load.scenario.name}")
    output.answer(load.id)
