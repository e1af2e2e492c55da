"""What the user chose in one round, kept in the notebook; and a step as it is asked."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any, Self

from app.base.errors import UsageError
from app.base.units import parse_size
from app.base.user_files import read_toml
from app.clients.base import OWN
from app.series.requests import SeriesOptions, options_of
from forms import wording
from forms.layout import Toned
from forms.report import Mark
from forms.series.summary import SeriesSummary
from forms.tuning.smb_conf import tidy_value
from storage.json_reader import DocumentError, JSONNode, named
from storage.notebook import Notebook
from storage.plan import QuietTime
from storage.records import Change, Command, JSONValue, RunStatus, Series, Target, to_minute

MEMORY_KEY = "guide"


class MethodStep(StrEnum):
    """The steps of the method (Using Samba, appendix B), in order."""

    TARGET = "target"
    FILE = "file"
    QUIET = "quiet"
    WARM_UP = "warm-up"
    RUN = "run"
    REVIEW = "review"
    EXPECTED = "expected"
    CHANGE = "change"


class QuietChoice(StrEnum):
    """What is done about other activity, in the order of the page; waiting is recorded as well."""

    RECORD = QuietTime.RECORD
    REQUIRE = QuietTime.REQUIRE
    WAIT = "wait"
    SKIP = QuietTime.SKIP

    @property
    def quiet_time(self) -> QuietTime:
        return QuietTime.RECORD if self is QuietChoice.WAIT else QuietTime(self)


STEPS = tuple(MethodStep)
INTERLEAVED = ", interleaved"
"""Ends the label of a series that was measured run by run beside another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideChoices(SeriesOptions):
    """One round of the method; ``size_bytes`` is None where a file is read that is there already."""

    step: MethodStep = MethodStep.TARGET
    target: Target | None = None
    file: str | None = None
    """The path of the file to get, in the form of ``Target.path``; absent where one is made."""
    file_bytes: int | None = None
    kerberos: bool = False
    quiet: QuietChoice | None = None
    """Absent until the step is done."""
    counted: bool = False
    series_id: str | None = None
    has_new_label: bool = False
    """Whether the label was typed after the series was measured: it is that of the next one."""
    proven_id: str | None = None
    """The changed series whose change is being proven: this round measures it again, or its restored base."""
    interleaved: int = 0
    """How many series each side of a change made by hand is to have, measured in alternation; 0 where it is not."""
    again_name: str | None = None
    again_value: str = ""
    """The change that is to be made again, once its base was measured with a larger file."""
    reviewed: bool = False
    compared: bool = False

    @property
    def makes_file(self) -> bool:
        return self.size_bytes is not None

    @property
    def run_bytes(self) -> int | None:
        return self.size_bytes if self.makes_file else self.file_bytes

    def to_memory(self) -> dict[str, JSONValue]:
        return asdict(self)

    @classmethod
    def from_memory(cls, found: Mapping[str, Any] | None) -> Self:
        try:
            return JSONNode("", found or {}).record(cls)
        except DocumentError:
            return cls()


def with_target(choices: GuideChoices, target: Target, *, kerberos: bool = False) -> GuideChoices:
    """A target has been reached; what belonged to another one is forgotten."""
    if choices.target is not None and is_same_server(choices.target, target):
        return replace(choices, target=target, kerberos=kerberos)
    return replace(choices, target=target, kerberos=kerberos, **_OF_ONE_SERVER, **_new_round(choices))


def with_file(choices: GuideChoices, folder: str, path: str, size_bytes: int) -> GuideChoices:
    assert choices.target is not None
    choices = replace(choices, target=replace(choices.target, path=folder), **_new_round(choices))
    return replace(choices, file=path, file_bytes=size_bytes, size_bytes=None, command=Command.GET)


def with_picked_file(choices: GuideChoices) -> GuideChoices:
    """A get of the file that was picked: a new round, unless it is what was measured."""
    picked = replace(choices, command=Command.GET, size_bytes=None)
    return choices if picked == choices else replace(picked, **_new_round(choices))


def with_made_file(choices: GuideChoices, command: Command, size_bytes: int) -> GuideChoices:
    """A file will be made: sent for a put, or put first and then read for a get."""
    return replace(choices, command=command, size_bytes=size_bytes, **_new_round(choices))


def new_measurement(choices: GuideChoices) -> GuideChoices:
    """A fresh start; how one measures is kept, what was measured is not."""
    return GuideChoices(**named(choices, "quiet", "runs", "warmups", "until_percent", "max_runs", "counted"))


def same_again(choices: GuideChoices) -> GuideChoices:
    repeated = {"experiment": choices.experiment, "base_id": choices.series_id, "proven_id": choices.proven_id}
    return replace(choices, **_new_round(choices) | repeated | {"step": MethodStep.RUN})


def measured_again(choices: GuideChoices, series: Series, proven_id: str | None) -> GuideChoices:
    """The settings of a series once more, as its repeat in its experiment."""
    kept = ("quiet", "kerberos", "label") if choices.has_new_label else ("quiet", "kerberos")
    again = replace(choices_of(series), **named(choices, *kept))
    return replace(again, step=MethodStep.RUN, base_id=series.id, proven_id=proven_id)


def choices_of(series: Series) -> GuideChoices:
    options = options_of(series)
    made = options.size_bytes is not None
    plain = options.label.removesuffix(INTERLEAVED)  # of a series without a label: what it measured
    is_made_up = plain != options.label and plain.startswith(f"{series.command} ")
    options = replace(options, label="" if is_made_up else plain)
    return GuideChoices(
        **asdict(options),
        target=series.target if made else replace(series.target, path=series.target.path.rpartition("/")[0]),
        file=None if made else series.target.path,
        file_bytes=None if made else max({run.size_bytes for run in series.runs}, default=None),
        quiet=QuietChoice.RECORD,
        counted=True,
    )


def from_there(series: Series) -> GuideChoices:
    """The change that is to be made next, the series being its base."""
    return replace(choices_of(series), step=MethodStep.CHANGE, series_id=series.id, reviewed=True, compared=True)


def to_be_made_again(choices: GuideChoices, change: Change | None) -> GuideChoices:
    """The base's round, after which the change is offered again."""
    return replace(choices, again_name=change.name, again_value=change.value) if change else choices


def next_round(choices: GuideChoices, name: str, value: str, experiment: str) -> GuideChoices:
    return replace(
        choices,
        **_NEW_ROUND
        | {"step": MethodStep.RUN, "base_id": choices.series_id, "experiment": experiment, "change_name": name}
        | {
            "again_name": None,
            "change_value": value,
            "label": (choices.has_new_label and choices.label) or _proposed(name, value),
        },
    )


def own_options(name: str, value: str) -> dict[str, Any]:
    """The program's own setting, as typed; nothing for another name. Raises UsageError."""
    option, read, _ = _OWN.get(name, ("", str, ""))
    return {option: read(value)} if option else {}


def _count(value: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise UsageError(f"in-flight = {value}: a whole number from 1 on is needed")
    return int(value)


def _switch(value: str) -> bool:
    words = {"required": "yes", "mandatory": "yes", "default": "no"}.get(value.lower(), tidy_value("", value))
    if words not in ("yes", "no"):
        raise UsageError(f"{value!r} is neither yes nor no")
    return words == "yes"


_OWN: Mapping[str, tuple[str, Callable[[str], object], str]] = {
    "in-flight": ("in_flight", _count, "has_depth"),
    "block": ("block_bytes", parse_size, ""),
    "client encrypt": ("encrypt", _switch, "has_dialect"),
    "client sign": ("sign", _switch, "has_dialect"),
}
"""The option of each, how it is read, and what the protocol must have for it."""
OWN_CHANGES = tuple(_OWN)


def changed(choices: GuideChoices, series: Series, name: str, value: str) -> GuideChoices:
    """The next round with that one change; the program's own settings are set along with it. Raises UsageError."""
    place = wording.plain(series.target.host or series.target.path)
    new_name = f"{series.target.protocol} {series.command} {place} {to_minute(series.created_at)}"
    needed = _OWN[name][2] if name in _OWN else ""
    if needed and not getattr(series.target.abilities, needed):
        raise UsageError(f"{name} is a setting of SMB: {series.target.abilities.label} has no such thing")
    if name in _OWN and (client := choices.client or series.client.name) != OWN:
        raise UsageError(f"{name} is a setting of sharebench's own client, and {client} measures here")
    own = own_options(name, value)
    if (own.get("encrypt") or own.get("sign")) and series.environment.get("path", {}).get("smb.guest") == "yes":
        raise UsageError(f"{name} needs a login: a guest session can be neither signed nor encrypted")
    if own.get("encrypt") and series.environment.get("server", {}).get("smb.conf/global/server smb encrypt") == "off":
        raise UsageError(f"{name} cannot work here: the server has smb encrypt = off")
    if own.get("encrypt") and (series.client.dialect or "3") < "3":
        raise UsageError(f"{name} needs SMB 3: the server spoke SMB {wording.plain(series.client.dialect or '')}")
    switch = next((one for one in own.values() if isinstance(one, bool)), None)
    value = value if switch is None else "yes" if switch else "no"
    return replace(next_round(choices, name, value, choices.experiment or series.experiment or new_name), **own)


def _proposed(name: str, value: str) -> str:
    return f"{name} = {value or 'empty'}"


def _new_round(choices: GuideChoices) -> dict[str, Any]:
    proposed = choices.change_name is not None and choices.label == _proposed(choices.change_name, choices.change_value)
    of_another = proposed or (choices.series_id is not None and not choices.has_new_label)
    return _NEW_ROUND | {"label": "" if of_another else choices.label}


_OF_ONE_SERVER = named(
    GuideChoices(), "file", "file_bytes", "size_bytes", "client", "link_bits_per_second", "sign", "encrypt",
    "drop_cache", "verify", "profile", "server_ssh", "smb_conf", "again_name",
)  # fmt: skip
"""What was chosen for one server or protocol, and may not fit another."""
_NEW_ROUND = named(
    GuideChoices(), "series_id", "reviewed", "compared", "experiment", "base_id", "proven_id", "interleaved",
    "change_name", "change_value",
)  # fmt: skip


def is_same_server(one: Target, other: Target) -> bool:
    """Whether it is one server, share and user: what is known of the one holds for the other."""
    return replace(one, path="") == replace(other, path="")


class Simple(Enum):
    """What needs nothing else said."""

    START = "measure the series"
    RESUME = "complete the series that was interrupted"
    LOOK_QUIET = "look for some seconds at who else is at work"


@dataclass(frozen=True, slots=True)
class Go:
    """Take these choices; their step is opened."""

    choices: GuideChoices


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
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
    credentials: str = ""


@dataclass(frozen=True, slots=True)
class Judge:
    """Mark a run of the series; a rejection needs a reason, which is asked for."""

    number: int
    status: RunStatus


@dataclass(frozen=True, slots=True)
class Store:
    """Write into the notebook, then take these choices."""

    job: Callable[[Notebook], None]
    choices: GuideChoices
    said: str = ""


@dataclass(frozen=True, slots=True)
class Visit:
    name: str
    arguments: dict[str, object] = field(default_factory=dict)


Act = Simple | Go | Ask | Connect | Judge | Store | Visit


@dataclass(frozen=True, slots=True)
class Option:
    title: str
    act: Act | None
    """None where it cannot be chosen now; the hint says why."""
    hint: str = ""
    advised: bool = False
    mark: Mark = Mark.NONE
    result: bool = False
    is_value: bool = False
    """Whether the hint is what holds now: where it is too long it is cut, not left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChart:
    """The rates of a series run by run, beside what was to be expected."""

    form: SeriesSummary
    expected_bytes_per_second: float | None = None
    expected_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    title: str
    why: str
    headline: tuple[Toned, ...] = ()
    facts: tuple[str | Toned, ...] = ()
    columns: str = ""
    options: tuple[Option, ...] = ()
    cursor: int = 0
    chart: PageChart | None = None


def ask(heading: str, then: "Callable[[str], Act]", value: str = "", *, keep: bool = False) -> Ask:
    return Ask(heading=heading, text=WORDS["questions"][heading], then=then, value=value, keep=keep)


WORDS = read_toml(Path(__file__).with_name("steps.toml").read_text(encoding="utf-8"))


def page(step: MethodStep, facts: Iterable[str | Toned], options: Iterable[Option], **more: Any) -> Page:
    words = WORDS[step]
    own = [words["fact"]] if "fact" in words else []
    return Page(title=words["title"], why=words["why"], facts=(*own, *facts), options=tuple(options), **more)
