"""The earlier series that ``run --resume`` completes or ``run --again`` measures again."""

from dataclasses import replace
from typing import Any

import click

from app.base.errors import UsageError
from app.cli import console, notebooks, option_values, resuming
from app.recording.spec import SeriesSpec
from app.series.requests import spec_of
from app.series.versus import incomplete_series, series_of_comparison
from forms.layout import visible
from storage.recordings import SERIES
from storage.records import Series, format_target

_HOOKS = {"prepare", "conclude", "server_prepare"}
_WITH_RESUME = _HOOKS | {
    "textfile",
    "as_json",
    "confirm_target",
    "kerberos",
    "reject_unusual",
    "target",
    "within_minutes",
}
"""The options that --resume allows: all others are as the series began. Hooks are given anew, and compared."""
_WITH_AGAIN = _WITH_RESUME | {"label", "note", "question"}
"""The options that --again allows without a TARGET."""


def find_earlier(
    context: click.Context, target: str | None, resume_reference: str | None, choices: dict[str, Any]
) -> Series | None:
    """The series that is to be resumed or measured again; None where a TARGET is named. Raises UsageError."""
    series: Series
    if resume_reference:
        resuming.refuse_words_beside_resume(context, _WITH_RESUME, SERIES, target)
        reference = _side_to_resume(context, resume_reference)
        # `confirmed` lets an imported one pass: whether to log in at its target is asked below.
        series, _ = resuming.recording_to_resume(
            context, reference, _WITH_RESUME, SERIES, target=target, confirmed=True
        )
    elif target:
        return None
    elif choices["again"]:
        option_values.refuse_other_options(context, "again", _WITH_AGAIN)
        series = notebooks.series_called(context, choices["again"])
    else:
        raise UsageError(
            "missing TARGET: sharebench run TARGET, such as smb://alice@nas/public/big.iso; see `sharebench run --help`"
        )

    _confirm_target(series, choices)
    return series


def _side_to_resume(context: click.Context, reference: str) -> str:
    """What names the series to resume: of a comparison, the first side that is not complete, whichever is named."""
    with notebooks.open_notebook(context) as notebook:
        series_id = notebook.recording(reference, SERIES).id
        incomplete = incomplete_series(series_of_comparison(notebook, series_id))
    incomplete_ids = [series.id for series in incomplete]
    if not incomplete_ids or series_id in incomplete_ids:
        return reference
    return incomplete_ids[0]


def series_beside(context: click.Context, earlier: Series, choices: dict[str, Any]) -> list[Series]:
    """All series of the comparison that this one was measured for, the base first; empty where it was for none."""
    with notebooks.open_notebook(context) as notebook:
        all_series = series_of_comparison(notebook, earlier.id)
    for series in all_series:
        if series.id != earlier.id:
            _confirm_target(series, choices)
    return all_series


def _confirm_target(series: Series, choices: dict[str, Any]) -> None:
    """Ask whether to log in at the target of an imported series, unless that was said. Raises UsageError."""
    if choices["confirm_target"] or series.imported_at is None:
        return
    url = visible(format_target(series.target))
    console.confirm(
        f"Series {series.id} was imported. Log in at {url} and continue?",
        without_terminal=f"series {series.id} was imported and names the target {url}: when that is the server that"
        " you mean to log in at, say so with --confirm-target",
        declined="nothing was measured",
    )


def spec_to_repeat(before: Series, typed: SeriesSpec) -> SeriesSpec:
    """The spec of the series before, to measure it again with the texts and the hooks that were typed now."""
    spec = spec_of(before)
    lineage = replace(spec.lineage, base_id=before.id, repeats=True)
    return replace(spec, texts=typed.texts, hooks=typed.hooks, lineage=lineage)


def with_repeated_base(spec: SeriesSpec, context: click.Context, choices: dict[str, Any]) -> SeriesSpec:
    """The spec of a TARGET; with ``--again`` as a repeat of the series that it names. Raises UsageError."""
    if not choices["again"]:
        return spec
    if spec.lineage.change_name:
        raise UsageError("--again repeats settings, --change makes new ones: leave one of them out")
    again = notebooks.series_called(context, choices["again"])
    experiment = spec.lineage.experiment or again.experiment
    lineage = replace(spec.lineage, base_id=again.id, repeats=True, experiment=experiment)
    return replace(spec, lineage=lineage)
