"""The recording that --resume continues."""

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import click

from app.base.errors import UsageError
from app.cli import notebooks, option_values

if TYPE_CHECKING:
    from storage.records import Target

ALLOWED_WITH_RESUME = frozenset({"as_json", "kerberos", "target", "yes", "within_minutes"})
"""The options that an isolation or a diagnosis takes beside --resume: the others are stored with it."""


def recording_to_resume(
    context: click.Context,
    reference: str,
    allowed: AbstractSet[str],
    *kinds: str,
    target: str | None = None,
    confirmed: bool = False,
) -> "tuple[Any, Target]":
    """The record that ``--resume`` names, and the target that it logs in at. Raises UsageError.

    ``allowed`` are the parameters that may be typed beside it, ``kinds`` the kinds of recordings that it may name.
    ``confirmed``: an imported one is taken as well.
    """
    from app.recording.resuming import record_to_resume

    refuse_words_beside_resume(context, allowed, kinds[0], target)
    with notebooks.open_notebook(context) as notebook:
        return record_to_resume(notebook, reference, *kinds, confirmed=confirmed)


def refuse_words_beside_resume(
    context: click.Context, allowed: AbstractSet[str], kind: str, target: str | None
) -> None:
    """Raises UsageError where a TARGET or an option was typed that the recording says already."""
    if target:
        raise UsageError(f"--resume takes the target from the {kind}: leave the TARGET out")

    parameter = next(parameter.name for parameter in context.command.params if "--resume" in parameter.opts)
    option_values.refuse_other_options(context, str(parameter), allowed)
