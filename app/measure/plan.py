"""The plan of a series: everything that the measuring process needs to know, as one JSON object."""

from dataclasses import dataclass, field
from typing import Self

from app.clients.base import Secrets
from storage.plan import RunChoices
from storage.records import ClientFacts, Command, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementPlan(RunChoices):
    """One series to be measured; ``done_*`` say what a resumed series has already."""

    command: Command
    target: Target
    stepped: bool = False
    """Wait for a ``step`` before each run, so that several series can take turns."""
    done_warmups: int = 0
    done_runs: int = 0
    done_rates: tuple[float, ...] = ()
    """Bytes per second of the valid measured runs that are done, for ``until_percent``."""
    scratch_path: str | None = None
    """A file that an earlier, interrupted attempt may have left: removed before the first run."""
    secrets: Secrets = field(default_factory=Secrets)

    @classmethod
    def of(cls, choices: RunChoices | None, command: Command, target: Target) -> Self:
        """The plan of a stored series, to be resumed or measured again; the usual one where none is known."""
        return cls(command=command, target=target, **(choices or RunChoices()).run_choices())


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOrder:
    """One client to be calibrated."""

    protocol: str
    command: Command
    client: ClientFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """What it reached; None where there is nothing to calibrate it against."""

    bytes_per_second: float | None
