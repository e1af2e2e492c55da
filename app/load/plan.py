"""What the load's processes need to know, once, on their stdin: targets, secrets, scenario, where its files are."""

import json
from dataclasses import asdict, dataclass, field
from typing import Annotated, Self

from app.clients.base import Secrets
from storage.json_reader import JSONNode
from storage.loads.scenario import Scenario, scenario_from_json
from storage.plan import Settings
from storage.records import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    """One load, as the engine and each of its workers get it."""

    targets: tuple[Target, ...]
    """Users take them in turns."""
    secrets: Secrets = field(default_factory=Secrets)
    settings: Settings = field(default_factory=Settings)
    scenario: Annotated[Scenario, scenario_from_json]
    folder: str = ""
    """The name of our own folder, in the folder that each target names."""
    reuse: bool = False
    """Whether the files are there already."""
    keep: bool = False
    """Whether they stay."""
    leftover: bool = False
    """Whether the folder may be there from a load that was broken off: it is removed first."""
    processes: int = 1
    hosts: tuple[str, ...] = ()
    ramp_per_second: float = 20.0

    def to_json(self) -> str:
        """One line."""
        found = asdict(self) | {"scenario": self.scenario.to_json(), "settings": asdict(self.settings)}
        return json.dumps(found)

    @classmethod
    def from_json(cls, line: str) -> Self:
        """The plan in a line that :meth:`to_json` wrote."""
        return JSONNode("plan", json.loads(line)).record(cls)
