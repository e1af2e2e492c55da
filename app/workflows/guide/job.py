"""One measurement: the order that the choices make, what controls it, and its events."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.clients.base import Secrets
from app.errors import UsageError
from app.measure.process import SeriesControl, SeriesRequest
from app.recorder.recording import RecorderEvent
from app.workflows.guide.backend import Backend
from app.workflows.guide.choices import GuideChoices
from app.workflows.requests import series_request
from storage.plan import QuietTime
from storage.records import Command, Target

WAIT = "wait"
WAIT_SECONDS = 600.0
"""How long a quiet time is waited for where the user chose to wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementJob:
    """A new series, or one to be completed; ``events`` is asked for once, in a thread."""

    backend: Backend
    notebook_path: Path
    title: str
    target: Target | None = None
    request: SeriesRequest | None = None
    resumed_id: str | None = None
    confirmed: bool = False
    """Whether the user has said that the target of an imported one is meant."""
    secrets: Secrets = field(default_factory=Secrets)
    control: SeriesControl = field(default_factory=SeriesControl)
    opened: Callable[[str], None] = lambda _series_id: None
    """Told the series' id as soon as there is one."""

    def events(self) -> Iterator[RecorderEvent]:
        if self.request is not None:
            yield from self.backend.record(self.request, self.notebook_path, self.control)
        else:
            path, confirmed = self.notebook_path, self.confirmed
            yield from self.backend.resume(self.resumed_id, self.secrets, path, self.control, confirmed=confirmed)


def request_of(choices: GuideChoices, secrets: Secrets) -> SeriesRequest:
    """The series that the choices describe. Raises UsageError where they are not complete."""
    if choices.target is None or choices.run_bytes is None:
        raise UsageError("choose a target and a file first")
    makes_first = choices.makes_file and choices.command is Command.GET and choices.target.abilities.moves_files
    target = choices.target if choices.makes_file else replace(choices.target, path=choices.file or "")
    options = replace(
        choices,
        make_file=makes_first,
        quiet_time=QuietTime.RECORD if choices.quiet in {None, WAIT} else QuietTime(choices.quiet),
        wait_seconds=WAIT_SECONDS if choices.quiet == WAIT else 0.0,
    )
    return series_request(options, target, secrets)
