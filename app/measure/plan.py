"""The plan of a series: everything that the measuring process needs to know, as one JSON object."""

import json
from dataclasses import asdict, dataclass, field
from typing import Self

from app.clients.base import Secrets
from storage.json_reader import JSONNode
from storage.plan import RunChoices
from storage.records import Command, Target


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

    def to_json(self) -> str:
        """One line of JSON, secrets included: for the child's pipe and nothing else."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The plan that :meth:`to_json` wrote."""
        return JSONNode("plan", json.loads(text)).record(cls)

    @classmethod
    def of(cls, choices: RunChoices | None, command: Command, target: Target) -> Self:
        """The plan of a stored series, to be resumed or measured again; the usual one where none is known."""
        return cls(command=command, target=target, **(choices or RunChoices()).run_choices())
