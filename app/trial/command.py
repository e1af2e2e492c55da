"""``sharebench try``, ``sweep``, ``tune``, ``restore`` and ``experiment``: changes of settings."""

import contextlib
import math
import os
import shlex
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from app.audit.engine import AuditRequest, audit_server
from app.base.errors import CancelledError, SharebenchError, UsageError
from app.base.exit_codes import exit_code_of
from app.base.targets import parse_target
from app.cli import console, declare, logins, notebooks, option_values, resuming
from app.cli.cancelling import cancel_on_signals
from app.cli.progress import ProgressLine
from app.cli.run_options import series_options, ssh_host, target_argument
from app.load.scenario import change_scenario, find_scenario
from app.recording.experiments import stored_change, stored_experiment
from app.recording.kind import kind_of
from app.recording.process import RunFinished, RunStarted, SeriesControl
from app.recording.spec import SeriesRequest, SeriesSpec
from app.series.events import SeriesOpened
from app.series.requests import series_request
from app.server.changes.script import ConflictError, undo_command
from app.server.changes.setting import Ways
from app.trial import consent
from app.trial import spec as trial_order
from app.trial.fitting import FittedRequest, fit_request
from app.trial.record import run_trial
from app.trial.restore import check_own, owner_text, restore, restored_text, server_of
from app.trial.target import check_target
from app.trial.tune import STOP_AFTER, Tried, Trying, Tuned, Tuning, candidates
from forms import wording
from forms.audit.remedies import Remedy, remedies
from forms.experiments.report import steps_report
from forms.experiments.summary import ExperimentStep, experiment_summary
from forms.layout import visible
from forms.report import Report
from forms.stats.paired import LOOKS
from forms.trial.changes_report import ChangeSummary, change_report
from forms.trial.report import verdict_sentence
from forms.trial.summary import TrialSummary
from forms.trial.sweep import blocks_needed
from forms.trial.tuning import NotTried, TuneSummary, tune_report
from forms.tuning.smb_conf import spelling
from forms.wording import duration, listed
from storage.changes import ChangeState, JournalEntry, LoadWindow
from storage.load.records import MOST_FILES, MOST_USERS
from storage.notebook import Notebook
from storage.records import Command, Decision, ExperimentKind, Phase, with_zone

_SERIES = (
    "command",
    "size_bytes",
    "make_file",
    "link_bits_per_second",
    "client",
    "block_bytes",
    "in_flight",
    "sign",
    "encrypt",
    "flush",
    "server_ssh",
    "smb_conf",
    "timeout_seconds",
    "ceiling",
    "note",
    "question",
)
LOAD_SETTLE_SECONDS = 1.0

restart_option = click.option(
    "--allow-restart", is_flag=True, help="Restart smbd if the setting needs it; ends all sessions."
)


trial_options = declare.several(
    click.option("--yes", is_flag=True, help="Answer the question with yes, for scripts."),
    declare.option(
        "--accept-risk", "NAME", "Try the setting NAME although it has a risk.", name="accepted", multiple=True
    ),
    declare.option(
        "--load",
        "USERS",
        "Measure the requests per second of this number of users; TARGET is a folder.",
        declare.Count(1, MOST_USERS),
        name="users",
    ),
    declare.option("--scenario", "NAME|FILE", "Work of the users of --load.", default="small"),
    declare.option("--files", "N", "Number of files that the users of --load work on.", declare.Count(1, MOST_FILES)),
    declare.option(
        "--window",
        "SECONDS",
        "Length of the measured window of --load.",
        declare.Number(1, 3600),
        name="window_seconds",
        default=5,
    ),
    declare.within_option("Longest time; what is undecided then can be resumed."),
    declare.measuring_options("Print the result as JSON."),
    series_options(*_SERIES),
)


def prepare(
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
    return trial_order.prepare(request, name, values, ways, keeps_size=keeps_size, load=load)


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
        # Whose target is a folder, as that of a load.
        spec = replace(spec, command=Command.PUT)

    target, secrets = logins.target_and_secrets(context, url, kerberos=choices["kerberos"])
    one_run = replace(spec.counts, runs=1, warmups=1)
    request = series_request(replace(spec, counts=one_run), target, secrets)
    if users is None:
        return request, None

    scenario = find_scenario(choices["scenario"])
    if not any(kind.reads or kind.writes for kind in scenario.requests):
        raise UsageError(f"the users of {scenario.name} neither read nor write, so there is nothing to compare")
    scenario = change_scenario(
        scenario,
        files=choices["files"],
        duration_seconds=choices["window_seconds"],
        settle_seconds=LOAD_SETTLE_SECONDS,
    )
    return request, LoadWindow(users=users, processes=len(os.sched_getaffinity(0)), scenario=scenario)


def _ask_and_carry_out(
    context: click.Context, order: trial_order.TrialOrder, choices: Mapping[str, Any], *, asks: bool = True
) -> str:
    """Show what is written, ask, measure and print; returns a trial's verdict. Raises UsageError, CancelledError."""
    if asks:
        console.say(*consent.consent_lines(order))
        if not choices["yes"]:
            console.confirm(consent.QUESTION, declined=consent.DECLINED)
    summary = carry_out(order, notebooks.notebook_path(context))
    answer_trial(summary, change_report(summary), as_json=choices["as_json"])
    return summary.verdict.value if isinstance(summary, TrialSummary) else ""


def carry_out(order: trial_order.TrialOrder, path: Path, *, redraws: bool = True) -> ChangeSummary:
    """Measure the trial or sweep, and show it meanwhile. Raises CancelledError, which says how to complete it."""
    control = SeriesControl(order.within_seconds)
    pace = _Pace(
        order.plan.looks,
        len(order.plan.values) + 1,
        order.experiment.kind,
        order.plan.name,
        ends_at=time.monotonic() + order.within_seconds,
    )

    try:
        summary: ChangeSummary = _watch(run_trial(order, path, control), control, pace, redraws=redraws)
    except CancelledError as error:
        with Notebook(path) as notebook:
            stored = notebook.experiment_called(order.experiment.name)
        if stored is None:
            # Nothing was measured.
            raise CancelledError(control.why_cancelled) from error
        resume = f"`sharebench try --resume {stored.recording_id}` completes it"
        raise CancelledError(f"{control.why_cancelled}; {resume}") from error
    return summary


def _watch(
    changing: Generator[Any, None, None],
    control: SeriesControl,
    pace: "_Pace",
    *,
    tunes: bool = False,
    redraws: bool = True,
) -> Any:
    """Show what happens; returns the last summary, of the whole tuning where it ``tunes``."""
    watch = _TrialWatch(control, pace, tunes=tunes, redraws=redraws)

    with cancel_on_signals(control, lambda: watch.is_changed), contextlib.closing(changing) as events:
        for event in events:
            watch.show(event)
    watch.progress.clear()
    assert watch.summary
    return watch.summary


class _TrialWatch:
    """What is shown of a trial or a tuning while it is measured."""

    def __init__(self, control: SeriesControl, pace: "_Pace", *, tunes: bool, redraws: bool) -> None:
        self.progress = ProgressLine(redraws=redraws)
        self.summary: Any = None
        self.is_changed = True
        """Whether a setting is changed on the server, so that a second signal must not end the program."""
        self._control = control
        self._pace = pace
        self._tunes = tunes

    def show(self, event: Any) -> None:
        match event:
            case Trying():
                self._show_trying(event)
            case trial_order.ValueSet(value=value, block=block):
                state = "as it is" if value is None else f"= {value}"
                self.progress.about = f"{self._pace.place(block)}: {self._pace.name} {state}: "
                # A sign of life before the first byte.
                self.progress.show(SeriesOpened(series_id=""))

            case RunStarted():
                # How many there will be is said of the pairs.
                self.progress.show(replace(event, of=None))
            case RunFinished(run=run):
                self._pace.runs_done += run.phase is Phase.MEASURED
                self.progress.show(event)

            case trial_order.Judged(summary=summary) if not self._tunes:
                self.summary = summary
                # From now on it ends in time by itself.
                self._control.limit.is_met = True
                self.progress.clear()
                _say_so_far(summary)
            case trial_order.SettingRestored(text=text):
                self.progress.clear()
                if not self._tunes or self._control.cancelled.is_set():
                    console.say(text)
                self.is_changed = False

            case NotTried(name=name, value=value, why=obstacle):
                console.say(f"{name} = {value or 'empty'} was proposed by the audit and is skipped: {obstacle}")
            case Tried(summary=summary):
                console.say(verdict_sentence(summary))
            case Tuned(summary=summary):
                self.summary = summary
            case _:
                self.progress.show(event)

    def _show_trying(self, event: Trying) -> None:
        reason = f", which the audit proposes: {event.reason}" if event.reason else ""
        value = event.setting.values[0] or "empty"
        console.say(f"{event.number} of {event.of}: {event.setting.name} = {value}{reason}")
        self.is_changed = True
        self._pace.begin(event.setting.name)


def _say_so_far(summary: Any) -> None:
    if isinstance(summary, TrialSummary) and summary.effect and not summary.complete and sys.stderr.isatty():
        console.say(f"pair {len(summary.pairs)}{summary.so_far}")


@dataclass(slots=True)
class _Pace:
    """How far a trial is, and how long the rest will take at most."""

    looks: tuple[int, ...]
    arms: int
    kind: ExperimentKind
    name: str = ""
    runs_done: int = 0
    began: float = field(default_factory=time.monotonic)
    ends_at: float = math.inf

    def place(self, block: int) -> str:
        """``pair 9 (of 14 or 20; at most 3 min left)``, ``block 2 (of 8; …)``."""
        unit = "pair" if self.kind is ExperimentKind.TRIAL else "block"
        now = time.monotonic()
        run_seconds = (now - self.began) / self.runs_done if self.runs_done else 0.0
        runs_to_come = self.looks[-1] * self.arms - self.runs_done
        seconds_left = min(run_seconds * runs_to_come, self.ends_at - now)
        left = f"; at most {duration(seconds_left)} left" if seconds_left > 0 else ""
        looks_to_come = listed([str(look) for look in self.looks if look >= block], "or")
        return f"{unit} {block} (of {looks_to_come}{left})"

    def begin(self, name: str) -> None:
        """Of the next setting of a tuning."""
        self.name = name
        self.runs_done = 0
        self.began = time.monotonic()


def answer_trial(summary: ChangeSummary | None, report: Report, *, as_json: bool) -> None:
    """``summary`` is None for an experiment of another kind."""
    chart = report.chart
    has_curve = chart is not None and chart.is_curve
    curve = chart if summary and has_curve and not (as_json or summary.plan.load) else None
    console.answer_report(replace(report, drawn=()) if curve else report, as_json=as_json)
    if summary and not summary.complete:
        console.say(f"Recommendation: sharebench try --resume '{summary.experiment.name}'")
    if curve:
        from app.charts.series_charts import curve_chart

        console.answer(curve_chart(curve, console.chart_columns(), console.CHART_LINES, colour=console.draws_colour()))


def parsed_setting(text: str, *, several: bool = False) -> tuple[str, tuple[str, ...]]:
    """Name and values of ``NAME``, ``NAME=VALUE`` or ``NAME=V1,V2``. Raises UsageError."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if "://" in name:
        # Its errors come first, such as that of a password.
        parse_target(text)
        form = "NAME=V1,V2" if several else "NAME=VALUE"
        raise UsageError(f"the setting comes first, then the target: {form} TARGET")
    if not name:
        raise UsageError(f"not a setting: {text!r}; write NAME=VALUE, such as 'strict sync=no'")

    values = tuple(word.strip() for word in value.split(",")) if several else (value,)
    if len(set(values)) < len(values):
        raise UsageError(f"{text!r} names a value twice")
    return name, values if equals else ()


@declare.command("try")
@click.argument("setting", metavar="NAME=VALUE", required=False)
@target_argument(required=False)
@declare.option("--resume", "EXPERIMENT", "Resume an interrupted trial or sweep.", name="resumed")
@declare.verdict_options
@declare.option("--apply", "CMD", "Shell command on the server that makes the change NAME.")
@declare.option("--revert", "CMD", "Shell command that restores it; must be harmless if repeated.")
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
    notebooks.check_can_store(context)
    if resumed := choices.pop("resumed"):
        return _resume_trial(context, resumed, choices)
    if not setting or not target:
        raise UsageError("missing NAME=VALUE or TARGET: sharebench try 'strict sync=no' smb://alice@nas/public/big.iso")
    name, values = parsed_setting(setting)
    trial = prepare(context, name, values, target, spec, choices)
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
        verdicts.append(_ask_and_carry_out(context, order, choices, asks=not verdicts))
    return exit_code_of(verdicts)


def _resume_trial(context: click.Context, name: str, choices: dict[str, Any]) -> int:
    allowed = {"yes", "as_json", "kerberos", "within_minutes"}
    stored, place = resuming.recording_to_resume(context, name, allowed, ExperimentKind.TRIAL, ExperimentKind.SWEEP)
    target, secrets = logins.secrets_for(context, place, kerberos=choices["kerberos"])
    order = replace(
        trial_order.order_to_resume(stored, secrets, target), within_seconds=option_values.seconds_within(choices)
    )
    return exit_code_of([_ask_and_carry_out(context, order, choices)])


@declare.command("sweep")
@click.argument("settings", metavar="NAME=V1,V2,…", nargs=-1, required=True)
@target_argument()
@declare.option("--blocks", "N", "Number of measurements of each value.", declare.Count(2, 1000))
@restart_option
@trial_options
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
    name, values = parsed_setting(settings[0], several=True)
    sweep = prepare(context, name, values, target, spec, choices)
    setting = sweep.setting
    if len(setting.values) < len(values):
        before = f"{setting.name} = {setting.previous}"
        console.say(f"{before} is the present value: each block measures it once, as the base.")

    blocks = choices["blocks"] or blocks_needed(len(setting.values))
    order = sweep.order(ExperimentKind.SWEEP, looks=(blocks,))
    order = replace(order, within_seconds=option_values.seconds_within(choices))
    _ask_and_carry_out(context, order, choices)
    return 0


@declare.command("tune")
@target_argument()
@declare.option("--only", "NAME", "Try only this setting; may be repeated.", multiple=True)
@declare.option(
    "--stop-after",
    "N",
    "Stop after this number of settings in a row without a gain.",
    declare.Count(1, 1000),
    default=STOP_AFTER,
)
@click.option("--allow-restart", is_flag=True, help="Restart smbd if a setting needs it; ends all sessions.")
@trial_options
def tune_command(context: click.Context, /, target: str, spec: SeriesSpec, **choices: Any) -> int:
    """Try the recommended settings one after another.

    Tries what an audit proposes first, then the safe settings of the catalogue, in order of impact. Each is a `try` on
    top of those that helped. Settings with a risk are skipped. At the end everything is restored, and one page says
    what to write into smb.conf, what it gains, and what made no difference.
    """
    notebooks.check_can_store(context)
    _check_names(choices["only"])
    request, load = request_of(context, target, spec, choices)
    ways = Ways(ssh=spec.monitor.server_ssh, smb_conf=spec.monitor.smb_conf, restart=choices["allow_restart"])
    tuning = Tuning(
        request=request,
        ways=ways,
        looks=LOOKS,
        load=load,
        stop_after=choices["stop_after"],
        within_seconds=option_values.seconds_within(choices),
        only=tuple(choices["only"]),
        first=_proposed_by_audit(request, ways, choices["only"]),
    )
    tuning.check()
    check_target(request)
    _say_what_is_tried(tuning)

    usual = FittedRequest(request, 0)
    if not load:
        usual = fit_request(request, keeps_size=bool(spec.counts.size_bytes) or spec.counts.make_file)
    _say_how_long(tuning, usual)
    if not choices["yes"]:
        console.confirm(consent.QUESTION, declined=consent.DECLINED)
    if usual.request is not request:
        tuning.usual = replace(usual, request=request)
        tuning.request = usual.request

    summary = _tune(tuning, notebooks.notebook_path(context), as_json=choices["as_json"])
    console.answer_report(tune_report(summary), as_json=choices["as_json"])
    return 0


def _check_names(only: Sequence[str]) -> None:
    """Raises UsageError for a name that a tuning does not try."""
    known_names = {spelling(name).name for name, _ in candidates()}
    for name in only:
        if spelling(name).name not in known_names:
            raise UsageError(f"--only {name!r}: tune does not try it; it tries {', '.join(sorted(known_names))}")


def _proposed_by_audit(request: SeriesRequest, ways: Ways, only: Sequence[str]) -> tuple[Remedy, ...]:
    wanted_names = {spelling(name).name for name in only}
    audit = audit_server(AuditRequest(target=request.target, ssh=ways.ssh, smb_conf=ways.smb_conf)).audit
    return tuple(remedy for remedy in remedies(audit.findings) if not wanted_names or remedy.name in wanted_names)


def _say_what_is_tried(tuning: Tuning) -> None:
    to_try = candidates(tuning.only)
    values = wording.count(len(to_try), "value")
    settings = wording.count(len(dict(to_try)), "setting")
    where = tuning.ways.ssh or "this machine"
    console.say(f"{values} of {settings} will be tried on {where}, one at a time.")
    console.say("Each is written into a file that smb.conf includes, checked, measured and")
    console.say("restored. Settings that have a risk are skipped.")
    for remedy in tuning.first:
        console.say(f"The audit proposes {remedy.name} = {remedy.value}, so that is tried first.")
    if tuning.ways.restart and tuning.first:
        console.say("If that needs a restart to take effect, smbd is restarted, which ends all its sessions.")


def _say_how_long(tuning: Tuning, usual: FittedRequest) -> None:
    if usual.explanation:
        console.say(usual.explanation)
    if usual.run_seconds:
        console.say(f"Each setting: {consent.expected_text(LOOKS, 2, usual.run_seconds)}")
        limit = "" if tuning.within_seconds < math.inf else " To limit the time: --within MINUTES."
        console.say(f"It stops after {wording.count(tuning.stop_after, 'setting')} in a row without a gain.{limit}")


def _tune(tuning: Tuning, path: Path, *, as_json: bool) -> TuneSummary:
    """Measure the tuning; where it ends early, what came of it is told before the error is raised."""
    control = SeriesControl()
    pace = _Pace(tuning.looks, 2, ExperimentKind.TRIAL, ends_at=time.monotonic() + tuning.within_seconds)

    try:
        summary: TuneSummary = _watch(tuning.run(path, control), control, pace, tunes=True)
    except SharebenchError:
        if tuning.trials:
            console.answer_report(tune_report(tuning.summary()), as_json=as_json)
        if tuning.trials and tuning.left:
            before = "write the lines above into smb.conf, then " if tuning.kept_lines else ""
            untried = " ".join(f"--only {shlex.quote(name)}" for name in tuning.left)
            console.say(f"Recommendation: {before}try the rest with the same command and {untried}")
        raise
    return summary


@declare.command("restore")
@click.option("--list", "listing", is_flag=True, help="Only list what is changed, and how to restore it by hand.")
@declare.option(
    "--server-ssh", "[USER@]HOST", "Reach the server by ssh, from another machine than before.", callback=ssh_host
)
@declare.answering_options("Print what was changed, as a JSON array.")
def restore_command(context: click.Context, listing: bool, server_ssh: str | None, as_json: bool) -> int:
    """Restore what an interrupted try, sweep, tune or isolate left changed on a server.

    A setting that somebody else has changed since is shown and left alone.
    """
    check_own(notebooks.notebook_path(context))
    with notebooks.open_notebook(context, make=True) as notebook:
        if listing:
            _list_changes(notebook.journal(ChangeState.OPEN), as_json=as_json)
            console.say(*filter(None, (kind_of(head).leftover_text(notebook, head) for head in notebook.left_over())))
            return 0
        restoration = restore(notebook, server_ssh, console.say)

    console.say(*(f"{owner_text(entry)}: left alone" for entry in restoration.at_work))
    if as_json:
        console.answer_json([_document(entry) for entry in restoration.left])
    else:
        if not restoration.left and not restoration.of_isolations:
            console.answer("nothing to restore")
        for restored in restoration.restored:
            console.answer(restored_text(restored))

    for problem in restoration.problems:
        if isinstance(problem, ConflictError):
            console.say(*(f"--- {file}, as it is now:\n{text}" for file, text in problem.now.items()))
    console.say(*map(str, restoration.problems[1:]))
    if restoration.problems:
        raise restoration.problems[0]
    return 0


def _list_changes(entries: list[JournalEntry], *, as_json: bool) -> None:
    if as_json:
        console.answer_json([_document(entry) for entry in entries])
        return
    if not entries:
        console.answer("nothing to restore")
    for entry in entries:
        state = "a trial is at work on it" if entry.at_work else "left by an interrupted trial"
        console.answer(
            f"{entry.created_at[:19].replace('T', ' ')}  {entry.name} on {server_of(entry)}"
            f" ({entry.machine.partition(' ')[0]}), was {entry.effective_before or 'empty'}: {state}\n"
            f"    restore it with: sharebench restore\n    or there, as root: {undo_command(entry.undo_path)}"
        )


def _document(entry: JournalEntry) -> dict[str, str | None]:
    return {
        "id": entry.id,
        "created_at": entry.created_at,
        "experiment": entry.experiment,
        "kind": entry.kind.value,
        "name": entry.name,
        "server": entry.machine.partition(" ")[0],
        "ssh": entry.ssh,
        "effective_before": entry.effective_before,
        "undo_path": entry.undo_path,
    }


@click.group("experiment", cls=declare.Group)
def experiment_command() -> None:
    """Show a series of changes, one setting at a time; keep or restore steps.

    A base is measured with `run --experiment NAME`, each change with `run --experiment NAME --change NAME=VALUE`.
    """


@experiment_command.command("list")
@declare.answering_options("Print a JSON array.")
def list_experiments(context: click.Context, as_json: bool) -> None:
    """List the experiments, surveys and self-tests, newest first."""
    with notebooks.open_notebook(context) as notebook:
        entries = notebook.experiments()
    if as_json:
        console.answer_json(
            [
                {
                    "name": entry.experiment.name,
                    "kind": entry.experiment.kind,
                    "series": entry.series_count,
                    "last_at": entry.last_at,
                }
                for entry in entries
            ]
        )
        return

    if not entries:
        console.say("no experiments yet; begin one with: sharebench run TARGET --experiment NAME")
    for entry in entries:
        kind = entry.experiment.kind.word
        name = visible(entry.experiment.name)
        console.answer(f"{with_zone(entry.last_at)}  {entry.series_count:>3} series  {kind:<10}  {name}")


@experiment_command.command("show", short_help="Show an experiment, survey, trial or self-test.")
@click.argument("name")
@declare.answering_options("Print it as JSON.")
def show_experiment(context: click.Context, name: str, as_json: bool) -> None:
    """Show the experiment NAME: each change, its gain, and whether it was kept; or a survey or self-test."""
    with notebooks.open_notebook(context) as notebook:
        answer_trial(stored_change(notebook, name), stored_experiment(notebook, name), as_json=as_json)


@experiment_command.command("keep")
@click.argument("series")
@declare.answering_options("Print the experiment as JSON.")
def keep(context: click.Context, series: str, as_json: bool) -> None:
    """Keep the change of SERIES; the next step starts from it."""
    step = _decide(context, series, Decision.KEPT, as_json=as_json)
    console.say(f"kept: the next change is made from series {step.series.id}")


@experiment_command.command("revert", short_help="Record that the change of SERIES was restored.")
@click.argument("series")
@declare.answering_options("Print the experiment as JSON.")
def revert(context: click.Context, series: str, as_json: bool) -> None:
    """Record that the change of SERIES was restored; the next step starts from the series before it.

    Nothing is changed on the server; the command says what to restore there.
    """
    step = _decide(context, series, Decision.REVERTED, as_json=as_json)
    change = step.change
    assert change

    value = "as it was"
    if change.previous is not None:
        value = f"to {visible(change.previous) or 'empty'}"
    base = f"series {step.comparison.base_id}" if step.comparison else "the series before it"
    console.say(f"restore {visible(change.name)} {value} yourself; the next change is made from {base}")


def _decide(context: click.Context, reference: str, decision: Decision, *, as_json: bool) -> ExperimentStep:
    with notebooks.open_notebook(context) as notebook:
        series = notebook.series(reference)
        if series.experiment is None:
            raise UsageError(f"series {series.id} is part of no experiment, so there is nothing to decide")
        if series.change is None:
            raise UsageError(
                f"series {series.id} claims no change (run --change NAME=VALUE): there is nothing to decide"
            )
        notebook.annotate(replace(series, decision=decision))
        summary = experiment_summary(series.experiment, notebook.experiment(series.experiment))

    if as_json:
        console.answer_report(steps_report(summary), as_json=True)
    step = summary.step_of(series.id)
    assert step
    return step
