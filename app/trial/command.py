"""``sharebench try`` and ``sweep``: change one setting of a server, measure it with each value, and restore it."""

from dataclasses import replace
from typing import Any

import click

from app.base.errors import UsageError
from app.base.exit_codes import exit_code_of
from app.cli import console, declare, logins, notebooks, option_values, resuming, trial_options
from app.cli.targets import target_argument
from app.cli.trial_run import ask_and_carry_out
from app.recording.spec import SeriesSpec
from app.trial.resume import order_to_resume
from forms.trial.sweep import blocks_needed
from storage.records import ExperimentKind


@declare.command("try")
@click.argument("setting", metavar="NAME=VALUE", required=False)
@target_argument(required=False)
@declare.option("--resume", "EXPERIMENT", "Resume an interrupted trial or sweep.", name="resumed")
@declare.verdict_options
@declare.option("--apply", "CMD", "Shell command on the server that makes the change NAME.")
@declare.option("--revert", "CMD", "Shell command that restores it; must be harmless if repeated.")
@trial_options.restart_option
@trial_options.shared_options
def try_command(
    context: click.Context, /, setting: str | None, target: str | None, spec: SeriesSpec, **choices: Any
) -> int:
    """Change one setting of a server, measure with and without it, and restore it.

    Pairs are measured in random order (A B or B A), so that other activity on the machine cannot bias the result.

    NAME=VALUE is a line of smb.conf, a kernel setting (net.ipv4.tcp_congestion_control=bbr) or one of a network card
    (mtu@eth0=9000, tso@eth0=off, rx-usecs@eth0=0); NAME alone tries the values of the catalogue. --apply and --revert
    change anything else. Run it as root on the server, or with --server-ssh root@HOST. It shows what it will write and
    where, and asks first. At the end every file is restored byte for byte; after a crash `sharebench restore` does it.
    Exit code 0: not slower; 1: slower; 3: inconclusive.
    """
    notebooks.check_can_store(context)
    if resumed := choices.pop("resumed"):
        return _resume_trial(context, resumed, choices)
    if not setting or not target:
        raise UsageError("missing NAME=VALUE or TARGET: sharebench try 'strict sync=no' smb://alice@nas/public/big.iso")

    name, values = trial_options.parsed_setting(setting)
    trial = trial_options.prepared_trial(context, name, values, target, spec, choices)
    values_to_try = trial.setting.values
    if len(values_to_try) > 1:
        console.say(f"{len(values_to_try)} values to try, one after the other: {', '.join(values_to_try)}")

    verdicts: list[str] = []
    for value in values_to_try:
        order = trial.order(
            ExperimentKind.TRIAL,
            (value,),
            noise_percent=choices["noise"],
            margin_percent=choices["margin"],
        )
        order = replace(order, within_seconds=option_values.seconds_within(choices) / len(values_to_try))
        verdicts.append(ask_and_carry_out(context, order, choices, asks=not verdicts))
    return exit_code_of(verdicts)


def _resume_trial(context: click.Context, name: str, choices: dict[str, Any]) -> int:
    """Complete an interrupted trial or sweep. Raises UsageError for an option that would change it."""
    allowed = {"yes", "as_json", "kerberos", "within_minutes"}
    stored, place = resuming.recording_to_resume(context, name, allowed, ExperimentKind.TRIAL, ExperimentKind.SWEEP)
    target, secrets = logins.secrets_for(context, place, kerberos=choices["kerberos"])
    order = order_to_resume(stored, secrets, target)
    order = replace(order, within_seconds=option_values.seconds_within(choices))
    return exit_code_of([ask_and_carry_out(context, order, choices)])


@declare.command("sweep")
@click.argument("settings", metavar="NAME=V1,V2,…", nargs=-1, required=True)
@target_argument()
@declare.option("--blocks", "N", "Number of measurements of each value.", declare.Count(2, 1000))
@trial_options.restart_option
@trial_options.shared_options
def sweep_command(
    context: click.Context, /, settings: tuple[str, ...], target: str, spec: SeriesSpec, **choices: Any
) -> int:
    """Find the best of several values: the smallest that is at most 1 % slower than the fastest.

    Each block measures the present value and each new one once, in a new random order. NAME alone takes the values of
    the catalogue. Socket options can be named alone (SO_SNDBUF=4K,64K,1M).
    """
    notebooks.check_can_store(context)
    if len(settings) > 1:
        raise UsageError("the method changes one setting at a time: sweep each of them by itself")

    name, values = trial_options.parsed_setting(settings[0], several=True)
    sweep = trial_options.prepared_trial(context, name, values, target, spec, choices)
    setting = sweep.setting
    if len(setting.values) < len(values):
        before = f"{setting.name} = {setting.previous}"
        console.say(f"{before} is the present value: each block measures it once, as the base.")

    blocks = choices["blocks"] or blocks_needed(len(setting.values))
    order = sweep.order(ExperimentKind.SWEEP, looks=(blocks,))
    order = replace(order, within_seconds=option_values.seconds_within(choices))
    ask_and_carry_out(context, order, choices)
    return 0
