"""``sharebench try``: a setting that is changed, measured in turns, and put back."""

from dataclasses import replace
from typing import Any

import click

from app.changes.find import Ways, find_setting
from app.cli import common, diagnostics
from app.cli.commands.compare import exit_code
from app.cli.run_options import target_argument
from app.cli.trials import answer_trial, carried_out, consent, parsed_setting, prepared, trial_options
from app.errors import UsageError
from app.workflows.requests import options_of, series_request
from app.workflows.trial_order import TrialOrder
from forms.trials.summary import TrialSummary
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
@click.option("--revert", metavar="CMD", help="The command that takes it back.")
@trial_options
@click.pass_context
def try_command(context: click.Context, /, setting: str | None, target: str | None, **choices: Any) -> int:
    """Changes a setting of the server itself, measures with and without it in turns (A B B A), and puts it back.

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
    found, order_of = prepared(context, name, values, target, choices)
    verdicts: list[str] = []
    if len(found.values) > 1:
        diagnostics.say(f"{len(found.values)} values to try, one after the other: {', '.join(found.values)}")
    for value in found.values:
        order = order_of(ExperimentKind.TRIAL, (value,), plan)
        if not verdicts:
            consent(order, yes=choices["yes"])
        summary = carried_out(context, order)
        verdicts.append(summary.verdict.value if isinstance(summary, TrialSummary) else "unknown")
        answer_trial(summary, as_json=choices["as_json"])
    return exit_code(verdicts)


def _resumed(context: click.Context, name: str, choices: dict[str, Any]) -> int:
    """Go on with a trial or sweep as it was ordered. Raises UsageError."""
    with common.notebook(context) as notebook:
        experiment, plan, series = notebook.experiment_called(name), notebook.trial(name), notebook.experiment(name)
    if experiment is None or plan is None or not series:
        raise UsageError(f"no trial or sweep is called {name!r}; `sharebench experiment list` shows what there is")
    if any(one.imported_at for one in series):
        raise UsageError(f"{name!r} was imported: it cannot be gone on with, only measured anew")
    options = replace(options_of(series[0]), server_ssh=plan.server_ssh, experiment=None)
    target, secrets = common.secrets_for(context, series[0].target, kerberos=choices["kerberos"])
    ways = Ways(
        ssh=plan.server_ssh,
        smb_conf=plan.smb_conf,
        accepted=plan.accepted_risks,
        apply=plan.apply,
        revert=plan.revert,
    )
    found = find_setting(plan.name, () if plan.apply else plan.values, target, ways)
    if plan.previous is None or found.previous is None or not found.same(found.previous, plan.previous):
        raise UsageError(
            f"{plan.name} is {found.previous} now and was {plan.previous} when {name!r} began: what was measured then"
            " does not belong to what would be now; begin a new one"
        )
    order = TrialOrder(
        request=series_request(options, target, secrets), setting=found, plan=plan, experiment=experiment
    )
    consent(order, yes=choices["yes"])
    summary = carried_out(context, order)
    answer_trial(summary, as_json=choices["as_json"])
    return exit_code([summary.verdict.value]) if isinstance(summary, TrialSummary) else 0
