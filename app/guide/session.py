"""One session of the guide: its steps are generators of what they need, and take each answer or error."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from app.backend import Backend
from app.base.errors import LoginError, MeasurementError, UsageError
from app.clients.base import Secrets
from app.clients.session_logins import Logins, PasswordNeededError
from app.guide import context as notes
from app.guide.after_measuring import after_measuring
from app.guide.context import GuideContext, LinkState, file_size_context, link_to, towards, with_picked
from app.guide.page import Act, Ask, Connect, Go, Judge, Simple, Store, Visit
from app.guide.steps import why_blocked
from app.method.choices import STEPS, GuideChoices, MethodStep, QuietChoice
from app.method.rounds import request_of
from app.recording.process import Failed, SeriesControl
from app.recording.spec import SeriesRequest
from forms import wording
from storage.notebook import Notebook
from storage.records import RunStatus, Series, SeriesStatus, Target, format_target

if TYPE_CHECKING:
    from app.clients.browsing import BrowsedFolder, Item


def _ignore_opened(_series_id: str) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementJob:
    """A new series, or one to be completed; ``events`` is asked for once, in a thread."""

    backend: Backend
    notebook_path: Path
    title: str
    target: Target | None = None
    request: SeriesRequest | None = None
    resumed_id: str | None = None
    confirmed: bool = False
    """Whether the user has said that the target of an imported one is meant."""
    secrets: Secrets = field(default_factory=Secrets)
    logins: Logins = field(default_factory=Logins)
    control: SeriesControl = field(default_factory=SeriesControl)
    opened: Callable[[str], None] = _ignore_opened

    def events(self) -> Iterator[Any]:
        """The recorder's. A password that was refused is not sent again."""
        for event in self._recorder_events():
            if isinstance(event, Failed) and event.kind is LoginError and not self.secrets.kerberos:
                assert self.target is not None
                self.logins.refuse(self.target)
            yield event

    def _recorder_events(self) -> Iterator[Any]:
        if self.request is not None:
            return self.backend.record(self.request, self.notebook_path, self.control)
        assert self.resumed_id is not None
        return self.backend.resume(
            self.resumed_id, self.secrets, self.notebook_path, self.control, confirmed=self.confirmed
        )


@dataclass(frozen=True, slots=True)
class Work:
    """Do this in a thread; answered with its result. Newer work of the same group silences it."""

    job: Callable[[], Any]
    doing: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Ask for a line of text."""

    heading: str
    text: str
    value: str = ""
    wrong: str = ""
    """What was typed and not understood."""
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Password:
    """Ask for the secrets of the target's user; ``why`` says what became of the one that was known."""

    target: Target
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tell:
    """Say something; with a heading it must be read, with ``yes`` it must be agreed to."""

    text: str
    heading: str = ""
    yes: str = ""


Steps = Generator["Work | Words | Password | Tell | BrowsedFolder | MeasurementJob | Visit", Any, Any]
"""A folder is answered with one of its items, a measurement, shown to its end, with the id of its series or None."""


class _LeftRound(NamedTuple):
    begun: GuideChoices
    """How the new round began."""
    left: GuideChoices
    """The round that was left for it."""


class GuideSession:
    def __init__(
        self, path: Path, backend: Backend, logins: Logins, practice: Sequence[Target], targets: notes.Targets
    ) -> None:
        self.path = path
        self.backend = backend
        self.logins = logins
        self.practice = practice
        self.targets = targets
        self.choices = GuideChoices()
        self.known = GuideContext()
        self.judgements: list[Callable[[Notebook], None]] = []
        """What takes each mark back, the last one last."""
        self.typed: dict[str, str] = {}
        self.left: list[_LeftRound] = []

    def _in_notebook(self, job: Callable[[Notebook], Any], *, group: str = "") -> Work:
        def work() -> Any:
            with Notebook(self.path) as notebook:
                return job(notebook)

        return Work(work, group=group)

    def recall(self) -> Steps:
        recall = partial(notes.recall, practice=self.practice, targets=self.targets)
        self.choices, self.known = yield self._in_notebook(recall)

        series = self.known.series
        if self.choices.step is MethodStep.RUN and series and series.status is SeriesStatus.COMPLETE:
            # The screen of the run was left.
            self.choices = after_measuring(self.choices, self.known)

    def look_at_link(self) -> Steps:
        if (target := self.choices.target) is not None:
            link: LinkState = yield Work(lambda: link_to(target, self.backend), group="link")
            self.known = replace(self.known, link=link)

    def take(self, choices: GuideChoices) -> Steps:
        """Keep the choices; always the last step, since another one may silence it."""
        if self._begins_new_round(choices):
            self.left.append(_LeftRound(begun=choices, left=self.choices))
        self.choices = choices

        before = self.known
        context: GuideContext = yield self._in_notebook(
            lambda notebook: notes.keep(notebook, choices, before), group="keep"
        )
        # The link and the quiet time may have been looked at meanwhile.
        self.known = replace(context, link=self.known.link, quiet=self.known.quiet)

    def _begins_new_round(self, choices: GuideChoices) -> bool:
        is_earlier = STEPS.index(choices.step) <= STEPS.index(self.choices.step)
        leaves_measured = self.choices.series_id is not None and choices.series_id is None
        if leaves_measured and (choices.spec.lineage.base_id or is_earlier):
            return True
        return self.has_just_begun and is_earlier and choices.step is STEPS[0]

    def go(self, step: MethodStep) -> Steps:
        if obstacle := why_blocked(self.choices, self.known, step):
            yield Tell(text=f"{step}: {obstacle}")
        else:
            yield from self.take(replace(self.choices, step=step))

    def go_by(self, number: int) -> Steps:
        last = len(STEPS) - 1
        index = STEPS.index(self.choices.step) + number
        yield from self.go(STEPS[min(max(0, index), last)])

    @property
    def has_just_begun(self) -> bool:
        """Whether nothing was chosen yet in a new round; Escape then returns to the round before."""
        return bool(self.left) and self.choices == self.left[-1].begun

    def back(self) -> Steps:
        """To the step before; from where a new round began, to the round that was left for it."""
        if not self.has_just_begun:
            yield from self.go_by(-1)
            return

        target_before = self.choices.target
        yield from self.take(self.left.pop().left)
        if self.choices.target != target_before:
            self.known = replace(self.known, quiet=None)
            yield from self.look_at_link()

    def undo(self) -> Steps:
        """Take the last mark back; it stays the last one where that cannot be stored."""
        judgement = self.judgements.pop()
        try:
            yield from self.do(Store(judgement, self.choices))
        except Exception:
            self.judgements.append(judgement)
            raise

    def do(self, act: Act | None) -> Steps:
        choices = self.choices
        match act:
            case Go(following):
                yield from self.take(following)
            case Ask():
                yield from self.ask(act)
            case Connect(target, kerberos):
                yield from self._connect(target, kerberos=kerberos)
            case Simple.LOOK_QUIET if choices.target is not None:
                look = partial(self.backend.quiet, choices.target, choices.spec.command)
                self.known = replace(self.known, quiet=(yield Work(look, "checking for other load", "look")))
            case Simple.START | Simple.RESUME:
                yield from self._measure(resumed=act is Simple.RESUME)
            case Judge(number, status) if choices.series_id is not None:
                yield from self._judge(choices.series_id, number, status)
            case Store(write, following, said):
                yield self._in_notebook(write)
                if said:
                    yield Tell(text=said)
                yield from self.take(following)
            case Visit():
                following_choices = yield act
                if following_choices is not None:
                    yield from self.take(following_choices)

    def ask(self, ask: Ask, value: str | None = None) -> Steps:
        """Until the answer is understood; ``value`` stands there in place of what is usual or was typed last."""
        if value is None:
            value = self.typed.get(ask.heading, ask.value) if ask.keep else ask.value
        wrong = ""
        while True:
            text = yield Words(heading=ask.heading, text=ask.text, value=value, wrong=wrong)
            try:
                act = ask.then(text)
                if isinstance(act, Connect) and act.credentials:
                    act = Connect(self.logins.from_file(act.target, Path(act.credentials).expanduser()))
                break
            except UsageError as error:
                yield Tell(text=str(error), heading="Not understood")
                wrong = text

        if ask.keep:
            self.typed[ask.heading] = text
        yield from self.do(act)

    def _judge(self, series_id: str, number: int, status: RunStatus) -> Steps:
        reason = None
        if status is not RunStatus.VALID:
            example = "A reason that you could tell a colleague, such as: the backup started."
            reason = yield Words(heading=f"Why is run {number} unusable?", text=example, needed=True)
            if not reason:
                raise UsageError("a run is left out only with a reason")

        take_back = yield self._in_notebook(lambda notebook: notes.judge(notebook, series_id, number, status, reason))
        self.judgements.append(take_back)
        yield from self.take(replace(self.choices, reviewed=False))

    def secrets(
        self, target: Target, *, kerberos: bool = False, why: str = ""
    ) -> Generator[Password, Secrets, Secrets]:
        """What logs in to the target, asked for where nobody has said it, or ``why`` it is not known any more."""
        try:
            return self.logins.find(target, kerberos=kerberos)
        except PasswordNeededError as error:
            refusal = str(error) if self.logins.is_refused(target) else ""
            secrets = yield Password(target, why or refusal)
            self.logins.keep(target, secrets)
            return secrets

    def _connect(self, target: Target, *, kerberos: bool = False) -> Steps:
        from app.clients.browsing import ItemKind, inside

        choices, context = towards(target, self.choices, self.known)
        place: BrowsedFolder | None = None
        file: Item | None = None
        refusal = ""
        while True:
            secrets = yield from self.secrets(target, kerberos=kerberos, why=refusal)
            look = partial(self._look, target, secrets, choices, context)
            try:
                context, place = yield Work(look, f"connecting to {wording.plain(format_target(target))}", "look")
            except LoginError as error:
                if kerberos:
                    raise
                self.logins.refuse(target)
                refusal = str(error) if target.user else ""
                if not target.user:
                    target = yield from _ask_user(target, error)
                continue
            except MeasurementError as error:
                if place is None:
                    raise
                # Back to the folder that was seen last.
                yield Tell(text=str(error), heading="That did not work")

            assert place is not None
            if place.is_chosen:
                file = place.file
                break
            item = yield place
            if item.kind is ItemKind.FILE:
                file = item
                break
            if item.kind is ItemKind.MADE:
                break
            target = inside(place.target, item)

        self.typed.clear()
        self.known = context
        yield from self.take(with_picked(self.choices, place.target, file, kerberos=kerberos))

    def _look(
        self, target: Target, secrets: Secrets, choices: GuideChoices, context: GuideContext
    ) -> "tuple[GuideContext, BrowsedFolder]":
        if not context.link.why:
            context = replace(context, link=link_to(target, self.backend))
        return context, self.backend.look(target, secrets, file_size_context(choices, context))

    def opened(self, series_id: str) -> Steps:
        """There is a series: remember it at once, so that a crash does not lose it."""
        yield from self.take(self._with_series(series_id))

    def _with_series(self, series_id: str) -> GuideChoices:
        choices = self.choices
        return replace(
            choices,
            quiet=choices.quiet or QuietChoice.RECORD,
            counted=True,
            series_id=series_id,
            has_new_label=choices.has_new_label and series_id == choices.series_id,
            reviewed=False,
            compared=False,
        )

    def _measure(self, *, resumed: bool) -> Steps:
        choices = self.choices
        assert choices.target is not None
        confirmed = False
        if resumed and self.known.series is not None and self.known.series.imported_at is not None:
            yield _confirm_server(self.known.series)
            confirmed = True

        secrets = yield from self.secrets(choices.target, kerberos=choices.kerberos)
        yield self._in_notebook(lambda notebook: notes.begin_round(notebook, choices))
        job = MeasurementJob(
            backend=self.backend,
            notebook_path=self.path,
            title=f"Run · {choices.spec.command} · {format_target(choices.target)}",
            target=choices.target,
            request=None if resumed else request_of(choices, secrets),
            resumed_id=choices.series_id if resumed else None,
            confirmed=confirmed,
            secrets=secrets,
            logins=self.logins,
        )

        following = replace(self.choices, step=MethodStep.RUN)
        if (series_id := (yield job)) is not None:
            measured = self._with_series(series_id)
            before = self.known
            context = yield self._in_notebook(lambda notebook: notes.keep(notebook, measured, before))
            following = after_measuring(measured, context)
        yield from self.take(following)


def _ask_user(target: Target, error: LoginError) -> Generator[Words, str, Target]:
    """The target with the user that is typed, since it takes no guests."""
    text = yield Words(heading="Which user?", text=f"{error}: USER or DOMAIN;USER.", needed=True)
    domain, _, user = text.strip().rpartition(";")
    return replace(target, user=user, domain=domain or target.domain)


def _confirm_server(series: Series) -> Tell:
    user = f" as {series.target.user}" if series.target.user else ""
    place = format_target(series.target)
    text = f"The series was imported. To resume it, sharebench logs in{user} at\n\n{place}"
    return Tell(text=text, heading="Is this the server that you mean?", yes="Log in there")
