"""The plan of a series, sent to the measuring process as one JSON object."""

from dataclasses import dataclass, field
from typing import Self

from app.clients.base import Secrets
from storage.plan import RunChoices
from storage.records import ClientFacts, Command, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementPlan(RunChoices):
    """One series; ``done_*`` describe the finished part of a resumed series."""

    command: Command
    target: Target
    stepped: bool = False
    """Wait for a ``step`` before each run, to interleave several series."""
    done_warmups: int = 0
    done_runs: int = 0
    done_rates: tuple[float, ...] = ()
    """Bytes per second of the valid measured runs, for ``until_percent``."""
    scratch_path: str | None = None
    """A leftover of an interrupted attempt, removed before the first run."""
    secrets: Secrets = field(default_factory=Secrets)

    @classmethod
    def of(cls, choices: RunChoices | None, command: Command, target: Target) -> Self:
        """From a stored series; defaults for what it does not say."""
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
