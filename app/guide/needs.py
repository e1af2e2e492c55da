"""What a session of the guide needs of whoever shows it, the screen or the plain guide.

A step of the session is a generator (``Steps``) that yields what it needs, one need after the other. Whoever shows the
guide meets the need, and sends the answer into the generator, or throws into it the error that came in its place:

- ``Work``: the result of its job. Newer work of the same group silences it: its step never continues. The groups are
  ``keep`` (choices are stored), ``link`` (the way to the target is looked at) and ``look`` (a server is looked at).
  Work without a group is always answered.
- ``Words``: the line that was typed. ``Password``: the secrets.
- ``Tell``: None. Where it asks for a yes, the step does not continue after a no: it is closed, or UsageError is thrown.
- ``BrowsedFolder``: one of its items.
- ``MeasurementJob``, shown to its end: the id of its series, None if nothing was stored.
- ``ComparisonJob``, shown to its end: the ids of all series, None if the first was not stored.
- ``page.Visit``, another screen: the choices that were made there, None for none; a screen that opens another one
  closes the step instead.

Who goes back in place of an answer closes the step, or throws what says so.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.backend import Backend
from app.base import errors
from app.clients import session_logins
from app.clients.base import Secrets
from app.clients.browsing import BrowsedFolder
from app.guide.page import Visit
from app.recording import process
from app.recording.spec import SeriesRequest
from app.series.begin_wait import wait_to_begin
from app.series.events import SeriesClosed, SeriesStored
from app.series.resume import Resumption
from storage import records

_WHY_APART = "repeats some minutes apart show how far the path moves; g measures now"


def _ignore_opened(_series_id: str) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementJob:
    """Measure a new series, or complete one; ``events`` is asked for once, in a thread."""

    backend: Backend
    notebook_path: Path
    title: str
    target: records.Target | None = None
    request: SeriesRequest | None = None
    """Of a new series; None where one is completed."""
    resumed_id: str | None = None
    """The series that is completed."""
    begins_at: float | None = None
    """When a new series is to begin, in seconds since 1970; None for at once."""
    repeat: str = ""
    """Which repeat of a base it is: ``Repeat 1 of 2``; empty for a series that is none of several."""
    is_followed: bool = False
    """Whether another repeat follows by itself, so that nobody is asked to look at this one."""
    confirmed: bool = False
    """Whether the user has said that the target of an imported one is meant."""
    secrets: Secrets = field(default_factory=Secrets)
    logins: session_logins.Logins = field(default_factory=session_logins.Logins)
    control: process.SeriesControl = field(default_factory=process.SeriesControl)
    opened: Callable[[str], None] = _ignore_opened
    """Called with the id of the series once it is stored."""

    def events(self) -> Iterator[Any]:
        """The recorder's events; a password that was refused is marked, so that it is not sent again."""
        if self.begins_at is not None:
            yield from wait_to_begin(self.begins_at, _WHY_APART, self.control)
            if self.control.cancelled.is_set():
                yield from self._events_of_cancelled_wait()
                return

        for event in self._recorder_events():
            if isinstance(event, process.Failed) and event.kind is errors.LoginError and not self.secrets.kerberos:
                assert self.target is not None
                self.logins.refuse(self.target)
            yield event

    def _events_of_cancelled_wait(self) -> Iterator[Any]:
        failure = process.Failed(kind=errors.CancelledError, text=self.control.why_cancelled)
        yield failure
        yield SeriesClosed(series_id="", status=records.SeriesStatus.INTERRUPTED, failure=failure, stored=False)

    def _recorder_events(self) -> Iterator[Any]:
        if self.request is not None:
            return self.backend.record(self.request, self.notebook_path, self.control)
        assert self.resumed_id is not None
        return self.backend.resume(
            self.resumed_id, self.secrets, self.notebook_path, self.control, confirmed=self.confirmed
        )


def _ignore_opened_side(_index: int, _series_id: str) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonJob:
    """Measure several targets interleaved, or complete that; ``events`` is asked for once, in a thread.

    What is a tuple here has the round's own target first.
    """

    backend: Backend
    notebook_path: Path
    title: str
    targets: tuple[records.Target, ...]
    names: tuple[str, ...]
    runs: int
    """How many measured runs each side has in the end."""
    runs_to_come: tuple[int, ...]
    """How many runs of each side are still to come, warm-up runs included."""
    rates_before: tuple[Mapping[int, float], ...]
    """The rates in bytes/s of the runs of each side that were measured before, by their numbers."""
    todo: tuple[SeriesRequest | Resumption, ...]
    """What is measured: a series of each side, or those of them that are not complete."""
    places: tuple[int, ...]
    """Which side each of ``todo`` is of."""
    stored_ids: tuple[str, ...]
    """The series of the sides that are there already; empty texts for new ones."""
    logins: session_logins.Logins = field(default_factory=session_logins.Logins)
    control: process.SeriesControl = field(default_factory=process.SeriesControl)
    opened: Callable[[int, str], None] = _ignore_opened_side
    """Called with the side and the id of its series once that is stored."""

    def events(self) -> Iterator[tuple[int, Any]]:
        """The recorder's events, each with the place of its side; a password that was refused is marked."""
        for index, event in self.backend.interleave(self.todo, self.notebook_path, self.control):
            place = self.places[index]
            is_refused = isinstance(event, process.Failed) and event.kind is errors.LoginError
            if is_refused and not self.todo[index].secrets.kerberos:
                self.logins.refuse(self.targets[place])
            yield place, event

    def with_secrets(self, place: int, secrets: Secrets) -> "ComparisonJob":
        """The same with another login at that side."""
        todo = tuple(
            replace(item, secrets=secrets) if side == place else item
            for item, side in zip(self.todo, self.places, strict=True)
        )
        return replace(self, todo=todo, control=process.SeriesControl())


class ComparisonEnd:
    """What came of a comparison, by the events of its sides."""

    def __init__(self, job: ComparisonJob) -> None:
        self._ids = list(job.stored_ids)
        self._failures: dict[int, process.Failed] = {}

    def take_event(self, place: int, event: Any) -> None:
        if isinstance(event, SeriesStored):
            self._ids[place] = event.series_id
        elif isinstance(event, process.Failed):
            self._failures.setdefault(place, event)
        elif isinstance(event, SeriesClosed) and not event.stored:
            self._ids[place] = ""

    @property
    def ids(self) -> tuple[str, ...] | None:
        """Of all series, empty for one that was not stored; None where the first was not."""
        return tuple(self._ids) if self._ids[0] else None

    @property
    def failure(self) -> tuple[int, process.Failed] | None:
        """The side that ended the comparison, and by what; None where nothing did.

        One that was cancelled because of another is not it.
        """
        by_cause = sorted(self._failures.items(), key=_is_cancelled)
        return by_cause[0] if by_cause else None


def _is_cancelled(place_and_failure: tuple[int, process.Failed]) -> bool:
    return place_and_failure[1].kind is errors.CancelledError


@dataclass(frozen=True, slots=True)
class Work:
    """Do this in a thread; answered with its result."""

    job: Callable[[], Any]
    doing: str = ""
    """What is shown meanwhile, such as ``connecting to …``; empty for nothing."""
    group: str = ""
    """Newer work of the same group silences this one: it is never answered. Empty for work that always is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Ask for a line of text."""

    heading: str
    text: str
    value: str = ""
    """What stands there before anything is typed."""
    wrong: str = ""
    """What was typed and not taken."""
    problem: str = ""
    """Why it was not taken."""
    needed: bool = False
    """Whether an empty line is no answer."""
    is_target: bool = False
    """Whether a target is asked for, which is completed while it is typed."""


@dataclass(frozen=True, slots=True)
class Password:
    """Ask for the secrets of the target's user; ``why`` says what became of the one that was known."""

    target: records.Target
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tell:
    """Say something; with a heading it must be read, with ``yes`` it must be agreed to."""

    text: str
    heading: str = ""
    yes: str = ""
    """What to agree to says, such as ``Log in there``; empty where there is nothing to agree to."""


Need = Work | Words | Password | Tell | MeasurementJob | ComparisonJob | BrowsedFolder | Visit
Steps = Generator[Need, Any, Any]
"""A step of the session, or several: see the docstring of this module."""
Drive = Callable[[Steps], Any]
"""Carries steps out to their end."""
