"""What a round asks of the recorder: one series, or several that are measured interleaved."""

from collections.abc import Sequence
from dataclasses import replace

from app.base.errors import UsageError
from app.clients.base import Secrets
from app.method import other_targets
from app.method.choices import GuideChoices, OtherSide, QuietChoice
from app.recording.spec import SeriesRequest
from app.series import versus
from app.series.requests import series_request
from storage import records

WAIT_SECONDS = 600.0
"""Longest wait for a quiet time."""


def request_of(choices: GuideChoices, secrets: Secrets) -> SeriesRequest:
    """The series that the choices describe. Raises UsageError where they are not complete."""
    side = _own_side(choices, secrets)
    return series_request(side.spec, side.target, side.secrets)


def requests_of_comparison(
    choices: GuideChoices, secrets: Secrets, other_secrets: Sequence[Secrets]
) -> list[SeriesRequest]:
    """The series of a round that compares targets, the round's own first. Raises UsageError."""
    own_side = _own_side(choices, secrets)
    problem = other_targets.why_not_comparable(choices)
    if problem:
        raise UsageError(problem)

    # As many runs for all: no side goes on alone until its average is known well enough.
    counts = replace(own_side.spec.counts, until_percent=None)
    own_side = replace(own_side, spec=replace(own_side.spec, counts=counts))
    other_sides = [
        _other_side(choices, own_side, other, secrets_there)
        for other, secrets_there in zip(choices.others, other_secrets, strict=True)
    ]
    return versus.side_requests([own_side, *other_sides])


def _other_side(choices: GuideChoices, own_side: versus.Side, other: OtherSide, secrets: Secrets) -> versus.Side:
    spec = versus.spec_at(own_side.spec, own_side.target, other.target)
    spec = replace(spec, monitor=replace(spec.monitor, server_ssh=other.server_ssh, smb_conf=other.smb_conf))
    target = other.target if choices.makes_file else replace(other.target, path=other.file or "")
    return versus.Side(spec=spec, target=target, secrets=secrets)


def _own_side(choices: GuideChoices, secrets: Secrets) -> versus.Side:
    """What the choices ask for at their own target. Raises UsageError where they are not complete."""
    if choices.target is None or choices.run_bytes is None:
        raise UsageError("choose a target and a file first")

    makes_first = (
        choices.makes_file and choices.spec.command is records.Command.GET and choices.target.abilities.moves_files
    )
    target = choices.target if choices.makes_file else replace(choices.target, path=choices.file or "")
    quiet = choices.quiet or QuietChoice.RECORD
    spec = replace(
        choices.spec,
        counts=replace(choices.spec.counts, make_file=makes_first),
        monitor=replace(choices.spec.monitor, quiet_time=quiet.quiet_time),
        wait_seconds=WAIT_SECONDS if quiet is QuietChoice.WAIT else 0.0,
    )
    return versus.Side(spec=spec, target=target, secrets=secrets)
