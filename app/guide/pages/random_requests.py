"""Random requests to one file in place of transfers of it: what is told of them, and the choice between both."""

from collections.abc import Iterator
from dataclasses import replace

from app.clients.base import OWN
from app.guide import page
from app.method.choices import GuideChoices, with_requests
from forms import wording
from storage import plan
from storage.records import Command


def requests_fact(choices: GuideChoices) -> Iterator[str]:
    """``Random requests: writes of 4 KiB, 32 at once, 5 s a run.``; nothing of whole files."""
    counts = choices.spec.counts
    if not counts.random:
        return

    reads_percent = counts.share_of_reads(is_get=choices.spec.command is Command.GET)
    kinds = {100: "reads", 0: "writes"}
    kind = kinds.get(reads_percent, f"{reads_percent} % reads, {100 - reads_percent} % writes")
    size = wording.binary_size(choices.spec.settings.block_bytes or plan.DEFAULT_RANDOM_BLOCK_BYTES)
    in_flight = choices.spec.settings.in_flight or plan.DEFAULT_RANDOM_IN_FLIGHT
    seconds = counts.random_seconds or plan.DEFAULT_RANDOM_SECONDS
    yield f"Random requests: {kind} of {size}, {in_flight} at once, {seconds:g} s a run."


def requests_option(choices: GuideChoices) -> Iterator[page.Option]:
    """To measure random requests, or whole files again; not while a change or its base is measured."""
    target = choices.target
    spec = choices.spec
    is_held_to_base = bool(spec.lineage.change_name or choices.proven_id or choices.planned_repeats)
    is_possible = target is not None and target.abilities.can_ask_at_random and spec.client in ("", OWN)
    if is_held_to_base or not is_possible or spec.counts.files:
        return

    others = page.Go(replace(choices, spec=with_requests(spec, random=not spec.counts.random)))
    if spec.counts.random:
        yield page.Option("Whole files in place of random requests", others, "as before")
    else:
        yield page.Option("Random requests in place of whole files", others, "4 KiB here and there, as databases ask")
