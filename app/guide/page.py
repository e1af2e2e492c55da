"""A page of the guide: what it says, what can be chosen on it, and what each choice leads to.

The pages of ``app.guide.pages`` are made anew for each round; ``GuideSession.do`` does what a choice leads to, its
*act*. The words that do not depend on the round are in ``steps.toml``.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from app.base.user_files import read_toml
from app.method.choices import GuideChoices, MethodStep
from forms.layout import Toned
from forms.recommended import with_recommended_numbers
from forms.report import Chart, Mark
from forms.series.summary import SeriesSummary
from storage.notebook import Notebook
from storage.records import RunStatus, Target


class Simple(Enum):
    """An act for which the choices of the round say all."""

    START = "measure the series"
    RESUME = "complete the series that was interrupted"
    LOOK_QUIET = "look for some seconds at who else is at work"


@dataclass(frozen=True, slots=True)
class Go:
    """Take these choices; their step is opened."""

    choices: GuideChoices


@dataclass(frozen=True, slots=True)
class Begin:
    """Take these choices, and measure at once."""

    choices: GuideChoices


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Ask for a line of text."""

    heading: str
    text: str
    then: "Callable[[str], Act]"
    """Makes the next act of what was typed. Raises UsageError where it is not understood; it is asked again then."""
    value: str = ""
    """What stands in the line at first."""
    keep: bool = False
    """Whether what was typed stands there again, until it has led somewhere."""
    is_target: bool = False
    """Whether a target is asked for, which is completed while it is typed."""


@dataclass(frozen=True, slots=True)
class Connect:
    """Reach the target, log in and look around."""

    target: Target
    kerberos: bool = False
    credentials: str = ""
    """The path of the file with the login; empty where there is none."""
    other_place: int | None = None
    """Its place among the other targets of the round, to be compared with its own; None for the round's own."""
    then: "Ask | None" = None
    """What is asked once it was reached."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Mark a run of the series; a rejection needs a reason, which is asked for."""

    number: int
    status: RunStatus
    side: int = 0
    """Whose series it is of: 0 for the round's own target, from 1 on for the others in their order."""


@dataclass(frozen=True, slots=True)
class Store:
    """Write into the notebook, then take these choices."""

    job: Callable[[Notebook], str | None]
    """Returns what is to be told of it, if anything."""
    choices: GuideChoices


@dataclass(frozen=True, slots=True)
class Visit:
    """Open another screen."""

    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)


Act = Simple | Go | Begin | Ask | Connect | Judge | Store | Visit


@dataclass(frozen=True, slots=True)
class Option:
    """What can be chosen on a page, a line of its list; or a line of a table in it, which cannot."""

    title: str
    act: Act | None
    """None where it cannot be chosen now; the hint says why."""
    hint: str = ""
    advised: bool = False
    """Whether it is recommended."""
    mark: Mark = Mark.NONE
    """What is special about a run."""
    result: bool = False
    """Whether it is a result of the table, such as the average."""
    is_value: bool = False
    """Whether the hint is what holds now: where it is too long it is cut, not left out."""

    @property
    def is_run(self) -> bool:
        """Whether it is a run that can be left out, or be counted again."""
        return isinstance(self.act, Judge)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChart:
    """The rates of a series run by run, beside what was to be expected."""

    form: SeriesSummary
    expected_bytes_per_second: float | None = None
    expected_name: str = ""
    of_sides: Chart | None = None
    """The runs of this series and of the other targets', in place of the rates of the one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    title: str
    why: str
    """Why the step is there, in sentences."""
    headline: tuple[Toned, ...] = ()
    """The result, above all else."""
    facts: tuple[str | Toned, ...] = ()
    """What is known for this choice, a line each."""
    begins_with_answer: bool = False
    """Whether the first of the facts is the answer that the page is for; ``why`` is then left to the help."""
    columns: str = ""
    """The headings of a table in the list of choices; empty where there is none."""
    options: tuple[Option, ...] = ()
    cursor: int = 0
    """The place in the list where the cursor stands at first."""
    chart: PageChart | None = None

    @property
    def question(self) -> Ask:
        """The first choice that asks for a line of text."""
        return next(option.act for option in self.options if isinstance(option.act, Ask))


def ask_question(
    heading: str, then: "Callable[[str], Act]", value: str = "", *, keep: bool = False, is_target: bool = False
) -> Ask:
    """One of the questions of ``steps.toml``, by its heading."""
    return Ask(
        heading=heading, text=WORDS["questions"][heading], then=then, value=value, keep=keep, is_target=is_target
    )


WORDS = read_toml(with_recommended_numbers(Path(__file__).with_name("steps.toml").read_text(encoding="utf-8")))


def step_page(
    step: MethodStep,
    facts: Iterable[str | Toned],
    options: Iterable[Option],
    *,
    headline: tuple[Toned, ...] = (),
    columns: str = "",
    cursor: int = 0,
    chart: PageChart | None = None,
) -> Page:
    """The page of a step: its words, as ``steps.toml`` has them, before its facts and options."""
    words = WORDS[step]
    fact_of_step = [words["fact"]] if "fact" in words else []
    return Page(
        title=words["title"],
        why=words["why"],
        headline=headline,
        facts=(*fact_of_step, *facts),
        columns=columns,
        options=tuple(options),
        cursor=cursor,
        chart=chart,
    )
