"""A step as it is put to the user: what it is about, what is known, and what can be chosen, without a screen."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from app.workflows.guide.choices import GuideChoices
from forms.layout import Toned
from forms.report import Mark
from forms.series.summary import SeriesSummary
from storage.records import Decision, RunStatus, Target


class Simple(Enum):
    """What needs nothing else said."""

    BROWSE = "look into the folder of the target that is chosen already"
    START = "measure the series"
    RESUME = "complete the series that was interrupted"
    LOOK_QUIET = "look for some seconds at who else is at work"


@dataclass(frozen=True, slots=True)
class Go:
    """Take these choices; their step is opened."""

    choices: GuideChoices


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Ask for a line of text; ``then`` makes an action of it, or raises UsageError."""

    heading: str
    text: str
    then: "Callable[[str], Act]"
    value: str = ""
    keep: bool = False
    """Whether what was typed stands there again, until it has led somewhere."""


@dataclass(frozen=True, slots=True)
class Connect:
    """Reach the target, log in and look around."""

    target: Target
    kerberos: bool = False


@dataclass(frozen=True, slots=True)
class ReadCredentials:
    """Read a credentials file, then connect."""

    target: Target
    path: str


@dataclass(frozen=True, slots=True)
class Judge:
    """Mark a run of the series; a rejection needs a reason, which is asked for."""

    number: int
    status: RunStatus


@dataclass(frozen=True, slots=True)
class NameBaseline:
    """Give the series a name, so that later ones can be compared with it."""

    name: str


@dataclass(frozen=True, slots=True)
class BeginRound:
    """Start the next round, the series of this one being its base."""

    choices: GuideChoices


@dataclass(frozen=True, slots=True)
class Decide:
    """Note what becomes of a change, then take these choices."""

    series_id: str
    decision: Decision
    choices: GuideChoices


@dataclass(frozen=True, slots=True)
class Visit:
    """Go to another screen."""

    name: str
    arguments: dict[str, object] = field(default_factory=dict)


Act = Simple | Go | Ask | Connect | ReadCredentials | Judge | NameBaseline | BeginRound | Decide | Visit


@dataclass(frozen=True, slots=True)
class Option:
    """Something that can be chosen with Enter."""

    title: str
    act: Act | None
    """None where it cannot be chosen now; the hint says why."""
    hint: str = ""
    advised: bool = False
    mark: Mark = Mark.NONE
    """Why it is not like the others, where it is a run."""
    result: bool = False
    """Whether it is computed from the lines above it, and only to be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChart:
    """The rates of a series run by run, beside what was to be expected."""

    form: SeriesSummary
    expected_bytes_per_second: float | None = None
    expected_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One step, put to the user."""

    title: str
    why: str
    headline: tuple[Toned, ...] = ()
    facts: tuple[str | Toned, ...] = ()
    columns: str = ""
    options: tuple[Option, ...] = ()
    cursor: int = 0
    chart: PageChart | None = None
