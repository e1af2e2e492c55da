"""``sharebench diagnose``: why do the users of a share complain?"""

from typing import Any

import click

from app.audit.earlier_looks import diagnosis_before, explained_between
from app.base.errors import UsageError
from app.cli import cancelling, console, declare, logins, notebooks, option_values, progress, resuming, run_options
from app.cli.targets import target_argument
from app.diagnosis import events as diagnosis_events
from app.diagnosis import spec as diagnosis_spec
from app.diagnosis.places_command import measure_from_places
from app.diagnosis.progress_lines import progress_line
from app.diagnosis.record import record_diagnosis
from app.recording.process import SeriesControl
from app.recording.spec import SeriesSpec
from forms.diagnosis.chosen_complaint import COMPLAINTS
from forms.diagnosis.report import diagnosis_report
from storage import looks


def _parse_only(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[looks.StageName, ...]:
    return diagnosis_spec.parse_stages(value)


def _parse_complaint(_context: click.Context, _parameter: click.Parameter, value: str) -> looks.StageName | None:
    return diagnosis_spec.parse_complaint(value)


@declare.command("diagnose")
@target_argument(required=False)
@declare.option(
    "--only",
    "NAME,…",
    f"Measure these stages only: {', '.join(looks.StageName)}.",
    default="",
    callback=_parse_only,
)
@declare.option(
    "--complaint",
    "NAME",
    f"What users complain of, answered first: {', '.join(COMPLAINTS)}.",
    default="",
    callback=_parse_complaint,
)
@click.option("--folder", metavar="PATH", help="List this existing folder of the share, in place of new ones.")
@click.option("--quick", is_flag=True, help="About a tenth of the files and bytes, in a minute or two.")
@click.option("--thorough", is_flag=True, help=diagnosis_spec.THOROUGH_TEXT)
@run_options.from_option("Measure on that machine, reached by ssh; may be repeated.")
@declare.whole_time_option
@click.option("--yes", is_flag=True, help="Consent to the files that are created, for scripts.")
@click.option("--resume", "resume_reference", metavar="DIAGNOSIS", help="Complete an interrupted diagnosis.")
@declare.measuring_options("Print the diagnosis as JSON.")
@run_options.series_options("link_bits_per_second", "profile", "like", "label", "question", *run_options.OF_THE_SERVER)
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
    resumed: looks.Diagnosis | None = None
    hosts = choices["from_hosts"]
    if resume_reference and len(hosts) > 1:
        raise UsageError(
            "each machine has a diagnosis of its own: resume one after the other, by its name", options="--resume"
        )
    if resume_reference:
        resumed, place = resuming.recording_to_resume(
            context, resume_reference, resuming.ALLOWED_WITH_RESUME, looks.DIAGNOSIS, target=target
        )
        _, secrets = logins.secrets_for(context, place, kerberos=choices["kerberos"])
        request = diagnosis_spec.request_of(resumed, secrets)
    elif target:
        request = _diagnosis_request(context, target, spec, choices)
    else:
        raise UsageError("name the share to diagnose: sharebench diagnose smb://HOST/SHARE")

    amount = diagnosis_spec.amount_text(request, max(1, len(hosts)))
    if amount:
        console.say(amount)
        if not yes:
            console.confirm("Begin?", declined="nothing was written")

    path = notebooks.notebook_path(context)
    if len(hosts) > 1:
        return measure_from_places(request, hosts, path, control, as_json=choices["as_json"])

    events = record_diagnosis(request, path, control, resumed)
    closed = progress.watch_to_end(events, control, diagnosis_events.DiagnosisClosed, _show, progress.StatusLine())
    diagnosis = closed.diagnosis
    with notebooks.open_notebook(context) as notebook:
        before = diagnosis_before(notebook, diagnosis)
        explained = explained_between(notebook, before, diagnosis)
    console.answer_report(diagnosis_report(diagnosis, before, explained), as_json=choices["as_json"])
    return cancelling.exit_code_when_complete(diagnosis, control, "diagnosis", resumed_by="diagnose")


def _show(event: diagnosis_events.DiagnosisEvent) -> None:
    line = progress_line(event)
    if line:
        console.say(line)


def _diagnosis_request(
    context: click.Context, url: str, spec: SeriesSpec, choices: dict[str, Any]
) -> diagnosis_spec.DiagnosisRequest:
    if choices["quick"] and choices["thorough"]:
        raise UsageError("--quick and --thorough contradict each other: leave one out")
    effort = looks.Effort.USUAL
    if choices["quick"]:
        effort = looks.Effort.QUICK
    elif choices["thorough"]:
        effort = looks.Effort.THOROUGH

    place, secrets = logins.target_and_secrets(context, url, kerberos=choices["kerberos"])
    request = diagnosis_spec.DiagnosisRequest(
        target=place,
        secrets=secrets,
        effort=effort,
        only=choices["only"],
        complaint=choices["complaint"],
        folder=choices["folder"],
        settings=spec.settings,
        server_ssh=spec.monitor.server_ssh,
        smb_conf=spec.monitor.smb_conf,
        profile=spec.counts.profile,
        link_bits_per_second=spec.link_bits_per_second,
        label=spec.texts.label,
        question=spec.texts.question,
        # Where there are several, each measures the same.
        from_host=next(iter(choices["from_hosts"]), None),
    )
    diagnosis_spec.check_request(request)
    return request
