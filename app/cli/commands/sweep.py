"""``sharebench sweep``: several values of a setting in turns."""

from typing import Any

import click

from app.cli import common
from app.cli.run_options import target_argument
from app.cli.trials import answer_trial, carried_out, consent, parsed_setting, prepared, trial_options
from forms.trials.sweep import blocks_needed
from storage.records import ExperimentKind


@click.command("sweep")
@click.argument("setting", metavar="NAME=V1,V2,…")
@target_argument()
@click.option("--blocks", type=common.Count(2, 1000), metavar="N", help="How often each value is measured.")
@trial_options
@click.pass_context
def sweep_command(context: click.Context, /, setting: str, target: str, **choices: Any) -> int:
    """Measures several values of a setting in turns, and names the smallest that is no worse than the best by 1 %.

    Each block measures what was there and each value once, in a new random order. NAME alone takes the values of the
    catalogue; a socket option such as SO_SNDBUF may be named by itself (SO_SNDBUF=4K,64K,1M).
    """
    name, values = parsed_setting(setting, several=True)
    blocks = choices.pop("blocks")
    found, order_of = prepared(context, name, values, target, choices)
    order = order_of(ExperimentKind.SWEEP, found.values, {"looks": (blocks or blocks_needed(len(found.values)),)})
    consent(order, yes=choices["yes"])
    answer_trial(carried_out(context, order), as_json=choices["as_json"])
    return 0
