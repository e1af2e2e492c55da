"""Diagnoses: what the users of a share wait for, as it was measured stage by stage."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated

from storage.audits import Audit
from storage.codec import of_a_sound_file
from storage.json_reader import JSONNode, NotNegative
from storage.plan import Settings
from storage.recordings import Recording, recorded, with_head
from storage.records import ClientFacts, Facts, Head, SeriesStatus, Target, format_target

DIAGNOSIS = "diagnosis"


class StageName(StrEnum):
    """The stages, in measured order: the first login of the process comes before any other."""

    SETTINGS = "settings"
    CONNECT = "connect"
    DISTANCE = "distance"
    SMALL_FILES = "small-files"
    FOLDERS = "folders"
    PROTECTION = "protection"
    LONG_RUN = "long-run"
    CARDS = "cards"


def stages_of(only: Collection[StageName]) -> tuple[StageName, ...]:
    """Those stages, or all, in measured order."""
    return tuple(name for name in StageName if not only or name in only)


class Effort(StrEnum):
    """How much is measured."""

    QUICK = "quick"
    USUAL = "usual"
    THOROUGH = "thorough"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What one stage measured; units are in the names."""

    name: StageName
    status: SeriesStatus = SeriesStatus.COMPLETE
    error: str | None = None
    seconds: NotNegative = 0.0
    samples: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """In measured order."""
    facts: Annotated[Facts, JSONNode.object_or_empty] = field(default_factory=dict)

    def of(self, name: str) -> tuple[float, ...]:
        return self.samples.get(name, ())

    def number(self, name: str) -> float | None:
        value = self.facts.get(name)
        return float(value) if isinstance(value, int | float) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis(Head):
    """One diagnosis of one share."""

    target: Target
    settings: Settings = field(default_factory=Settings)
    effort: Effort = Effort.USUAL
    only: tuple[StageName, ...] = ()
    """Empty for all stages."""
    folder: str | None = None
    """An existing folder on the share that is listed in place of new ones; it is only read."""
    server_ssh: str | None = None
    smb_conf: str | None = None
    profile: bool = False
    """Whether smbd's profile is read beside the small files."""
    loopback: bool = False
    link_bits_per_second: float | None = None
    client: ClientFacts | None = None
    environment: Mapping[str, Annotated[Facts, JSONNode.object_or_empty]] = field(default_factory=dict)
    stages: tuple[Stage, ...] = ()
    audit: Audit | None = None
    leftover: str | None = None
    """Our folder that may still be on the share."""

    @property
    def planned(self) -> tuple[StageName, ...]:
        return stages_of(self.only)

    def stage(self, name: StageName) -> Stage | None:
        """A complete stage."""
        return next((s for s in self.stages if s.name is name and s.status is SeriesStatus.COMPLETE), None)

    def with_stage(self, stage: Stage) -> "Diagnosis":
        return replace(self, stages=(*(each for each in self.stages if each.name is not stage.name), stage))


_LOCAL = frozenset({"leftover"})


def recording_of(diagnosis: Diagnosis) -> Recording:
    """The diagnosis as the notebook stores it."""
    return recorded(
        diagnosis,
        DIAGNOSIS,
        apart=_LOCAL,
        subject=format_target(replace(diagnosis.target, user=None, domain=None)),
        leftovers={"folder": diagnosis.leftover} if diagnosis.leftover else None,
    )


@of_a_sound_file
def diagnosis_of(recording: Recording) -> Diagnosis:
    """The diagnosis in a stored recording. Raises DamagedNotebookError."""
    found = diagnosis_from_json(with_head(recording))
    left = (recording.leftovers or {}).get("folder")
    return replace(found, leftover=left if isinstance(left, str) else None)


def diagnosis_from_json(node: JSONNode) -> Diagnosis:
    """The diagnosis in a JSON object. Raises DocumentError with the first wrong place."""
    return node.record(Diagnosis, leave=_LOCAL, needs=("stages",))
