"""``sharebench try``, ``sweep`` and ``tune``: settings that are changed, measured in turns, and put back."""

import contextlib
from dataclasses import replace
from typing import Any

import click

from app.changes.find import Ways
from app.cli import common, diagnostics
from app.cli.commands.compare import exit_code
from app.cli.progress import ProgressLine, cancel_on_signals
from app.cli.run_options import target_argument
from app.cli.series_output import answer_report
from app.cli.trials import (
    answer_trial,
    ask_to_go_on,
    carried_out,
    consent,
    parsed_setting,
    prepared,
    request_of,
    restart_option,
    trial_options,
)
from app.errors import SharebenchError, UsageError
from app.measure.control import SeriesControl
from app.subjects.audit import audited_first
from app.workflows.trial_order import (
    Judged,
    PutBack,
    ValueSet,
    check_target,
    order_to_resume,
    stored_trial,
)
from app.workflows.tune import STOP_AFTER, Trying, Tuned, Tuning, candidates
from forms.stats.paired import LOOKS
from forms.trials.summary import TrialSummary
from forms.trials.sweep import blocks_needed
from forms.trials.tune import TuneSummary
from forms.trials.tune_report import tune_report
from forms.tuning.smb_conf import spelling
from storage.records import ExperimentKind


@click.command("try")
@click.argument("setting", metavar="NAME=VALUE", required=False)
@target_argument(required=False)
@click.option("--resume", "resumed", metavar="EXPERIMENT", help="Go on with an interrupted trial or sweep.")
@click.option("--noise", type=common.Number(0, 100), default=1.0, show_default=True, metavar="PERCENT",
    help="A change inside ± this is no difference, however sure.")  # fmt: skip
@click.option("--margin", type=common.Number(0, 1000, min_open=True), default=5.0, show_default=True,
    metavar="PERCENT", help="The same: the change's interval lies inside ± this.")  # fmt: skip
@click.option("--apply", metavar="CMD", help="A command for the server's shell that makes the change NAME.")
@click.option("--revert", metavar="CMD", help="The command that reverts it; harmless where it was not applied.")
@restart_option
@trial_options
def try_command(context: click.Context, /, setting: str | None, target: str | None, **choices: Any) -> int:
    """Changes a setting of the server itself, measures with and without it in turns, and puts it back.

    Each pair is A B or B A by lot, so that nothing else that comes and goes on the machine keeps step with the change.

    NAME=VALUE is a line of smb.conf, a kernel setting (net.ipv4.tcp_congestion_control=bbr) or one of a network card
    (mtu@eth0=9000, tso@eth0=off, rx-usecs@eth0=0); NAME alone tries the values of the catalogue. For all else there are
    --apply and --revert. It runs as root on the server, or leads there with --server-ssh root@HOST. It shows first what
    it would write, and where; everything is put back byte for byte at the end, also by `sharebench restore` after a
    crash. Exit code 0: no slower; 1: slower; 3: not known.
    """
    resumed = choices.pop("resumed")
    if resumed:
        common.refuse_given(context, "resumed", {"yes", "as_json", "kerberos"})
        return _resumed(context, resumed, choices)
    if not setting or not target:
        raise UsageError("what is to be tried, and where? sharebench try NAME=VALUE TARGET")
    name, values = parsed_setting(setting)
    plan = {"noise_percent": choices.pop("noise"), "margin_percent": choices.pop("margin")}
    found = prepared(context, name, values, target, choices)
    verdicts: list[str] = []
    to_try = found.setting.values
    if len(to_try) > 1:
        diagnostics.say(f"{len(to_try)} values to try, one after the other: {', '.join(to_try)}")
    for value in to_try:
        order = found.order(ExperimentKind.TRIAL, (value,), **plan)
        if not verdicts:
            consent(order, yes=choices["yes"])
        summary = carried_out(context, order)
        verdicts.append(summary.verdict.value if isinstance(summary, TrialSummary) else "unknown")
        answer_trial(summary, as_json=choices["as_json"])
    return exit_code(verdicts)


def _resumed(context: click.Context, name: str, choices: dict[str, Any]) -> int:
    """Go on with a trial or sweep as it was ordered. Raises UsageError."""
    with common.notebook(context) as notebook:
        stored = stored_trial(notebook, name)
    target, secrets = common.secrets_for(context, stored.base.target, kerberos=choices["kerberos"])
    order = order_to_resume(stored, target, secrets)
    consent(order, yes=choices["yes"])
    summary = carried_out(context, order)
    answer_trial(summary, as_json=choices["as_json"])
    return exit_code([summary.verdict.value]) if isinstance(summary, TrialSummary) else 0


@click.command("sweep")
@click.argument("settings", metavar="NAME=V1,V2,…", nargs=-1, required=True)
@target_argument()
@click.option("--blocks", type=common.Count(2, 1000), metavar="N", help="How often each value is measured.")
@restart_option
@trial_options
def sweep_command(context: click.Context, /, settings: tuple[str, ...], target: str, **choices: Any) -> int:
    """Measures several values of a setting in turns, and names the smallest that is no worse than the best by 1 %.

    Each block measures what was there and each value once, in a new random order. NAME alone takes the values of the
    catalogue; a socket option such as SO_SNDBUF may be named by itself (SO_SNDBUF=4K,64K,1M).
    """
    if len(settings) > 1:
        raise UsageError("the method changes one setting at a time: sweep each of them by itself")
    name, values = parsed_setting(settings[0], several=True)
    blocks = choices.pop("blocks")
    found = prepared(context, name, values, target, choices)
    order = found.order(ExperimentKind.SWEEP, found.setting.values)
    order = replace(order, plan=replace(order.plan, looks=(blocks or blocks_needed(len(order.plan.values)),)))
    consent(order, yes=choices["yes"])
    answer_trial(carried_out(context, order), as_json=choices["as_json"])
    return 0


@click.command("tune")
@target_argument()
@click.option("--only", multiple=True, metavar="NAME", help="Try this parameter alone; may be given several times.")
@click.option("--stop-after", type=common.Count(1, 1000), default=STOP_AFTER, show_default=True, metavar="N",
    help="So many candidates in a row without a gain end it.")  # fmt: skip
@trial_options
def tune_command(context: click.Context, /, target: str, **choices: Any) -> int:
    """Tries the catalogue's safe settings of smb.conf one after another, in order of impact.

    Each is a `try` on top of what was found before; what has a risk is left out. Everything is put back at the end, and
    one page says what to write into smb.conf, what it is worth, and what was tried for nothing.
    """
    known = {spelling(name).name for name, _ in candidates()}
    if unknown := [name for name in choices["only"] if spelling(name).name not in known]:
        raise UsageError(f"--only {unknown[0]!r}: tune does not try it; it tries {', '.join(sorted(known))}")
    request, load = request_of(context, target, choices)
    ways = Ways(ssh=request.server_ssh, smb_conf=request.smb_conf)
    tuning = Tuning(
        request=request,
        ways=ways,
        looks=LOOKS,
        load=load,
        stop_after=choices["stop_after"],
        only=tuple(choices["only"]),
        first=() if choices["only"] else audited_first(request),
    )
    check_target(request)
    where = ways.ssh or "this machine"
    diagnostics.say(f"{len(candidates(tuning.only))} candidates will be tried on {where}, each a line of smb.conf in a")
    diagnostics.say("drop-in file that is written, proven, measured and put back; what has a risk is left out.")
    for name, value in tuning.first:
        diagnostics.say(f"The audit proposes {name} = {value}: tried first.")
    ask_to_go_on(yes=choices["yes"])
    try:
        summary = _tuned(context, tuning)
    except SharebenchError:
        if tuning.trials:
            answer_report(tune_report(tuning.summary()), as_json=choices["as_json"])
        raise
    answer_report(tune_report(summary), as_json=choices["as_json"])
    return 0


def _tuned(context: click.Context, tuning: Tuning) -> TuneSummary:
    """Carry it out, and show how it goes; what it came to. Raises as a trial does."""
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
