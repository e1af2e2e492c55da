"""How fast earlier series of a server were: what a new one of it will probably reach."""

from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

from app.recording.spec import SeriesSpec
from forms.stats.decision import LEAST_RUNS
from forms.stats.summary import deviation_percent
from storage.notebook import Notebook
from storage.records import Command, Decision, Series, Target

if TYPE_CHECKING:
    from forms.series.summary import SeriesSummary

_LOOKED_THROUGH = 300
"""Newest series of the notebook that are looked at."""
_server_of = attrgetter("protocol", "host", "port")


def measured_rate(
    notebook: Notebook, target: Target | None, command: Command, block_bytes: int | None = None
) -> float | None:
    """The average bytes per second of :func:`newest_alike`."""
    form = newest_alike(notebook, target, command, block_bytes)
    return form.average_rate if form is not None else None


def newest_alike(
    notebook: Notebook, target: Target | None, command: Command, block_bytes: int | None = None
) -> "SeriesSummary | None":
    """The server's newest series that has an average; what was measured otherwise comes last.

    Random requests move far less, and say nothing of whole files.
    """
    from forms.series.summary import run_form

    if target is None:
        return None

    def is_otherwise(head: Series) -> tuple[bool, bool]:
        """Whether it has another request size, and whether it measures a change that was not kept."""
        has_other_block = (head.plan and head.plan.settings.block_bytes) != block_bytes
        is_of_change = head.change is not None and head.decision is not Decision.KEPT
        return has_other_block, is_of_change

    for head in sorted(notebook.heads(limit=_LOOKED_THROUGH), key=is_otherwise):
        is_alike = _server_of(head.target) == _server_of(target) and head.command is command
        if is_alike and not head.is_random:
            form = run_form(replace(head, runs=notebook.runs_of([head.id])[head.id]))
            if form.average_rate:
                return form
    return None


def variation_percent(notebook: Notebook, target: Target, spec: SeriesSpec) -> float | None:
    """What the runs of :func:`newest_alike` vary by; None where too few tell, and of random requests."""
    if spec.counts.random:
        return None
    form = newest_alike(notebook, target, spec.command, spec.settings.block_bytes)
    rates = form.series.rates() if form is not None else []
    return deviation_percent(rates) if len(rates) >= LEAST_RUNS else None
