"""What try, sweep and tune share on the command line: options, consent, how it goes, the answer."""

import contextlib
import shutil
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from app.changes.find import Ways, find_setting
from app.changes.setting import ChangeableSetting
from app.cli import common, diagnostics, output
from app.cli.progress import ProgressLine, cancel_on_signals
from app.cli.run_options import chosen, series_options
from app.cli.series_output import CHART_COLUMNS, CHART_LINES, answer_report
from app.errors import CancelledError, UsageError
from app.measure.control import SeriesControl
from app.workflows.consent import consent_lines
from app.workflows.requests import series_request
from app.workflows.trial import run_trial
from app.workflows.trial_order import Judged, PutBack, TrialOrder, ValueSet, check_target, new_order
from forms.numbers import signed_percent
from forms.stats.paired import LOOKS
from forms.trials.judged import ChangeSummary, report_of
from forms.trials.summary import TrialSummary
from forms.trials.sweep import SweepSummary
from storage.changes import TrialPlan
from storage.records import ExperimentKind

_F = TypeVar("_F", bound=Callable[..., Any])
_SERIES = (
    "command", "size_bytes", "make_file", "link_bits_per_second", "client", "block_bytes", "in_flight", "sign",
    "encrypt", "server_ssh", "smb_conf", "timeout_seconds", "ceiling", "note",
)  # fmt: skip


def trial_options(function: _F) -> _F:
    """The options that all three have."""
    for option in reversed(
        (
            click.option("--yes", is_flag=True, help="Consent to what is shown, for scripts."),
            click.option(
                "--accept-risk", "accepted", multiple=True, metavar="NAME", help="Try it although it has a risk."
            ),
            click.option("--json", "as_json", is_flag=True, help="The trial as a document."),
            common.login_options,
            common.options_of_all,
            series_options(*_SERIES),
        )
    ):
        function = option(function)
    return function


def prepared(
    context: click.Context, name: str, values: tuple[str, ...], target_url: str, choices: dict[str, Any]
) -> tuple[ChangeableSetting, Callable[[ExperimentKind, tuple[str, ...], dict[str, Any]], TrialOrder]]:
    """The setting, checked, and what makes an order of it; nothing is written yet."""
    target, secrets = common.target_and_secrets(context, target_url, kerberos=choices["kerberos"])
    request = series_request(chosen({**choices, "runs": 1, "warmup": 1}), target, secrets)
    ways = Ways(
        ssh=request.server_ssh,
        smb_conf=request.smb_conf,
        accepted=choices["accepted"],
        apply=choices.get("apply"),
        revert=choices.get("revert"),
    )
    found = find_setting(name, values, target, ways)
    check_target(request)

    def order_of(kind: ExperimentKind, chosen_values: tuple[str, ...], settings: dict[str, Any]) -> TrialOrder:
        plan = TrialPlan(
            kind=found.kind,
            name=found.name,
            values=chosen_values,
            accepted_risks=tuple(choices["accepted"]),
            apply=ways.apply,
            revert=ways.revert,
            **{"looks": LOOKS, **settings},
        )
        return new_order(request, found, kind=kind, plan=plan)

    return found, order_of


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
                    progress.about = f"{block}: {order.plan.name} {'as it is' if value is None else f'= {value}'}: "
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


def answer_trial(summary: ChangeSummary, *, as_json: bool) -> None:
    """Print what a trial or sweep came to, a sweep with its curve."""
    answer_report(report_of(summary), as_json=as_json)
    if isinstance(summary, SweepSummary) and not as_json:
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
