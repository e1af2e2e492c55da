"""The plan of a series: everything that the measuring process needs to know, as one JSON object."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from app.clients.base import Secrets, Settings
from app.errors import UsageError
from storage.choices import checked_choices
from storage.records import Command, JSONValue, Target

DEFAULT_RUNS = 5
"""As many rows as the paper form has (Using Samba, table B-6)."""
DEFAULT_WARMUPS = 2
DEFAULT_MAX_RUNS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One series to be measured; ``done_*`` say what a resumed series has already."""

    command: Command
    target: Target
    client: str = ""
    """The client's name; empty for the usual one of the target's protocol."""
    settings: Settings = field(default_factory=Settings)
    runs: int = DEFAULT_RUNS
    warmups: int = DEFAULT_WARMUPS
    until_percent: float | None = None
    """Go on until the 95 % confidence interval of the mean is within ± this many percent."""
    max_runs: int = DEFAULT_MAX_RUNS
    size_bytes: int | None = None
    """The size of the file that is made, for a put or with ``make_file``."""
    make_file: bool = False
    """For a get: put a file first and remove it at the end; ``target.path`` is then a folder."""
    verify: bool = False
    """After the timed runs, compare content."""
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
        raw: dict[str, Any] = json.loads(text)
        raw["command"] = Command(raw["command"])
        raw["target"] = Target(**raw["target"])
        raw["settings"] = Settings(**raw["settings"])
        raw["secrets"] = Secrets(**raw["secrets"])
        raw["done_rates"] = tuple(raw["done_rates"])
        return cls(**raw)

    def to_notebook(self) -> dict[str, JSONValue]:
        """The choices alone, as the notebook keeps them: no secrets, no target, nothing that is done."""
        raw = asdict(self)
        for key in (
            "secrets",
            "target",
            "command",
            "done_warmups",
            "done_runs",
            "done_rates",
            "scratch_path",
            "stepped",
        ):
            del raw[key]
        return raw

    @classmethod
    def from_notebook(cls, choices: Mapping[str, JSONValue], command: Command, target: Target) -> Self:
        """The plan of a stored series, to be resumed or measured again. Raises UsageError for choices of wrong types.

        Only how to measure is taken from there: never where, as whom, or what is done already.
        """
        try:
            known: dict[str, Any] = checked_choices(choices)
        except ValueError as error:
            raise UsageError(f"this series cannot be measured again: {error}; measure a new one") from error
        known["settings"] = Settings(**known.get("settings", {}))
        ours = {name: value for name, value in known.items() if name in cls.__dataclass_fields__}
        return replace(cls(command=command, target=target), **ours)
