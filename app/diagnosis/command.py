"""``sharebench diagnose``: why do the users of a share complain?"""

from typing import Any

import click

from app.base.errors import UsageError
from app.cli import console, declare, logins, notebooks, option_values, resuming
from app.cli.cancelling import exit_code_when_complete
from app.cli.progress import StatusLine, watch_to_end
from app.cli.run_options import OF_THE_SERVER, series_options
from app.cli.targets import target_argument
from app.diagnosis import record as diagnosing
from app.diagnosis.plan import SIZES
from app.diagnosis.spec import DiagnosisRequest, amount_text, check_request, parse_stages, request_of
from app.recording.process import SeriesControl, Warned
from app.recording.spec import SeriesSpec
from forms.diagnosis.report import STAGE_NAMES, diagnosis_report
from forms.wording import binary_size
from storage.looks import DIAGNOSIS, Diagnosis, Effort, StageName
from storage.records import SeriesStatus

_THOROUGH = SIZES[Effort.THOROUGH]
_HELP_OF_THOROUGH = (
    f"Also a folder of {max(_THOROUGH.entries):,} entries and a run of {binary_size(_THOROUGH.long_bytes)}."
)


def _parse_only(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[StageName, ...]:
    return parse_stages(value)


@declare.command("diagnose")
@target_argument(required=False)
@declare.option(
    "--only",
    "NAME,…",
    f"Measure these stages only: {', '.join(StageName)}.",
    default="",
    callback=_parse_only,
)
@click.option("--folder", metavar="PATH", help="List this existing folder of the share, in place of new ones.")
@click.option("--quick", is_flag=True, help="About a tenth of the files and bytes, in a minute or two.")
@click.option("--thorough", is_flag=True, help=_HELP_OF_THOROUGH)
@declare.whole_time_option
@click.option("--yes", is_flag=True, help="Consent to the files that are created, for scripts.")
@click.option("--resume", "resume_reference", metavar="DIAGNOSIS", help="Complete an interrupted diagnosis.")
@declare.measuring_options("Print the diagnosis as JSON.")
@series_options("profile", "label", "question", *OF_THE_SERVER)
def diagnose_command(
    context: click.Context,
    /,
    target: str | None,
    resume_reference: str | None,
    yes: bool,
    spec: SeriesSpec,
    **choices: Any,
) -> int:
    """Find out why users complain.

    Audits the server, then measures what users wait for: the first connect, distance, many small files, large folders,
    signing and encryption, a long run, several connections. Prints what is wrong, the costliest first, each with the
    one change to try. Everything it creates lies in one folder on the share, takes at most 10 % of the free space, and
    is removed at the end.

    Exit codes: 0 complete, whatever it found; 4 a stage failed.
    """
    notebooks.check_can_store(context)
    control = SeriesControl(option_values.seconds_within(choices))
    resumed: Diagnosis | None = None
    if resume_reference:
        resumed, place = resuming.recording_to_resume(
            context, resume_reference, resuming.ALLOWED_WITH_RESUME, DIAGNOSIS, target=target
        )
        _, secrets = logins.secrets_for(context, place, kerberos=choices["kerberos"])
        request = request_of(resumed, secrets)
    elif target:
        request = _diagnosis_request(context, target, spec, choices)
    else:
        raise UsageError("name the share to diagnose: sharebench diagnose smb://HOST/SHARE")

    amount = amount_text(request)
    if amount:
        console.say(amount)
        if not yes:
            console.confirm("Begin?", declined="nothing was written")

    events = diagnosing.record_diagnosis(request, notebooks.notebook_path(context), control, resumed)
    diagnosis = watch_to_end(events, control, diagnosing.DiagnosisClosed, _show, StatusLine()).diagnosis
    console.answer_report(diagnosis_report(diagnosis), as_json=choices["as_json"])
    return exit_code_when_complete(diagnosis, control, "diagnose", "diagnosis")


def _diagnosis_request(context: click.Context, url: str, spec: SeriesSpec, choices: dict[str, Any]) -> DiagnosisRequest:
    if choices["quick"] and choices["thorough"]:
        raise UsageError("--quick and --thorough contradict each other: leave one out")
    effort = Effort.USUAL
    if choices["quick"]:
        effort = Effort.QUICK
    elif choices["thorough"]:
        effort = Effort.THOROUGH

    place, secrets = logins.target_and_secrets(context, url, kerberos=choices["kerberos"])
    request = DiagnosisRequest(
        target=place,
        secrets=secrets,
        effort=effort,
        only=choices["only"],
        folder=choices["folder"],
        settings=spec.settings,
        server_ssh=spec.monitor.server_ssh,
        smb_conf=spec.monitor.smb_conf,
        profile=spec.counts.profile,
        label=spec.texts.label,
        question=spec.texts.question,
    )
    check_request(request)
    return request


def _show(event: diagnosing.DiagnosisEvent) -> None:
    match event:
        case diagnosing.DiagnosisOpened(diagnosis=diagnosis):
            console.say(f"diagnosis {diagnosis.id}")
        case diagnosing.StageBegan(progress_text=text):
            console.say(f"  {text}")
        case diagnosing.DiagnosisChanged(stage=stage) if stage and stage.status is not SeriesStatus.COMPLETE:
            console.say(f"sharebench: {STAGE_NAMES[stage.name]}: {stage.error}")
        case Warned(text=text):
            console.say(f"sharebench: {text}")
