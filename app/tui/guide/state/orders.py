"""From the person's choices to an order for the recorder."""

from __future__ import annotations

from dataclasses import replace

from app.clients.base import Secrets
from app.errors import UsageError
from app.measure.plan import MeasurementPlan
from app.recorder.request import SeriesRequest
from app.targets import check_complete
from app.tui.guide.state.choices import GuideChoices
from storage.plan import QuietTime, Settings
from storage.records import Command, Experiment

WAIT = "wait"
WAIT_SECONDS = 600.0
"""How long a quiet time is waited for where the person chose to wait."""


def order_of(choices: GuideChoices, secrets: Secrets) -> SeriesRequest:
    """The series that the choices describe. Raises UsageError where they are not complete."""
    if choices.target is None or choices.run_bytes is None:
        raise UsageError("choose a target and a file first")
    makes_first = choices.makes_file and choices.command is Command.GET and choices.target.abilities.moves_files
    target = choices.target if choices.makes_file else replace(choices.target, path=choices.file or "")
    check_complete(target, choices.command, make_file=makes_first)
    plan = MeasurementPlan(
        command=choices.command,
        target=target,
        client=choices.client,
        settings=Settings(block_bytes=choices.block_bytes, in_flight=choices.in_flight),
        runs=choices.runs,
        warmups=choices.warmups,
        until_percent=choices.until_percent,
        max_runs=choices.max_runs,
        size_bytes=choices.size_bytes,
        make_file=makes_first,
        secrets=secrets,
    )
    return SeriesRequest(
        plan=plan,
        link_bits_per_second=choices.link_bits_per_second,
        label=choices.label,
        note=choices.note,
        experiment=Experiment(name=choices.experiment) if choices.experiment else None,
        base_id=choices.base_id,
        change_name=choices.change_name,
        change_value=choices.change_value,
        quiet_time=QuietTime.RECORD if choices.quiet in {None, WAIT} else QuietTime(choices.quiet),
        wait_seconds=WAIT_SECONDS if choices.quiet == WAIT else 0.0,
    )
