"""``sharebench try``, ``sweep``, ``tune``, ``restore`` and ``experiment``: changes of settings."""

import contextlib
import math
import os
import shlex
import sys
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from app.audit.engine import AuditRequest, audit_server
from app.base.errors import CancelledError, SharebenchError, UsageError
from app.base.exit_codes import exit_code_of
from app.base.targets import parse_target
from app.cli import common
from app.cli.progress import ProgressLine, cancel_on_signals
from app.cli.run_options import series_options, ssh_host, target_argument
from app.load.scenario import changed, find_scenario
from app.recording.experiments import stored_change, stored_experiment
from app.recording.kind import kind_of
from app.recording.process import RunFinished, RunStarted, SeriesControl
from app.recording.spec import SeriesRequest, SeriesSpec
from app.series.record import SeriesOpened
from app.series.requests import series_request
from app.server.changes.script import ConflictError, undo_command
from app.server.changes.smb_conf import Ways
from app.trial import spec as trial_order
from app.trial.record import run_trial
from app.trial.restore import check_own, owner_text, restore, restored_text, where
from app.trial.tune import STOP_AFTER, Tried, Trying, Tuned, Tuning, candidates
from forms import wording
from forms.audit.report import remedies
from forms.experiments.report import steps_report
from forms.experiments.summary import ExperimentStep, experiment_summary
from forms.layout import visible
from forms.report import Report
from forms.stats.paired import LOOKS
from forms.trial.report import ChangeSummary, change_report, verdict_sentence
from forms.trial.summary import TrialSummary, blocks_needed
from forms.trial.tuning import NotTried, tune_report
from forms.tuning.smb_conf import spelling
from forms.wording import duration, listed
from storage.changes import ChangeState, JournalEntry, LoadWindow
from storage.json_reader import named
from storage.load.records import MOST_USERS
from storage.notebook import Notebook
from storage.records import Command, Decision, ExperimentKind, Phase, with_zone

_SERIES = (
    "command", "size_bytes", "make_file", "link_bits_per_second", "client", "block_bytes", "in_flight", "sign",
    "encrypt", "flush", "server_ssh", "smb_conf", "timeout_seconds", "ceiling", "note", "question",
)  # fmt: skip


LOAD_SETTLE_SECONDS = 1.0


restart_option = click.option(
    "--allow-restart", is_flag=True, help="Restart smbd if the setting needs it; ends all sessions."
)


trial_options = common.several(
    click.option("--yes", is_flag=True, help="Answer the question with yes, for scripts."),
    common.option(
        "--accept-risk", "NAME", "Try the setting NAME although it has a risk.", name="accepted", multiple=True
    ),
    common.option(
        "--load", "USERS", "Measure the requests per second of this number of users; TARGET is a folder.",
        common.Count(1, MOST_USERS), name="users",
    ),
    common.option("--scenario", "NAME|FILE", "Work of the users of --load.", default="small"),
    common.option("--files", "N", "Number of files that the users of --load work on.", common.Count(1, 10_000_000)),
    common.option(
        "--window", "SECONDS", "Length of the measured window of --load.", common.Number(1, 3600),
        name="window_seconds", default=5,
    ),
    common.within_option("Longest time; what is undecided then can be resumed."),
    common.measuring_options("Print the result as JSON."),
    series_options(*_SERIES),
)  # fmt: skip


def prepared(
    context: click.Context, name: str, values: tuple[str, ...], url: str, spec: SeriesSpec, choices: dict[str, Any]
) -> trial_order.Prepared:
    """The checked trial or sweep that the options describe. Raises SharebenchError."""
    request, load = request_of(context, url, spec, choices)
    ways = Ways(
        ssh=spec.monitor.server_ssh,
        smb_conf=spec.monitor.smb_conf,
        accepted=choices["accepted"],
        apply=choices.get("apply"),
        revert=choices.get("revert"),
        restart=choices["allow_restart"],
    )
    keeps_size = bool(spec.counts.size_bytes) or spec.counts.make_file
    return trial_order.prepared(request, name, values, ways, keeps_size=keeps_size, load=load)


def request_of(
    context: click.Context, url: str, spec: SeriesSpec, choices: dict[str, Any]
) -> tuple[SeriesRequest, LoadWindow | None]:
    """The series to measure, or the window of a load. Raises UsageError."""
    users = choices["users"]
    if users is None:
        for name, word in (("scenario", "--scenario"), ("files", "--files"), ("window_seconds", "--window")):
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise UsageError(f"{word} belongs to a load: name its users too, --load USERS")
    else:
        if spec.settings.flush:
            raise UsageError("the users of --load flush nothing: --flush belongs to a put of one file")
        spec = replace(spec, command=Command.PUT)  # whose target is a folder, as that of a load
    target, secrets = common.target_and_secrets(context, url, kerberos=choices["kerberos"])
    one_run = replace(spec.counts, runs=1, warmups=1)
    request = series_request(replace(spec, counts=one_run), target, secrets)
    if users is None:
        return request, None
    scenario = find_scenario(choices["scenario"])
    if not any(kind.reads or kind.writes for kind in scenario.requests):
        raise UsageError(f"the users of {scenario.name} neither read nor write, so there is nothing to compare")
    seconds, settle = choices["window_seconds"], LOAD_SETTLE_SECONDS
    scenario = changed(scenario, files=choices["files"], duration_seconds=seconds, settle_seconds=settle)
    return request, LoadWindow(users=users, processes=len(os.sched_getaffinity(0)), scenario=scenario)


def _carry_out(
    context: click.Context, order: trial_order.TrialOrder, choices: Mapping[str, Any], *, asks: bool = True
) -> str:
    """Show what is written, ask, measure and print; returns a trial's verdict. Raises UsageError, CancelledError."""
    if asks:
        common.say(*trial_order.consent_lines(order))
        if not choices["yes"]:
            common.confirm("Start?", declined="nothing was written")
    summary = carried_out(order, common.notebook_path(context))
    answer_trial(summary, change_report(summary), as_json=choices["as_json"])
    return summary.verdict.value if isinstance(summary, TrialSummary) else ""


def carried_out(order: trial_order.TrialOrder, path: Path, *, redraws: bool = True) -> ChangeSummary:
    control = SeriesControl(order.within_seconds)
    name, ends_at = order.plan.name, time.monotonic() + order.within_seconds
    pace = _Pace(order.plan.looks, len(order.plan.values) + 1, order.experiment.kind, name, ends_at=ends_at)
    try:
        found: ChangeSummary = _watched(run_trial(order, path, control), control, pace, redraws=redraws)
    except CancelledError as error:
        with Notebook(path) as notebook:
            stored = notebook.experiment_called(order.experiment.name)
        if stored is None:  # nothing was measured
            raise CancelledError(control.why_cancelled) from error
        resume = f"`sharebench try --resume {stored.recording_id}` completes it"
        raise CancelledError(f"{control.why_cancelled}; {resume}") from error
    return found


def _watched(
    changing: Generator[Any, None, None], control: SeriesControl, pace: "_Pace", *, tunes: bool = False,
    redraws: bool = True,
) -> Any:  # fmt: skip
    progress = ProgressLine(redraws=redraws)
    summary: Any = None
    is_changed = True
    with cancel_on_signals(control, lambda: is_changed), contextlib.closing(changing) as changes:
        for event in changes:
            match event:
                case Trying(setting=setting, number=number, of=of, why=why):
                    reason = f", which the audit proposes: {why}" if why else ""
                    common.say(f"{number} of {of}: {setting.name} = {setting.values[0] or 'empty'}{reason}")
                    is_changed = True
                    pace.name, pace.done, pace.began = setting.name, 0, time.monotonic()
                case trial_order.ValueSet(value=value, block=block):
                    stands = "as it is" if value is None else f"= {value}"
                    progress.about = f"{pace.place(block)}: {pace.name} {stands}: "
                    progress.show(SeriesOpened(series_id=""))  # a sign of life before the first byte
                case RunStarted():
                    progress.show(replace(event, of=None))  # how many there will be is said of the pairs
                case RunFinished(run=run):
                    pace.done += run.phase is Phase.MEASURED
                    progress.show(event)
                case trial_order.Judged(summary=found) if not tunes:
                    summary, control.limit.is_met = found, True  # from now on it ends in time by itself
                    progress.clear()
                    _say_so_far(found)
                case trial_order.SettingRestored(text=text):
                    progress.clear()
                    if not tunes or control.cancelled.is_set():
                        common.say(text)
                    is_changed = False
                case NotTried(name=name, value=value, why=why):
                    common.say(f"{name} = {value or 'empty'} was proposed by the audit and is skipped: {why}")
                case Tried(summary=of_one):
                    common.say(verdict_sentence(of_one))
                case Tuned(summary=tuned):
                    summary = tuned
                case _:
                    progress.show(event)
    progress.clear()
    assert summary
    return summary


def _say_so_far(found: Any) -> None:
    if isinstance(found, TrialSummary) and found.effect and not found.complete and sys.stderr.isatty():
        common.say(f"pair {len(found.pairs)}{found.so_far}")


@dataclass(slots=True)
class _Pace:
    looks: tuple[int, ...]
    arms: int
    kind: ExperimentKind
    name: str = ""
    done: int = 0
    began: float = field(default_factory=time.monotonic)
    ends_at: float = math.inf

    def place(self, block: int) -> str:
        """``pair 9 (of 14 or 20; at most 3 min left)``, ``block 2 (of 8; …)``."""
        what = "pair" if self.kind is ExperimentKind.TRIAL else "block"
        now = time.monotonic()
        each = (now - self.began) / self.done if self.done else 0.0
        seconds = min(each * (self.looks[-1] * self.arms - self.done), self.ends_at - now)
        left = f"; at most {duration(seconds)} left" if seconds > 0 else ""
        return f"{what} {block} (of {listed([str(look) for look in self.looks if look >= block], 'or')}{left})"


def answer_trial(summary: ChangeSummary | None, report: Report, *, as_json: bool) -> None:
    """``summary`` is None for an experiment of another kind."""
    chart = report.chart
    curve = chart if summary and chart and chart.is_curve and not (as_json or summary.plan.load) else None
    common.answer_report(replace(report, drawn=()) if curve else report, as_json=as_json)
    if summary and not summary.complete:
        common.say(f"Recommendation: sharebench try --resume '{summary.experiment.name}'")
    if curve:
        from app.charts.series_charts import curve_chart  # noqa: PLC0415  plotext is slow to load

        common.answer(curve_chart(curve, common.chart_columns(), common.CHART_LINES, colour=common.draws_colour()))


def parsed_setting(text: str, *, several: bool = False) -> tuple[str, tuple[str, ...]]:
    """Name and values of ``NAME``, ``NAME=VALUE`` or ``NAME=V1,V2``. Raises UsageError."""
    name, equals, rest = (part.strip() for part in text.partition("="))
    if "://" in name:
        parse_target(text)  # its errors come first, such as that of a password
        raise UsageError(
            f"the setting comes first, then the target: {'NAME=V1,V2' if several else 'NAME=VALUE'} TARGET"
        )
    if not name:
        raise UsageError(f"not a setting: {text!r}; write NAME=VALUE, such as 'strict sync=no'")
    values = tuple(part.strip() for part in rest.split(",")) if several else (rest,)
    if len(set(values)) < len(values):
        raise UsageError(f"{text!r} names a value twice")
    return name, values if equals else ()


@common.command("try")
@click.argument("setting", metavar="NAME=VALUE", required=False)
@target_argument(required=False)
@common.option("--resume", "EXPERIMENT", "Resume an interrupted trial or sweep.", name="resumed")
@common.verdict_options
@common.option("--apply", "CMD", "Shell command on the server that makes the change NAME.")
@common.option("--revert", "CMD", "Shell command that restores it; must be harmless if repeated.")
@restart_option
@trial_options
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
    common.check_can_store(context)
    if resumed := choices.pop("resumed"):
        return _resumed(context, resumed, choices)
    if not setting or not target:
        raise UsageError("missing NAME=VALUE or TARGET: sharebench try 'strict sync=no' smb://alice@nas/public/big.iso")
    name, values = parsed_setting(setting)
    plan = {"noise_percent": choices.pop("noise"), "margin_percent": choices.pop("margin")}
    found = prepared(context, name, values, target, spec, choices)
    verdicts: list[str] = []
    to_try = found.setting.values
    if len(to_try) > 1:
        common.say(f"{len(to_try)} values to try, one after the other: {', '.join(to_try)}")
    for value in to_try:
        order = found.order(ExperimentKind.TRIAL, (value,), **plan)
        order = replace(order, within_seconds=common.within(choices) / len(to_try))
        verdicts.append(_carry_out(context, order, choices, asks=not verdicts))
    return exit_code_of(verdicts)


def _resumed(context: click.Context, name: str, choices: dict[str, Any]) -> int:
    allowed = {"yes", "as_json", "kerberos", "within_minutes"}
    stored, place = common.to_resume(context, name, allowed, ExperimentKind.TRIAL, ExperimentKind.SWEEP)
    target, secrets = common.secrets_for(context, place, kerberos=choices["kerberos"])
    order = replace(trial_order.order_to_resume(stored, secrets, target), within_seconds=common.within(choices))
    return exit_code_of([_carry_out(context, order, choices)])


@common.command("sweep")
@click.argument("settings", metavar="NAME=V1,V2,…", nargs=-1, required=True)
@target_argument()
@common.option("--blocks", "N", "Number of measurements of each value.", common.Count(2, 1000))
@restart_option
@trial_options
def sweep_command(
    context: click.Context, /, settings: tuple[str, ...], target: str, spec: SeriesSpec, **choices: Any
) -> int:
    """Find the best of several values: the smallest that is at most 1 % slower than the fastest.

    Each block measures the present value and each new one once, in a new random order. NAME alone takes the values of
    the catalogue. Socket options can be named alone (SO_SNDBUF=4K,64K,1M).
    """
    common.check_can_store(context)
    if len(settings) > 1:
        raise UsageError("the method changes one setting at a time: sweep each of them by itself")
    name, values = parsed_setting(settings[0], several=True)
    blocks = choices.pop("blocks")
    found = prepared(context, name, values, target, spec, choices)
    if len(found.setting.values) < len(values):
        before = f"{found.setting.name} = {found.setting.previous}"
        common.say(f"{before} is the present value: each block measures it once, as the base.")
    looks = (blocks or blocks_needed(len(found.setting.values)),)
    order = replace(found.order(ExperimentKind.SWEEP, looks=looks), within_seconds=common.within(choices))
    _carry_out(context, order, choices)
    return 0


@common.command("tune")
@target_argument()
@common.option("--only", "NAME", "Try only this setting; may be repeated.", multiple=True)
@common.option(
    "--stop-after", "N", "Stop after this number of settings in a row without a gain.", common.Count(1, 1000),
    default=STOP_AFTER,
)  # fmt: skip
@click.option("--allow-restart", is_flag=True, help="Restart smbd if a setting needs it; ends all sessions.")
@trial_options
def tune_command(context: click.Context, /, target: str, spec: SeriesSpec, **choices: Any) -> int:
    """Try the recommended settings one after another.

    Tries what an audit proposes first, then the safe settings of the catalogue, in order of impact. Each is a `try` on
    top of those that helped. Settings with a risk are skipped. At the end everything is restored, and one page says
    what to write into smb.conf, what it gains, and what made no difference.
    """
    common.check_can_store(context)
    known = {spelling(name).name for name, _ in candidates()}
    if unknown := [name for name in choices["only"] if spelling(name).name not in known]:
        raise UsageError(f"--only {unknown[0]!r}: tune does not try it; it tries {', '.join(sorted(known))}")
    request, load = request_of(context, target, spec, choices)
    ways = Ways(ssh=spec.monitor.server_ssh, smb_conf=spec.monitor.smb_conf, restart=choices["allow_restart"])
    only = {spelling(name).name for name in choices["only"]}
    audited = audit_server(AuditRequest(target=request.target, ssh=ways.ssh, smb_conf=ways.smb_conf)).audit
    first = tuple(one for one in remedies(audited.findings) if not only or one.name in only)
    tuning = Tuning(
        request=request, ways=ways, looks=LOOKS, load=load, stop_after=choices["stop_after"],
        within_seconds=common.within(choices), only=tuple(choices["only"]), first=first,
    )  # fmt: skip
    tuning.check()
    trial_order.check_target(request)
    where = ways.ssh or "this machine"
    to_try = candidates(tuning.only)
    settings = wording.count(len(dict(to_try)), "setting")
    common.say(f"{wording.count(len(to_try), 'value')} of {settings} will be tried on {where}, one at a time.")
    common.say("Each is written into a file that smb.conf includes, checked, measured and")
    common.say("restored. Settings that have a risk are skipped.")
    common.say(*(f"The audit proposes {one.name} = {one.value}, so that is tried first." for one in tuning.first))
    if ways.restart and tuning.first:
        common.say("If that needs a restart to take effect, smbd is restarted, which ends all its sessions.")
    found = trial_order.FittedRequest(request, 0)
    if not load:
        found = trial_order.fitted(request, keeps_size=bool(spec.counts.size_bytes) or spec.counts.make_file)
    if found.said:
        common.say(found.said)
    if found.run_seconds:
        common.say(f"Each setting: {trial_order.expected_text(LOOKS, 2, found.run_seconds)}")
        limit = "" if tuning.within_seconds < math.inf else " To limit the time: --within MINUTES."
        common.say(f"It stops after {wording.count(tuning.stop_after, 'setting')} in a row without a gain.{limit}")
    if not choices["yes"]:
        common.confirm("Start?", declined="nothing was written")
    if found.request is not request:
        tuning.usual, tuning.request = replace(found, request=request), found.request
    try:
        control, ends_at = SeriesControl(), time.monotonic() + tuning.within_seconds
        pace = _Pace(tuning.looks, 2, ExperimentKind.TRIAL, ends_at=ends_at)
        summary = _watched(tuning.run(common.notebook_path(context), control), control, pace, tunes=True)
    except SharebenchError:
        if tuning.trials:
            common.answer_report(tune_report(tuning.summary()), as_json=choices["as_json"])
        if tuning.trials and tuning.left:
            before = "write the lines above into smb.conf, then " if tuning.kept else ""
            rest = " ".join(f"--only {shlex.quote(name)}" for name in tuning.left)
            common.say(f"Recommendation: {before}try the rest with the same command and {rest}")
        raise
    common.answer_report(tune_report(summary), as_json=choices["as_json"])
    return 0


@common.command("restore")
@click.option("--list", "listing", is_flag=True, help="Only list what is changed, and how to restore it by hand.")
@common.option(
    "--server-ssh", "[USER@]HOST", "Reach the server by ssh, from another machine than before.", callback=ssh_host
)
@common.answering_options("Print what was changed, as a JSON array.")
def restore_command(context: click.Context, listing: bool, server_ssh: str | None, as_json: bool) -> int:
    """Restore what an interrupted try, sweep, tune or isolate left changed on a server.

    A setting that somebody else has changed since is shown and left alone.
    """
    check_own(common.notebook_path(context))
    with common.notebook(context, make=True) as notebook:
        if listing:
            _list(notebook.journal(ChangeState.OPEN), as_json=as_json)
            common.say(*filter(None, (kind_of(head).leftover_text(notebook, head) for head in notebook.left_over())))
            return 0
        found = restore(notebook, server_ssh, common.say)
    common.say(*(f"{owner_text(entry)}: left alone" for entry in found.at_work))
    if as_json:
        common.answer_json([_document(entry) for entry in found.left])
    elif not found.left and not found.of_isolations:
        common.answer("nothing to restore")
    for one in () if as_json else found.done:
        common.answer(restored_text(one))
    for problem in found.problems:
        if isinstance(problem, ConflictError):
            common.say(*(f"--- {what}, as it is now:\n{text}" for what, text in problem.now.items()))
    common.say(*map(str, found.problems[1:]))
    if found.problems:
        raise found.problems[0]
    return 0


def _list(standing: list[JournalEntry], *, as_json: bool) -> None:
    if as_json:
        common.answer_json([_document(entry) for entry in standing])
        return
    if not standing:
        common.answer("nothing to restore")
    for entry in standing:
        state = "a trial is at work on it" if entry.at_work else "left by an interrupted trial"
        common.answer(
            f"{entry.created_at[:19].replace('T', ' ')}  {entry.name} on {where(entry)}"
            f" ({entry.machine.partition(' ')[0]}), was {entry.effective_before or 'empty'}: {state}\n"
            f"    restore it with: sharebench restore\n    or there, as root: {undo_command(entry.undo_path)}"
        )


def _document(entry: JournalEntry) -> dict[str, str | None]:
    return {
        "id": entry.id, "created_at": entry.created_at, "experiment": entry.experiment, "kind": entry.kind.value,
        "name": entry.name, "server": entry.machine.partition(" ")[0], "ssh": entry.ssh,
        "effective_before": entry.effective_before, "undo_path": entry.undo_path,
    }  # fmt: skip


@click.group("experiment", cls=common.Group)
def experiment_command() -> None:
    """Show a series of changes, one setting at a time; keep or restore steps.

    A base is measured with `run --experiment NAME`, each change with `run --experiment NAME --change NAME=VALUE`.
    """


@experiment_command.command("list")
@common.answering_options("Print a JSON array.")
def list_experiments(context: click.Context, as_json: bool) -> None:
    """List the experiments, surveys and self-tests, newest first."""
    with common.notebook(context) as notebook:
        found = notebook.experiments()
    if as_json:
        counted = ((one, {"series": one.series_count, "last_at": one.last_at}) for one in found)
        common.answer_json([named(one.experiment, "name", "kind") | more for one, more in counted])
        return
    if not found:
        common.say("no experiments yet; begin one with: sharebench run TARGET --experiment NAME")
    for one in found:
        last_at = with_zone(one.last_at)
        kind, name = one.experiment.kind.word, visible(one.experiment.name)
        common.answer(f"{last_at}  {one.series_count:>3} series  {kind:<10}  {name}")


@experiment_command.command("show", short_help="Show an experiment, survey, trial or self-test.")
@click.argument("name")
@common.answering_options("Print it as JSON.")
def show_experiment(context: click.Context, name: str, as_json: bool) -> None:
    """Show the experiment NAME: each change, its gain, and whether it was kept; or a survey or self-test."""
    with common.notebook(context) as notebook:
        answer_trial(stored_change(notebook, name), stored_experiment(notebook, name), as_json=as_json)


@experiment_command.command("keep")
@click.argument("series")
@common.answering_options("Print the experiment as JSON.")
def keep(context: click.Context, series: str, as_json: bool) -> None:
    """Keep the change of SERIES; the next step starts from it."""
    step = _decide(context, series, Decision.KEPT, as_json=as_json)
    common.say(f"kept: the next change is made from series {step.series.id}")


@experiment_command.command("revert", short_help="Record that the change of SERIES was restored.")
@click.argument("series")
@common.answering_options("Print the experiment as JSON.")
def revert(context: click.Context, series: str, as_json: bool) -> None:
    """Record that the change of SERIES was restored; the next step starts from the series before it.

    Nothing is changed on the server; the command says what to restore there.
    """
    step = _decide(context, series, Decision.REVERTED, as_json=as_json)
    change = step.change
    assert change
    what = f"to {visible(change.previous) or 'empty'}" if change.previous is not None else "as it was"
    then = f"series {step.comparison.base_id}" if step.comparison else "the series before it"
    common.say(f"restore {visible(change.name)} {what} yourself; the next change is made from {then}")


def _decide(context: click.Context, reference: str, decision: Decision, *, as_json: bool) -> ExperimentStep:
    with common.notebook(context) as notebook:
        found = notebook.series(reference)
        which = f"series {found.id}"
        if found.experiment is None:
            raise UsageError(f"{which} is part of no experiment, so there is nothing to decide")
        if found.change is None:
            raise UsageError(f"{which} claims no change (run --change NAME=VALUE): there is nothing to decide")
        notebook.annotate(replace(found, decision=decision))
        summary = experiment_summary(found.experiment, notebook.experiment(found.experiment))
    if as_json:
        common.answer_report(steps_report(summary), as_json=True)
    step = summary.step_of(found.id)
    assert step
    return step
