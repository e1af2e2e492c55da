"""One session of the guide: its steps are generators of what they need, and take each answer or error."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.base.errors import LoginError, MeasurementError, UsageError
from app.clients.base import Secrets
from app.guide import choices as acts
from app.guide import known as store
from app.guide.backend import Backend, Logins, PasswordNeededError
from app.guide.choices import STEPS, GuideChoices, MethodStep
from app.guide.known import GuideContext, LinkState, around, blocked, link_to, towards, with_picked
from app.recording.process import Failed, SeriesControl
from app.recording.spec import SeriesRequest
from app.series.requests import series_request
from forms import wording
from storage.notebook import Notebook
from storage.records import Command, RunStatus, SeriesStatus, Target, format_target

if TYPE_CHECKING:
    from app.guide.browsing import BrowsedFolder

WAIT_SECONDS = 600.0


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
    opened: Callable[[str], None] = lambda _series_id: None

    def events(self) -> Iterator[Any]:
        """The recorder's. A password that was refused is not sent again."""
        path, control = self.notebook_path, self.control
        if self.request is not None:
            events = self.backend.record(self.request, path, control)
        else:
            events = self.backend.resume(self.resumed_id, self.secrets, path, control, confirmed=self.confirmed)
        for event in events:
            if isinstance(event, Failed) and event.kind is LoginError and not self.secrets.kerberos:
                assert self.target is not None
                self.logins.refuse(self.target)
            yield event


def request_of(choices: GuideChoices, secrets: Secrets) -> SeriesRequest:
    """The series that the choices describe. Raises UsageError where they are not complete."""
    if choices.target is None or choices.run_bytes is None:
        raise UsageError("choose a target and a file first")
    makes_first = choices.makes_file and choices.spec.command is Command.GET and choices.target.abilities.moves_files
    target = choices.target if choices.makes_file else replace(choices.target, path=choices.file or "")
    quiet = choices.quiet or acts.QuietChoice.RECORD
    spec = replace(
        choices.spec,
        counts=replace(choices.spec.counts, make_file=makes_first),
        monitor=replace(choices.spec.monitor, quiet_time=quiet.quiet_time),
        wait_seconds=WAIT_SECONDS if quiet is acts.QuietChoice.WAIT else 0.0,
    )
    return series_request(spec, target, secrets)


@dataclass(frozen=True, slots=True)
class Work:
    """Do this in a thread; answered with its result. Newer work of the same group silences it."""

    job: Callable[[], Any]
    doing: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    heading: str
    text: str
    value: str = ""
    wrong: str = ""
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


Steps = Generator["Work | Words | Password | Tell | BrowsedFolder | MeasurementJob | acts.Visit", Any, Any]
"""A folder is answered with one of its items, a measurement, shown to its end, with the id of its series or None."""


class GuideSession:
    def __init__(
        self, path: Path, backend: Backend, logins: Logins, practice: Sequence[Target], targets: store.Targets
    ) -> None:
        self.path, self.backend, self.logins, self.practice, self.targets = path, backend, logins, practice, targets
        self.choices = GuideChoices()
        self.known = GuideContext()
        self.judgements: list[Callable[[Notebook], None]] = []
        self.typed: dict[str, str] = {}
        self.left: list[tuple[GuideChoices, GuideChoices]] = []  # how new rounds began, and what was left for each

    def _stored(self, job: Callable[[Notebook], Any], *, group: str = "") -> Work:
        def stored() -> Any:
            with Notebook(self.path) as notebook:
                return job(notebook)

        return Work(stored, group=group)

    def recall(self) -> Steps:
        recall = partial(store.recall, practice=self.practice, targets=self.targets)
        self.choices, self.known = yield self._stored(recall)
        series, is_at_run = self.known.series, self.choices.step is MethodStep.RUN
        if is_at_run and series and series.status is SeriesStatus.COMPLETE:  # the screen of the run was left
            self.choices = self._after_measuring(self.choices, self.known)

    def look_at_link(self) -> Steps:
        if (target := self.choices.target) is not None:
            link: LinkState = yield Work(lambda: link_to(target, self.backend), group="link")
            self.known = replace(self.known, link=link)

    def take(self, choices: GuideChoices) -> Steps:
        """Keep the choices; always the last step, since another one may silence it."""
        is_earlier = STEPS.index(choices.step) <= STEPS.index(self.choices.step)
        anew = (
            self.choices.series_id is not None
            and choices.series_id is None
            and (choices.spec.lineage.base_id or is_earlier)
        )
        if anew or (self.has_just_begun and is_earlier and choices.step is STEPS[0]):
            self.left.append((choices, self.choices))
        self.choices, known = choices, self.known
        found: GuideContext = yield self._stored(lambda notebook: store.keep(notebook, choices, known), group="keep")
        self.known = replace(found, link=self.known.link, quiet=self.known.quiet)

    def go(self, step: MethodStep) -> Steps:
        if why := blocked(self.choices, self.known, step):
            yield Tell(text=f"{step}: {why}")
        else:
            yield from self.take(replace(self.choices, step=step))

    def go_by(self, number: int) -> Steps:
        yield from self.go(STEPS[min(max(0, STEPS.index(self.choices.step) + number), len(STEPS) - 1)])

    @property
    def has_just_begun(self) -> bool:
        """Whether nothing was chosen yet in a new round; Escape then returns to the round before."""
        return bool(self.left) and self.choices == self.left[-1][0]

    def back(self) -> Steps:
        """To the step before; from where a new round began, to the round that was left for it."""
        if self.has_just_begun:
            of_target = self.choices.target
            yield from self.take(self.left.pop()[1])
            if self.choices.target != of_target:
                self.known = replace(self.known, quiet=None)
                yield from self.look_at_link()
        else:
            yield from self.go_by(-1)

    def undo(self) -> Steps:
        """Take the last mark back; it stays the last one where that cannot be stored."""
        judgement = self.judgements.pop()
        try:
            yield from self.do(acts.Store(judgement, self.choices))
        except Exception:
            self.judgements.append(judgement)
            raise

    def do(self, act: acts.Act | None) -> Steps:
        choices, series_id = self.choices, self.choices.series_id
        match act:
            case acts.Go(following):
                yield from self.take(following)
            case acts.Ask():
                yield from self.ask(act)
            case acts.Connect(target, kerberos):
                yield from self._connect(target, kerberos=kerberos)
            case acts.Simple.LOOK_QUIET if choices.target is not None:
                job = partial(self.backend.quiet, choices.target, choices.spec.command)
                self.known = replace(self.known, quiet=(yield Work(job, "checking for other load", "look")))
            case acts.Simple.START | acts.Simple.RESUME:
                yield from self._measure(resumed=act is acts.Simple.RESUME)
            case acts.Judge(number, status) if series_id is not None:
                yield from self._judge(series_id, number, status)
            case acts.Store(write, following, said):
                yield self._stored(write)
                if said:
                    yield Tell(text=said)
                yield from self.take(following)
            case acts.Visit():
                taken = yield act
                if taken is not None:
                    yield from self.take(taken)

    def ask(self, ask: acts.Ask, value: str | None = None) -> Steps:
        """Until the answer is understood; ``value`` stands there in place of what is usual or was typed last."""
        if value is None:
            value = self.typed.get(ask.heading, ask.value) if ask.keep else ask.value
        wrong = ""
        while True:
            text = yield Words(heading=ask.heading, text=ask.text, value=value, wrong=wrong)
            try:
                act = ask.then(text)
                if isinstance(act, acts.Connect) and act.credentials:
                    act = acts.Connect(self.logins.from_file(act.target, Path(act.credentials).expanduser()))
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
            about = "A reason that you could tell a colleague, such as: the backup started."
            reason = yield Words(heading=f"Why is run {number} unusable?", text=about, needed=True)
            if not reason:
                raise UsageError("a run is left out only with a reason")
        judged = self._stored(lambda notebook: store.judge(notebook, series_id, number, status, reason))
        self.judgements.append((yield judged))
        yield from self.take(replace(self.choices, reviewed=False))

    def secrets(
        self, target: Target, *, kerberos: bool = False, why: str = ""
    ) -> Generator[Password, Secrets, Secrets]:
        """What logs in to the target, asked for where nobody has said it, or ``why`` it is not known any more."""
        try:
            return self.logins.find(target, kerberos=kerberos)
        except PasswordNeededError as error:
            secrets = yield Password(target, why or (str(error) if self.logins.is_refused(target) else ""))
            self.logins.keep(target, secrets)
            return secrets

    def _connect(self, target: Target, *, kerberos: bool = False) -> Steps:
        from app.guide.browsing import ItemKind, inside  # noqa: PLC0415  loaded when it is first needed

        choices, known = towards(target, self.choices, self.known)
        place, why = None, ""
        while True:
            secrets = yield from self.secrets(target, kerberos=kerberos, why=why)
            look = partial(self._look, target, secrets, choices, known)
            try:
                known, place = yield Work(look, f"connecting to {wording.plain(format_target(target))}", "look")
            except LoginError as error:
                if kerberos:
                    raise
                self.logins.refuse(target)
                if target.user:
                    why = str(error)
                else:
                    text = yield Words(heading="Which user?", text=f"{error}: USER or DOMAIN;USER.", needed=True)
                    domain, _, user = text.strip().rpartition(";")
                    target = replace(target, user=user, domain=domain or target.domain)
                continue
            except MeasurementError as error:
                if place is None:
                    raise
                yield Tell(text=str(error), heading="That did not work")
            if place.is_chosen:
                target, item = place.target, place.file
                break
            item = yield place
            if item.kind in {ItemKind.FILE, ItemKind.MADE}:
                target, item = place.target, item if item.kind is ItemKind.FILE else None
                break
            target = inside(place.target, item)
        self.typed.clear()
        self.known = known
        yield from self.take(with_picked(self.choices, target, item, kerberos=kerberos))

    def _look(self, target: Target, secrets: Secrets, choices: GuideChoices, known: GuideContext) -> Any:
        if not known.link.why:
            known = replace(known, link=link_to(target, self.backend))
        return known, self.backend.look(target, secrets, around(choices, known))

    def opened(self, series_id: str) -> Steps:
        """There is a series: remember it at once, so that a crash does not lose it."""
        yield from self.take(self._with_series(series_id))

    def _with_series(self, series_id: str) -> GuideChoices:
        agreed = replace(self.choices, quiet=self.choices.quiet or acts.QuietChoice.RECORD, counted=True)
        is_new = agreed.has_new_label and series_id == agreed.series_id
        return replace(agreed, series_id=series_id, has_new_label=is_new, reviewed=False, compared=False)

    @staticmethod
    def _after_measuring(choices: GuideChoices, known: GuideContext) -> GuideChoices:
        from app.guide.after_run import after_measuring  # noqa: PLC0415  the first paint does not wait for it

        return after_measuring(choices, known)

    def _measure(self, *, resumed: bool) -> Steps:
        choices, series = self.choices, self.known.series
        assert choices.target is not None
        confirmed = resumed and series is not None and series.imported_at is not None
        if confirmed and series is not None:
            user = f" as {series.target.user}" if series.target.user else ""
            place = format_target(series.target)
            text = f"The series was imported. To resume it, sharebench logs in{user} at\n\n{place}"
            yield Tell(text=text, heading="Is this the server that you mean?", yes="Log in there")
        secrets = yield from self.secrets(choices.target, kerberos=choices.kerberos)
        yield self._stored(lambda notebook: store.begin_round(notebook, choices))
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
            measured, known = self._with_series(series_id), self.known
            kept = yield self._stored(lambda notebook: store.keep(notebook, measured, known))
            following = self._after_measuring(measured, kept)
        yield from self.take(following)
