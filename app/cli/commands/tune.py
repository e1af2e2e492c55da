"""``sharebench tune``: tries the recommended settings of a server one after another."""

import shlex
from typing import Any

import click

from app.base.errors import SharebenchError
from app.cli import console, declare, notebooks, option_values, trial_options
from app.cli.targets import target_argument
from app.cli.trial_display import watch_tuning
from app.recording.spec import SeriesSpec
from app.server.changes.setting import Ways
from app.trial import consent, fitting, tune, tune_candidates
from app.trial.target import check_target
from forms.trial.tuning import TuneSummary, tune_report


@declare.command("tune")
@target_argument()
@declare.option("--only", "NAME", "Try only this setting; may be repeated.", multiple=True)
@declare.option(
    "--stop-after",
    "N",
    "Stop after this number of settings in a row without a gain.",
    declare.Count(1, 1000),
    default=tune.STOP_AFTER,
)
@click.option("--allow-restart", is_flag=True, help="Restart smbd if a setting needs it; ends all sessions.")
@trial_options.shared_options
def tune_command(context: click.Context, /, target: str, spec: SeriesSpec, **choices: Any) -> int:
    """Try the recommended settings one after another.

    Tries what an audit proposes first, then the safe settings of the catalogue, in order of impact. Each is a `try` on
    top of those that helped. Settings with a risk are skipped. At the end everything is restored, and one page says
    what to write into smb.conf, what it gains, and what made no difference.
    """
    notebooks.check_can_store(context)
    tune_candidates.check_names(choices["only"])
    request, load = trial_options.request_of(context, target, spec, choices)
    ways = Ways(ssh=spec.monitor.server_ssh, smb_conf=spec.monitor.smb_conf, restart=choices["allow_restart"])
    tuning = tune.Tuning(
        request=request,
        ways=ways,
        load=load,
        stop_after=choices["stop_after"],
        within_seconds=option_values.seconds_within(choices),
        only=tuple(choices["only"]),
        first=tune_candidates.proposed_by_audit(request, ways, choices["only"]),
    )
    tuning.check()
    check_target(request)
    console.say(*consent.tuning_lines(tuning))

    fitted = fitting.FittedRequest(request, 0)
    if not load:
        fitted = fitting.fit_request(request, keeps_size=bool(spec.counts.size_bytes) or spec.counts.make_file)
    console.say(*consent.tuning_time_lines(tuning, fitted))
    if not choices["yes"]:
        console.confirm(consent.QUESTION, declined=consent.DECLINED)
    tuning.measure_fitted(fitted)

    summary = _run_tuning(context, tuning, as_json=choices["as_json"])
    console.answer_report(tune_report(summary), as_json=choices["as_json"])
    return 0


def _run_tuning(context: click.Context, tuning: tune.Tuning, *, as_json: bool) -> TuneSummary:
    """Measure the tuning; where it ends early, what came of it is told before the error is raised."""
    try:
        return watch_tuning(tuning, notebooks.notebook_path(context))
    except SharebenchError:
        if tuning.trials:
            console.answer_report(tune_report(tuning.summary()), as_json=as_json)
        if tuning.trials and tuning.untried:
            before = "write the lines above into smb.conf, then " if tuning.kept_lines else ""
            options = " ".join(f"--only {shlex.quote(name)}" for name in tuning.untried)
            console.say(f"Recommendation: {before}try the rest with the same command and {options}")
        raise
