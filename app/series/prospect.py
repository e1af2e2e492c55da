"""How fast a series will probably be."""

from dataclasses import replace
from operator import attrgetter

from storage.notebook import Notebook
from storage.records import (
    Command,
    Decision,
    Target,
)

_LOOKED_THROUGH = 300
_server_of = attrgetter("protocol", "host", "port")


def reached(
    notebook: Notebook, target: Target | None, command: Command, block_bytes: int | None = None
) -> float | None:
    """The average bytes per second of the server's newest series; what was measured otherwise comes last."""
    from forms.series.summary import run_form  # noqa: PLC0415  what computes is loaded when it is first needed

    if target is None:
        return None
    newest = notebook.heads(limit=_LOOKED_THROUGH)
    as_it_is = sorted(newest, key=lambda one: one.change is not None and one.decision is not Decision.KEPT)
    for head in sorted(as_it_is, key=lambda one: (one.plan and one.plan.settings.block_bytes) != block_bytes):
        if _server_of(head.target) == _server_of(target) and head.command is command:
            form = run_form(replace(head, runs=notebook.runs_of([head.id])[head.id]))
            if form.average_rate:
                return form.average_rate
    return None
