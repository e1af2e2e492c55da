"""What was asked of a series, in one record: from the option or the guide's choice to the measuring process.

And what requests for the other measurements of a server have in common (`ServerRequest`).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Annotated, Any

from app.base.errors import UsageError
from app.clients.base import Secrets
from forms.tuning import fact_names
from storage.json_reader import BESIDE
from storage.plan import MonitorChoices, Plan, RunCounts, Settings
from storage.protocols import Protocol
from storage.records import Command, Experiment, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class FormTexts:
    """What people write on the form of a series."""

    label: str = ""
    note: str = ""
    question: str = ""


PREPARE = "--prepare"
"""The option of each hook, by which it is also told."""
CONCLUDE = "--conclude"
SERVER_PREPARE = "--server-prepare"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """Commands that a shell runs around each run, outside of the timed part; empty for none.

    They are of one measurement only: neither the notebook's plan nor the guide's memory has them, so that a stored or
    imported series never brings a command to be run.
    """

    prepare: str = ""
    conclude: str = ""
    server_prepare: str = ""

    @property
    def facts(self) -> dict[str, str]:
        """The commands, by the names of the facts that the notebook keeps."""
        commands = {
            fact_names.HOOK_PREPARE: self.prepare,
            fact_names.HOOK_CONCLUDE: self.conclude,
            fact_names.HOOK_SERVER_PREPARE: self.server_prepare,
        }
        return {fact: command for fact, command in commands.items() if command}


NO_HOOKS = Hooks()

OPTION_OF_HOOK = {
    fact_names.HOOK_PREPARE: PREPARE,
    fact_names.HOOK_CONCLUDE: CONCLUDE,
    fact_names.HOOK_SERVER_PREPARE: SERVER_PREPARE,
}
"""The option by the name of the fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """The place of a series among others: its experiment, its base, and the one setting that was changed since."""

    experiment: str | None = None
    base_id: str | None = None
    """Base of the change; None for the experiment's last kept series."""
    repeats: bool = False
    """The base series measured again; refused if session or path differ."""
    change_name: str | None = None
    change_value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesSpec:
    """Everything that was asked of a series, but its target and the secrets to log in there.

    ``BESIDE`` marks its parts: in JSON their fields stand beside those of the series itself, as options do.
    """

    command: Command = Command.GET
    client: str = ""
    """Empty for the protocol's default client."""
    counts: Annotated[RunCounts, BESIDE] = field(default_factory=RunCounts)
    settings: Annotated[Settings, BESIDE] = field(default_factory=Settings)
    monitor: Annotated[MonitorChoices, BESIDE] = field(default_factory=MonitorChoices)
    texts: Annotated[FormTexts, BESIDE] = field(default_factory=FormTexts)
    lineage: Annotated[Lineage, BESIDE] = field(default_factory=Lineage)
    hooks: Annotated[Hooks, BESIDE] = field(default_factory=Hooks)
    link_bits_per_second: int | None = None
    """As the user gave it; None for what the interface says."""
    wait_seconds: float = 0.0
    """The longest wait for a quiet time."""
    interleaved_with: str = ""
    """The id of the base of the comparison that it is measured for, as in :class:`storage.plan.Plan`."""

    @property
    def plan(self) -> Plan:
        """The part that the notebook keeps, and that a resumed series begins with."""
        return Plan(
            client=self.client,
            counts=self.counts,
            settings=self.settings,
            monitor=self.monitor,
            interleaved_with=self.interleaved_with,
        )

    def to_json(self) -> dict[str, Any]:
        """All values side by side."""
        values = asdict(self.settings) | asdict(self.counts) | asdict(self.monitor)
        values |= asdict(self.texts) | asdict(self.lineage) | asdict(self.hooks)
        return values | {name: getattr(self, name) for name in _OWN_FIELDS}


def check_smb_settings(settings: Settings, protocol: Protocol) -> None:
    """Raises UsageError for signing, encryption or an imitated client, where the protocol is not SMB."""
    if protocol.has_dialect:
        return
    if settings.sign or settings.encrypt:
        instead = f"; {protocol.label} encrypts as {protocol.encrypted_as}://" if protocol.encrypted_as else ""
        text = f"signing and encryption belong to smb://: leave them out{instead}"
        raise UsageError(text, options="--sign, --encrypt")
    if settings.like:
        raise UsageError("only clients of SMB are imitated: that belongs to smb://", options="leave out --like")


def without_hooks(spec: SeriesSpec) -> SeriesSpec:
    """What may be remembered: a command is only run where it was typed for this measurement."""
    return replace(spec, hooks=NO_HOOKS)


_PARTS: Mapping[str, type] = {
    "counts": RunCounts,
    "settings": Settings,
    "monitor": MonitorChoices,
    "texts": FormTexts,
    "lineage": Lineage,
    "hooks": Hooks,
}
_OWN_FIELDS = tuple(field.name for field in fields(SeriesSpec) if field.name not in _PARTS)


def _part_of_field() -> dict[str, str]:
    part_by_field = {}
    for part, kind in _PARTS.items():
        for part_field in fields(kind):
            part_by_field[part_field.name] = part
    return part_by_field


_PART_OF_FIELD = _part_of_field()


def with_values(spec: SeriesSpec, values: Mapping[str, Any]) -> SeriesSpec:
    """The spec with these values of its fields, or of the fields of its parts, by name.

    For names that are known at run time alone, such as options; code that knows the field calls ``replace``.
    Raises TypeError for a name that is no field.
    """
    values_by_part: dict[str, dict[str, Any]] = {}
    own_values: dict[str, Any] = {}
    for name, value in values.items():
        if name in _OWN_FIELDS:
            own_values[name] = value
        elif name in _PART_OF_FIELD:
            values_by_part.setdefault(_PART_OF_FIELD[name], {})[name] = value
        else:
            raise TypeError(f"a series has no choice that is called {name!r}")

    for part, part_values in values_by_part.items():
        own_values[part] = replace(getattr(spec, part), **part_values)
    return replace(spec, **own_values)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesRequest:
    """A series to measure: what was asked of it, of which target, and how to log in there."""

    spec: SeriesSpec
    target: Target
    secrets: Secrets = field(default_factory=Secrets)
    title: str = ""
    """Empty for one that is made of command and target."""
    experiment: Experiment | None = None
    series_id: str = ""
    """The id of the series; empty for one that is drawn when it begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRequest:
    """What requests for a load, an isolation and a diagnosis have in common."""

    secrets: Secrets = field(default_factory=Secrets)
    settings: Settings = field(default_factory=Settings)
    label: str = ""
    question: str = ""
    server_ssh: str | None = None
    """``[USER@]HOST`` to look at the server by ssh; None for a server here, or one that cannot be looked at."""
    smb_conf: str | None = None
    """The path of the server's smb.conf; None for the one that smbd says."""
