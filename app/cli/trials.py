"""What try, sweep and tune share on the command line: options, consent, how it goes, the answer."""

import contextlib
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import click
from click.core import ParameterSource

from app.changes.find import Ways, find_setting
from app.changes.setting import ChangeableSetting
from app.cli import common, diagnostics, output
from app.cli.progress import ProgressLine, cancel_on_signals
from app.cli.run_options import chosen, series_options
from app.cli.series_output import CHART_COLUMNS, CHART_LINES, answer_report
from app.errors import CancelledError, UsageError
from app.load.scenario import changed, find_scenario
from app.measure.control import SeriesControl
from app.measure.events import RunStarted
from app.recorder.request import SeriesRequest
from app.workflows.consent import consent_lines
from app.workflows.requests import series_request
from app.workflows.trial import run_trial
from app.workflows.trial_order import Judged, PutBack, TrialOrder, ValueSet, check_target, new_order
from forms.stats.paired import LOOKS
from forms.trials.judged import ChangeSummary, report_of
from forms.trials.summary import TrialDoubt, TrialSummary
from forms.trials.sweep import SweepSummary
from forms.wording import listed, signed_percent
from storage.changes import LoadWindow, TrialPlan
from storage.loads.records import MOST_USERS
from storage.records import Command, ExperimentKind

_SERIES = (
    "command", "size_bytes", "make_file", "link_bits_per_second", "client", "block_bytes", "in_flight", "sign",
    "encrypt", "server_ssh", "smb_conf", "timeout_seconds", "ceiling", "note", "question",
)  # fmt: skip


LOAD_SETTLE_SECONDS = 1.0
"""After the logins of a window's users, before it counts."""


restart_option = click.option(
    "--allow-restart", is_flag=True, help="Restart smbd for what only that brings into effect; ends all sessions."
)


trial_options = common.several(
    click.option("--yes", is_flag=True, help="Consent to what is shown, for scripts."),
    click.option("--accept-risk", "accepted", multiple=True, metavar="NAME", help="Try it although it has a risk."),
    click.option(
        "--load",
        "users",
        type=common.Count(1, MOST_USERS),
        metavar="USERS",
        help="Measure requests a second of so many users in place of one transfer; TARGET is a folder.",
    ),
    click.option(
        "--scenario",
        default="small",
        show_default=True,
        metavar="NAME|FILE",
        help="What these users do, as in `load`.",
    ),
    click.option("--files", type=common.Count(1, 10_000_000), metavar="N", help="Files that they work on."),
    click.option(
        "--window",
        "window_seconds",
        type=common.Number(1, 3600),
        default=5,
        show_default=True,
        metavar="SECONDS",
        help="Of each load.",
    ),
    click.option("--json", "as_json", is_flag=True, help="The trial as a document."),
    common.login_options,
    common.options_of_all,
    series_options(*_SERIES),
)
"""The options that all three have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What is to be tried, checked; nothing is written yet."""

    request: SeriesRequest
    setting: ChangeableSetting
    choices: Mapping[str, Any]
    load: LoadWindow | None

    def order(self, kind: ExperimentKind, values: tuple[str, ...], **fields: Any) -> TrialOrder:
        """The order of a trial or sweep of these values."""
        choices, setting = self.choices, self.setting
        usual = {
            "looks": LOOKS,
            "accepted_risks": tuple(choices["accepted"]),
            "allow_restart": choices["allow_restart"],
            "apply": choices.get("apply"),
            "revert": choices.get("revert"),
            "load": self.load,
        }
        plan = TrialPlan(kind=setting.kind, name=setting.name, values=values, **{**usual, **fields})
        return new_order(self.request, setting, kind=kind, plan=plan)


def prepared(context: click.Context, name: str, values: tuple[str, ...], url: str, choices: dict[str, Any]) -> Prepared:
    """Look at the setting and at the target. Raises SharebenchError."""
    request, load = request_of(context, url, choices)
    ways = Ways(
        ssh=request.server_ssh,
        smb_conf=request.smb_conf,
        accepted=choices["accepted"],
        apply=choices.get("apply"),
        revert=choices.get("revert"),
        restart=choices["allow_restart"],
    )
    setting = find_setting(name, values, request.plan.target, ways)
    check_target(request)
    return Prepared(request=request, setting=setting, choices=choices, load=load)


def request_of(context: click.Context, url: str, choices: dict[str, Any]) -> tuple[SeriesRequest, LoadWindow | None]:
    """What is to be measured, and the window of a load in place of a transfer. Raises UsageError."""
    users = choices["users"]
    if users is None:
        for name, word in (("scenario", "--scenario"), ("files", "--files"), ("window_seconds", "--window")):
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise UsageError(f"{word} belongs to a load: name its users too, --load USERS")
    else:
        choices = {**choices, "command": Command.PUT.value}  # whose target is a folder, as that of a load
    target, secrets = common.target_and_secrets(context, url, kerberos=choices["kerberos"])
    request = series_request(chosen({**choices, "runs": 1, "warmup": 1}), target, secrets)
    if users is None:
        return request, None
    scenario = find_scenario(choices["scenario"])
    if not any(kind.reads or kind.writes for kind in scenario.requests):
        raise UsageError(f"the users of {scenario.name} neither read nor write, so there is nothing to compare")
    return request, LoadWindow(
        users=users,
        processes=len(os.sched_getaffinity(0)),
        scenario=changed(
            scenario, files=choices["files"], duration=choices["window_seconds"], settle=LOAD_SETTLE_SECONDS
        ),
    )


def consent(order: TrialOrder, *, yes: bool) -> None:
    """Show what would be written and how it is undone, and ask. Raises UsageError, CancelledError."""
    for line in consent_lines(order):
        diagnostics.say(line)
    ask_to_go_on(yes=yes)


def ask_to_go_on(*, yes: bool) -> None:
    """Ask, unless it was said before. Raises UsageError, CancelledError."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("nobody is here to consent to that: say so with --yes; nothing was written")
    if not click.confirm("Go on?", err=True):
        raise CancelledError("nothing was written")


def carried_out(context: click.Context, order: TrialOrder) -> ChangeSummary:
    """Carry it out, and show how it goes; what it came to."""
    control, progress = SeriesControl(), ProgressLine()
    summary: ChangeSummary | None = None
    with (
        cancel_on_signals(control),
        contextlib.closing(run_trial(order, common.notebook_path(context), control)) as events,
    ):
        for event in events:
            match event:
                case ValueSet(value=value, block=block):
                    tried = "as it is" if value is None else f"= {value}"
                    progress.about = f"{_place(block, order)}: {order.plan.name} {tried}: "
                case RunStarted():
                    progress.show(replace(event, of=None))  # how many there will be is said of the pairs
                case Judged(summary=found):
                    summary = found
                    progress.clear()
                    if isinstance(found, TrialSummary) and found.effect and not found.complete and sys.stderr.isatty():
                        diagnostics.say(
                            f"pair {len(found.pairs)}: {signed_percent(found.effect.change_percent)} so far"
                        )
                case PutBack(text=text):
                    progress.clear()
                    diagnostics.say(text)
                case _:
                    progress.show(event)
    progress.clear()
    assert summary
    return summary


def _place(block: int, order: TrialOrder) -> str:
    """Where a trial or sweep is: ``pair 7 (of 8, 14 or 20)``, ``block 2 (of 8)``."""
    what = "pair" if order.experiment.kind is ExperimentKind.TRIAL else "block"
    return f"{what} {block} (of {listed(list(map(str, order.plan.looks)), 'or')})"


def answer_trial(summary: ChangeSummary, *, as_json: bool) -> None:
    """Print what a trial or sweep came to, a sweep with its curve."""
    report = report_of(summary)
    curve = isinstance(summary, SweepSummary) and not (as_json or summary.plan.axes or summary.plan.load)
    answer_report(replace(report, chart=None) if curve else report, as_json=as_json)
    if isinstance(summary, TrialSummary) and summary.doubt is TrialDoubt.FEW_PAIRS:
        diagnostics.say(f"sharebench: what to do: sharebench try --resume '{summary.experiment.name}'")
    if isinstance(summary, SweepSummary) and curve:
        from app.charts.trial_sweep import sweep_curve  # noqa: PLC0415  plotext is slow to load

        width = min(shutil.get_terminal_size().columns, CHART_COLUMNS)
        output.answer(sweep_curve(summary, width, CHART_LINES, colour=output.draws_colour()))


def parsed_setting(text: str, *, several: bool = False) -> tuple[str, tuple[str, ...]]:
    """Name and values of ``NAME``, ``NAME=VALUE`` or ``NAME=V1,V2``. Raises UsageError."""
    name, equals, rest = (part.strip() for part in text.partition("="))
    if not name:
        raise UsageError(f"not a setting: {text!r}; write NAME=VALUE, such as 'strict sync=no'")
    values = tuple(part.strip() for part in rest.split(",")) if several else (rest,)
    if len(set(values)) < len(values):
        raise UsageError(f"{text!r} names a value twice")
    return name, values if equals else ()
