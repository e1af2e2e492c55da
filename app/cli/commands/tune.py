"""``sharebench tune``: the catalogue's safe settings, one after another."""

import contextlib
from typing import Any

import click

from app.changes.find import Ways
from app.cli import common, diagnostics
from app.cli.progress import ProgressLine, cancel_on_signals
from app.cli.run_options import chosen, target_argument
from app.cli.series_output import answer_report
from app.cli.trials import ask_to_go_on, trial_options
from app.measure.control import SeriesControl
from app.workflows.requests import series_request
from app.workflows.trial_order import Judged, PutBack, ValueSet, check_target
from app.workflows.tune import STOP_AFTER, Trying, Tuned, Tuning, candidates
from forms.stats.paired import LOOKS
from forms.trials.tune import TuneSummary
from forms.trials.tune_report import tune_report


@click.command("tune")
@target_argument()
@click.option("--only", multiple=True, metavar="NAME", help="Try this parameter alone; may be given several times.")
@click.option("--stop-after", type=common.Count(1, 1000), default=STOP_AFTER, show_default=True, metavar="N",
    help="So many candidates in a row without a gain end it.")  # fmt: skip
@trial_options
@click.pass_context
def tune_command(context: click.Context, /, target: str, **choices: Any) -> int:
    """Tries the catalogue's safe settings of smb.conf one after another, in order of impact.

    Each is a `try` on top of what was found before; what has a risk is left out. Everything is put back at the end, and
    one page says what to write into smb.conf, what it is worth, and what was tried for nothing.
    """
    found_target, secrets = common.target_and_secrets(context, target, kerberos=choices["kerberos"])
    request = series_request(chosen({**choices, "runs": 1, "warmup": 1}), found_target, secrets)
    ways = Ways(ssh=request.server_ssh, smb_conf=request.smb_conf)
    tuning = Tuning(
        request=request, ways=ways, looks=LOOKS, stop_after=choices["stop_after"], only=tuple(choices["only"])
    )
    check_target(request)
    where = ways.ssh or "this machine"
    diagnostics.say(f"{len(candidates(tuning.only))} candidates will be tried on {where}, each a line of smb.conf in a")
    diagnostics.say("drop-in file that is written, proven, measured and put back; what has a risk is left out.")
    ask_to_go_on(yes=choices["yes"])
    summary = _tuned(context, tuning)
    answer_report(tune_report(summary), as_json=choices["as_json"])
    return 0


def _tuned(context: click.Context, tuning: Tuning) -> TuneSummary:
    """Carry it out, and show how it goes; what it came to, also when it was cancelled half-way."""
    control, progress, summary = SeriesControl(), ProgressLine(), None
    with cancel_on_signals(control), contextlib.closing(tuning.run(common.notebook_path(context), control)) as events:
        for event in events:
            match event:
                case Trying(setting=setting, number=number, of=of):
                    diagnostics.say(f"{number} of {of}: {setting.name} = {setting.values[0] or 'empty'}")
                case ValueSet(value=value, block=block):
                    progress.about = f"pair {block}, {'as it is' if value is None else 'tried'}: "
                case Tuned(summary=found):
                    summary = found
                case Judged() | PutBack():
                    progress.clear()
                case _:
                    progress.show(event)
    progress.clear()
    assert summary
    return summary
