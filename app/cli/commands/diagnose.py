"""``sharebench diagnose``: why do users complain?"""

from typing import Any

import click

from app.cli import common
from app.cli.progress import StatusLine, watch_to_end
from app.cli.run_options import chosen, series_options, target_argument
from app.errors import CancelledError, MeasurementError, UsageError
from app.measure.process import SeriesControl, Warned
from app.subjects.diagnosis import run as diagnosing
from forms.diagnosis.report import STAGE_NAMES, diagnosis_report
from storage.json_reader import named
from storage.looks import DIAGNOSIS, Effort, StageName
from storage.records import SeriesStatus

_WITH_RESUME = {"as_json", "kerberos", "target", "yes"}


@common.command("diagnose")
@target_argument(required=False)
@common.option(
    "--only", "NAME,…", f"Measure these stages only: {', '.join(StageName)}.", default="",
    callback=lambda _context, _parameter, value: diagnosing.parse_stages(value),
)  # fmt: skip
@click.option("--folder", metavar="PATH", help="List this existing folder of the share, in place of new ones.")
@click.option("--quick", is_flag=True, help="About a tenth of the files and bytes, in a minute or two.")
@click.option("--thorough", is_flag=True, help="Also a folder of 100,000 entries and a run of 8 GiB.")
@click.option("--yes", is_flag=True, help="Consent to the files that are created, for scripts.")
@click.option("--resume", "resume_reference", metavar="DIAGNOSIS", help="Complete an interrupted diagnosis.")
@common.measuring_options("Print the diagnosis as JSON.")
@series_options("profile", "label", "question", "server_ssh", "smb_conf", "timeout_seconds")
def diagnose_command(
    context: click.Context, /, target: str | None, resume_reference: str | None, yes: bool, **choices: Any
) -> int:
    """Find out why users complain.

    Audits the server, then measures what users wait for: the first connect, distance, many small files, large folders,
    signing and encryption, a long run, several connections. Prints what is wrong, the costliest first, each with the
    one change to try. Everything it creates lies in one folder on the share, takes at most 10 % of the free space, and
    is removed at the end.

    Exit codes: 0 complete, whatever it found; 4 a stage failed.
    """
    control, resumed = SeriesControl(), None
    if resume_reference:
        resumed, place = common.to_resume(context, resume_reference, _WITH_RESUME, DIAGNOSIS, target=target)
        _, secrets = common.secrets_for(context, place, kerberos=choices["kerberos"])
        request = diagnosing.request_of(resumed, secrets)
    elif target:
        request = _request(context, target, choices)
    else:
        raise UsageError("name the share to diagnose: sharebench diagnose smb://HOST/SHARE")
    if text := diagnosing.amount_text(request):
        common.say(text)
        if not yes:
            alone = "there is no terminal to ask at: consent with --yes; nothing was written"
            common.confirm("Begin?", alone=alone, declined="nothing was written")
    events = diagnosing.record_diagnosis(request, common.notebook_path(context), control, resumed)
    diagnosis = watch_to_end(events, control, diagnosing.DiagnosisClosed, _show, StatusLine()).diagnosis
    common.answer_report(diagnosis_report(diagnosis), as_json=choices["as_json"])
    if control.cancelled.is_set():
        raise CancelledError(f"cancelled; `sharebench diagnose --resume {diagnosis.id}` completes it")
    if diagnosis.status is not SeriesStatus.COMPLETE:
        raise MeasurementError(diagnosis.error or "the diagnosis did not end")
    return 0


def _request(context: click.Context, url: str, choices: dict[str, Any]) -> diagnosing.DiagnosisRequest:
    if choices["quick"] and choices["thorough"]:
        raise UsageError("--quick and --thorough contradict each other: leave one out")
    effort = Effort.QUICK if choices["quick"] else Effort.THOROUGH if choices["thorough"] else Effort.USUAL
    options = chosen(choices)
    place, secrets = common.target_and_secrets(context, url, kerberos=choices["kerberos"])
    request = diagnosing.DiagnosisRequest(
        target=place,
        secrets=secrets,
        settings=options.settings,
        effort=effort,
        only=choices["only"],
        folder=choices["folder"],
        **named(options, "server_ssh", "smb_conf", "profile", "label", "question"),
    )
    diagnosing.check_request(request)
    return request


def _show(event: diagnosing.DiagnosisEvent) -> None:
    match event:
        case diagnosing.DiagnosisOpened(diagnosis=diagnosis):
            common.say(f"diagnosis {diagnosis.id}")
        case diagnosing.StageBegan(name=name, number=number, of=of):
            common.say(f"  {number} of {of}: {STAGE_NAMES[name]}")
        case diagnosing.DiagnosisChanged(stage=stage) if stage and stage.status is not SeriesStatus.COMPLETE:
            common.say(f"sharebench: {STAGE_NAMES[stage.name]}: {stage.error}")
        case Warned(text=text):
            common.say(f"sharebench: {text}")
