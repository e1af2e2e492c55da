"""One session of the guide: its steps are generators of what they need, and take each answer or error."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from app.backend import Backend
from app.base import errors
from app.clients import session_logins
from app.clients.base import Secrets
from app.guide import context as guide_context
from app.guide import needs, page
from app.guide.after_measuring import after_measuring
from app.guide.steps import why_blocked
from app.method import choices as method_choices
from app.method.rounds import request_of
from forms import wording
from storage import records
from storage.notebook import Notebook

if TYPE_CHECKING:
    from app.clients.browsing import BrowsedFolder, Item


Steps = Generator[
    "needs.Need | BrowsedFolder | page.Visit",
    Any,
    Any,
]
"""What a step needs, one after the other: whoever shows the guide sends each answer into it, or throws what went wrong.

Work: the result of its job. Newer work of the same group silences it: its step never goes on. The groups are
``keep`` (choices are stored), ``link`` (the way to the target) and ``look`` (a server is looked at). Work without a
group is always answered.
Words: the line that was typed. Password: the secrets.
Tell: None. Where it asks for a yes, the step does not go on after a no: it is closed, or UsageError is thrown.
BrowsedFolder: one of its items. MeasurementJob, shown to its end: the id of its series, None if nothing was stored.
Visit: the choices that were made there, None for none; a screen that opens another closes the step instead.

Who goes back in place of an answer closes the step, or throws what says so.
"""


class _LeftRound(NamedTuple):
    choices: method_choices.GuideChoices
    """Those of the round that was left."""
    next_begun: method_choices.GuideChoices
    """How the round began that it was left for."""


class GuideSession:
    def __init__(
        self,
        path: Path,
        backend: Backend,
        logins: session_logins.Logins,
        practice: Sequence[records.Target],
        targets: guide_context.Targets,
    ) -> None:
        self.path = path
        self.backend = backend
        self.logins = logins
        self.practice = practice
        self.targets = targets

        self.choices = method_choices.GuideChoices()
        """Of the round that is shown."""
        self.known = guide_context.GuideContext()
        """What else is known of it, from the notebook and from its server."""
        self.judgements: list[Callable[[Notebook], None]] = []
        """What takes each mark back, the last one last."""
        self.typed: dict[str, str] = {}
        """The last answer to each question that keeps it, by its heading."""
        self.left_rounds: list[_LeftRound] = []
        """The rounds that going back leads to, the last one last."""

    def _in_notebook(self, job: Callable[[Notebook], Any], *, group: str = "") -> needs.Work:
        def work() -> Any:
            with Notebook(self.path) as notebook:
                return job(notebook)

        return needs.Work(work, group=group)

    def recall(self) -> Steps:
        recall = partial(guide_context.recall, practice=self.practice, targets=self.targets)
        self.choices, self.known = yield self._in_notebook(recall)

        series = self.known.series
        if (
            self.choices.step is method_choices.MethodStep.RUN
            and series
            and series.status is records.SeriesStatus.COMPLETE
        ):
            # The screen of the run was left.
            self.choices = after_measuring(self.choices, self.known)

    def look_at_link(self) -> Steps:
        if (target := self.choices.target) is not None:
            look = partial(guide_context.link_to, target, self.backend)
            link: guide_context.LinkState = yield needs.Work(look, group="link")
            self.known = replace(self.known, link=link)

    def take(self, choices: method_choices.GuideChoices) -> Steps:
        """Keep the choices. Nothing may follow it in a step: the next choices to be kept silence this one."""
        if self._begins_new_round(choices):
            self.left_rounds.append(_LeftRound(choices=self.choices, next_begun=choices))
        self.choices = choices

        keep = partial(guide_context.keep, choices=choices, before=self.known)
        context: guide_context.GuideContext = yield self._in_notebook(keep, group="keep")
        # The link and the quiet time may have been looked at meanwhile.
        self.known = replace(context, link=self.known.link, quiet=self.known.quiet)

    def _begins_new_round(self, choices: method_choices.GuideChoices) -> bool:
        """Whether these choices leave the round that is shown, so that going back is to lead to it again."""
        steps = method_choices.STEPS
        is_not_later = steps.index(choices.step) <= steps.index(self.choices.step)
        is_back_at_first = is_not_later and choices.step is steps[0]

        # A round measures one series, so that choices without it are of another one: of one that is made from its
        # series, whichever step that begins with, or of a fresh one, which begins no later than here.
        leaves_series = self.choices.series_id is not None and choices.series_id is None
        is_made_from_series = bool(choices.spec.lineage.base_id)
        if leaves_series and (is_made_from_series or is_not_later):
            return True

        # A round in which nothing was chosen yet, and which is left for a fresh one, may be returned to as well.
        return self.has_just_begun and is_back_at_first

    def go(self, step: method_choices.MethodStep) -> Steps:
        if obstacle := why_blocked(self.choices, self.known, step):
            yield needs.Tell(text=f"{step}: {obstacle}")
        else:
            yield from self.take(replace(self.choices, step=step))

    def go_by(self, number: int) -> Steps:
        last = len(method_choices.STEPS) - 1
        index = method_choices.STEPS.index(self.choices.step) + number
        yield from self.go(method_choices.STEPS[min(max(0, index), last)])

    @property
    def has_just_begun(self) -> bool:
        """Whether nothing was chosen yet in a new round; Escape then returns to the round before."""
        return bool(self.left_rounds) and self.choices == self.left_rounds[-1].next_begun

    def back(self) -> Steps:
        """To the step before; from where a new round began, to the round that was left for it."""
        if not self.has_just_begun:
            yield from self.go_by(-1)
            return

        target_before = self.choices.target
        yield from self.take(self.left_rounds.pop().choices)
        if self.choices.target != target_before:
            self.known = replace(self.known, quiet=None)
            yield from self.look_at_link()

    def undo(self) -> Steps:
        """Take the last mark back; it stays the last one where that cannot be stored."""
        judgement = self.judgements.pop()
        try:
            yield from self.do(page.Store(judgement, self.choices))
        except Exception:
            self.judgements.append(judgement)
            raise

    def do(self, act: page.Act | None) -> Steps:
        choices = self.choices

        match act:
            case page.Go(following):
                yield from self.take(following)
            case page.Ask():
                yield from self.ask(act)
            case page.Connect(target, kerberos):
                yield from self._connect(target, kerberos=kerberos)
            case page.Simple.LOOK_QUIET if choices.target is not None:
                look = partial(self.backend.quiet, choices.target, choices.spec.command)
                self.known = replace(self.known, quiet=(yield needs.Work(look, "checking for other load", "look")))
            case page.Simple.START | page.Simple.RESUME:
                yield from self._measure(resumed=act is page.Simple.RESUME)
            case page.Judge(number, status) if choices.series_id is not None:
                yield from self._judge(choices.series_id, number, status)
            case page.Store(write, following, message):
                yield self._in_notebook(write)
                if message:
                    yield needs.Tell(text=message)
                yield from self.take(following)
            case page.Visit():
                following_choices = yield act
                if following_choices is not None:
                    yield from self.take(following_choices)

    def ask(self, ask: page.Ask, value: str | None = None) -> Steps:
        """Until the answer is understood; ``value`` stands there in place of what is usual or was typed last."""
        if value is None:
            value = self.typed.get(ask.heading, ask.value) if ask.keep else ask.value
        wrong = ""
        while True:
            text = yield needs.Words(heading=ask.heading, text=ask.text, value=value, wrong=wrong)
            try:
                act = ask.then(text)
                if isinstance(act, page.Connect) and act.credentials:
                    act = page.Connect(self.logins.from_file(act.target, Path(act.credentials).expanduser()))
                break
            except errors.UsageError as error:
                yield needs.Tell(text=str(error), heading="Not understood")
                wrong = text

        if ask.keep:
            self.typed[ask.heading] = text
        yield from self.do(act)

    def _judge(self, series_id: str, number: int, status: records.RunStatus) -> Steps:
        reason = None
        if status is not records.RunStatus.VALID:
            example = "A reason that you could tell a colleague, such as: the backup started."
            reason = yield needs.Words(heading=f"Why is run {number} unusable?", text=example, needed=True)
            if not reason:
                raise errors.UsageError("a run is left out only with a reason")

        judge = partial(guide_context.judge, series_id=series_id, number=number, status=status, reason=reason)
        take_back = yield self._in_notebook(judge)
        self.judgements.append(take_back)
        yield from self.take(replace(self.choices, reviewed=False))

    def secrets(
        self, target: records.Target, *, kerberos: bool = False, why: str = ""
    ) -> Generator[needs.Password, Secrets, Secrets]:
        """What logs in to the target, asked for where nobody has said it, or ``why`` it is not known any more."""
        try:
            return self.logins.find(target, kerberos=kerberos)
        except session_logins.PasswordNeededError as error:
            refusal = str(error) if self.logins.is_refused(target) else ""
            secrets = yield needs.Password(target, why or refusal)
            self.logins.keep(target, secrets)
            return secrets

    def _connect(self, target: records.Target, *, kerberos: bool = False) -> Steps:
        """Walk from folder to folder until a file is picked, or a folder that one is to be made in."""
        from app.clients.browsing import ItemKind, inside

        choices, context = guide_context.towards(target, self.choices, self.known)
        place: BrowsedFolder | None = None
        file: Item | None = None
        while True:
            try:
                context, place = yield from self._look_with_login(target, choices, context, kerberos=kerberos)
            except errors.LoginError:
                # No other folder helps where the login of Kerberos is refused.
                raise
            except errors.MeasurementError as error:
                if place is None:
                    raise
                # Back to the folder that was seen last.
                yield needs.Tell(text=str(error), heading="That did not work")

            assert place is not None
            if place.is_chosen:
                # The target names a file by itself, or has none to choose from.
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
        yield from self.take(guide_context.with_picked(self.choices, place.target, file, kerberos=kerberos))

    def _look_with_login(
        self,
        target: records.Target,
        choices: method_choices.GuideChoices,
        context: guide_context.GuideContext,
        *,
        kerberos: bool,
    ) -> Steps:
        """What is at the target, and the context with its link; asks anew for as long as the login is refused.

        Raises LoginError where Kerberos is refused: there is no password that could be typed.
        """
        refusal = ""
        while True:
            secrets = yield from self.secrets(target, kerberos=kerberos, why=refusal)
            look = partial(self._look, target, secrets, choices, context)
            doing = f"connecting to {wording.plain(records.format_target(target))}"
            try:
                return (yield needs.Work(look, doing, "look"))
            except errors.LoginError as error:
                if kerberos:
                    raise
                self.logins.refuse(target)
                refusal = str(error) if target.user else ""
                if not target.user:
                    target = yield from _ask_user(target, error)

    def _look(
        self,
        target: records.Target,
        secrets: Secrets,
        choices: method_choices.GuideChoices,
        context: guide_context.GuideContext,
    ) -> "tuple[guide_context.GuideContext, BrowsedFolder]":
        if not context.link.source:
            context = replace(context, link=guide_context.link_to(target, self.backend))
        return context, self.backend.look(target, secrets, guide_context.file_size_context(choices, context))

    def remember_series(self, series_id: str) -> Steps:
        """There is a series: remember it at once, so that a crash does not lose it."""
        yield from self.take(self._with_series(series_id))

    def _with_series(self, series_id: str) -> method_choices.GuideChoices:
        choices = self.choices
        # A label that was typed after a series was measured is that of the next one, which this may be.
        is_same_series = series_id == choices.series_id
        return replace(
            choices,
            # Both were settled at the latest when it began.
            quiet=choices.quiet or method_choices.QuietChoice.RECORD,
            counted=True,
            series_id=series_id,
            has_new_label=choices.has_new_label and is_same_series,
            reviewed=False,
            compared=False,
        )

    def _measure(self, *, resumed: bool) -> Steps:
        choices = self.choices
        assert choices.target is not None
        confirmed = False
        if resumed and self.known.series is not None and self.known.series.imported_at is not None:
            yield _confirm_server(self.known.series)
            # Got here only if that was agreed to.
            confirmed = True

        secrets = yield from self.secrets(choices.target, kerberos=choices.kerberos)
        yield self._in_notebook(partial(guide_context.begin_round, choices=choices))
        job = needs.MeasurementJob(
            backend=self.backend,
            notebook_path=self.path,
            title=f"Run · {choices.spec.command} · {records.format_target(choices.target)}",
            target=choices.target,
            request=None if resumed else request_of(choices, secrets),
            resumed_id=choices.series_id if resumed else None,
            confirmed=confirmed,
            secrets=secrets,
            logins=self.logins,
        )

        following = replace(self.choices, step=method_choices.MethodStep.RUN)
        if (series_id := (yield job)) is not None:
            measured = self._with_series(series_id)
            keep = partial(guide_context.keep, choices=measured, before=self.known)
            context = yield self._in_notebook(keep)
            following = after_measuring(measured, context)
        yield from self.take(following)


def _ask_user(target: records.Target, error: errors.LoginError) -> Generator[needs.Words, str, records.Target]:
    """The target with the user that is typed, since it takes no guests."""
    text = yield needs.Words(heading="Which user?", text=f"{error}: USER or DOMAIN;USER.", needed=True)
    domain, _, user = text.strip().rpartition(";")
    return replace(target, user=user, domain=domain or target.domain)


def _confirm_server(series: records.Series) -> needs.Tell:
    user = f" as {series.target.user}" if series.target.user else ""
    place = records.format_target(series.target)
    text = f"The series was imported. To resume it, sharebench logs in{user} at\n\n{place}"
    return needs.Tell(text=text, heading="Is this the server that you mean?", yes="Log in there")
