"""One session of the guide: the round that is shown, and the steps that change it.

A step is a generator: it yields what it needs, and whoever shows the guide sends the answer into it
(``app.guide.needs``). ``GuideScreen`` and ``PlainGuide`` drive the steps, and show the page of ``choices`` afterwards.
A step whose need is declined, or *silenced* because newer work of the same group has begun, ends there: what stands
after that ``yield`` is not carried out.

Not to be taken for the steps of the method (``MethodStep``), each of which is a page of the guide.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from app.backend import Backend
from app.base import errors
from app.clients.base import Secrets
from app.clients.session_logins import Logins
from app.guide import context as guide_context
from app.guide import needs, page, round_notebook
from app.guide import steps as guide_steps
from app.guide.connecting import Connector, PickedPlace
from app.guide.given_link import is_link_refuted
from app.method import choices as method_choices
from app.method import other_targets
from app.method.round_requests import request_of, requests_of_comparison
from app.series.resume import Resumption, order_to_resume
from forms import wording
from storage import records
from storage.notebook import Notebook


class _LeftRound(NamedTuple):
    choices: method_choices.GuideChoices
    """Those of the round that was left."""
    next_begun: method_choices.GuideChoices
    """The choices that the round after it began with."""


class _Jump(NamedTuple):
    """From one page to another that is not the next one."""

    left: method_choices.MethodStep
    opened: method_choices.MethodStep


class GuideSession:
    """What one session of the guide knows and has chosen; each method that returns ``needs.Steps`` is a step.

    Its methods run in one thread; only the jobs that they yield as ``needs.Work`` run in another.
    """

    def __init__(
        self,
        path: Path,
        backend: Backend,
        logins: Logins,
        practice: Sequence[records.Target],
        targets: guide_context.Targets,
    ) -> None:
        """``path`` is that of the notebook, ``practice`` has the servers of ``sharebench demo``, if they run."""
        self.path = path
        self.backend = backend
        self.logins = logins
        self.practice = practice
        self.targets = targets
        self.connector = Connector(backend, logins)

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
        self._jumps: list[_Jump] = []
        """From page to page of this round; going back from where the last one led to leads to where it began."""

    # Begin, and keep what was chosen

    def _in_notebook(self, job: Callable[[Notebook], Any], *, group: str = "") -> needs.Work:
        """What the job returns, with a notebook opened in a thread; in a ``group`` newer work silences it."""

        def work() -> Any:
            with Notebook(self.path) as notebook:
                return job(notebook)

        return needs.Work(work, group=group)

    def recall(self) -> needs.Steps:
        """The first step: the round as it was left when the guide was used last."""
        recall = partial(round_notebook.recall, practice=self.practice, targets=self.targets)
        self.choices, self.known = yield self._in_notebook(recall)

        if self.choices.step is method_choices.MethodStep.RUN and self.has_complete_series:
            # The screen of the run was left before it told the guide.
            self.choices = guide_steps.after_measuring(self.choices, self.known)

    @property
    def has_complete_series(self) -> bool:
        """Whether the series of the round was measured to its end."""
        return guide_steps.is_measured(self.choices, self.known)

    def look_at_link(self) -> needs.Steps:
        if (target := self.choices.target) is not None:
            look = partial(guide_context.link_to, target, self.backend)
            link: guide_context.LinkState = yield needs.Work(look, group="link")
            self.known = replace(self.known, link=link)

    def take(self, choices: method_choices.GuideChoices) -> needs.Steps:
        """Keep the choices, and read what is known for them.

        It is silenced where other choices are kept before it has ended: what has to happen even then may not follow it.
        """
        yield from self._take(choices, group="keep")

    def _take(self, choices: method_choices.GuideChoices, *, group: str) -> needs.Steps:
        """As :meth:`take`; without a group (empty) it is never silenced, so that something may follow it."""
        if self._begins_new_round(choices):
            self.left_rounds.append(_LeftRound(choices=self.choices, next_begun=choices))
            self._jumps.clear()
        self.choices = choices

        keep = partial(round_notebook.keep, choices=choices, before=self.known)
        context: guide_context.GuideContext = yield self._in_notebook(keep, group=group)
        # The link and the quiet time may have been looked at meanwhile.
        self.known = replace(context, link=self.known.link, quiet=self.known.quiet)

    def _begins_new_round(self, choices: method_choices.GuideChoices) -> bool:
        """Whether these choices leave the round that is shown, so that going back is to lead to it again."""
        return self._leaves_measured_round(choices) or self._leaves_untouched_round(choices)

    def _leaves_measured_round(self, choices: method_choices.GuideChoices) -> bool:
        """Whether the round shown has its series, and these choices are of another round.

        A round has one series, so that choices without one are of another round, or of the same before it is measured.
        Another round is made from the series (a repeat, a change), or it is a fresh one and begins no later than here.
        """
        leaves_series = self.choices.series_id is not None and choices.series_id is None
        if not leaves_series:
            return False

        is_made_from_series = bool(choices.spec.lineage.base_id)
        return is_made_from_series or self._is_no_later(choices)

    def _leaves_untouched_round(self, choices: method_choices.GuideChoices) -> bool:
        """Whether nothing was chosen yet in the round shown, and these choices go back to the first step."""
        is_at_first_step = choices.step is method_choices.STEPS[0]
        return self.has_just_begun and is_at_first_step and self._is_no_later(choices)

    def _is_no_later(self, choices: method_choices.GuideChoices) -> bool:
        """Whether the step of these choices is the one that is shown, or one before it."""
        steps = method_choices.STEPS
        return steps.index(choices.step) <= steps.index(self.choices.step)

    # Go to another step, or back

    def go(self, step: method_choices.MethodStep) -> needs.Steps:
        """Open the page of that step of the method, or tell what has to be done before."""
        if obstacle := guide_steps.why_blocked(self.choices, self.known, step):
            yield needs.Tell(text=f"{step}: {obstacle}")
        else:
            yield from self.take(replace(self.choices, step=step))

    def jump(self, step: method_choices.MethodStep) -> needs.Steps:
        """As :meth:`go`, from wherever somebody is: going back then leads there again."""
        left = self.choices.step
        if step is not left and not guide_steps.why_blocked(self.choices, self.known, step):
            self._jumps.append(_Jump(left=left, opened=step))
        yield from self.go(step)

    @property
    def has_jumped_here(self) -> bool:
        """Whether the page that is open was jumped to, so that going back leads to where that began."""
        return bool(self._jumps) and self._jumps[-1].opened is self.choices.step

    def go_by(self, number: int) -> needs.Steps:
        """``number`` pages further; a negative one goes back. The first and the last one are the ends."""
        last = len(method_choices.STEPS) - 1
        index = method_choices.STEPS.index(self.choices.step) + number
        yield from self.go(method_choices.STEPS[min(max(0, index), last)])

    @property
    def has_just_begun(self) -> bool:
        """Whether nothing was chosen yet in a new round; Escape then returns to the round before."""
        return bool(self.left_rounds) and self.choices == self.left_rounds[-1].next_begun

    def back(self) -> needs.Steps:
        """To the step before, or that was jumped here from; from where a new round began, to the round left for it."""
        if self.has_jumped_here:
            yield from self.go(self._jumps.pop().left)
            return
        if not self.has_just_begun:
            yield from self.go_by(-1)
            return

        yield from self._take_with_link(self.left_rounds.pop().choices)

    def _take_with_link(self, choices: method_choices.GuideChoices) -> needs.Steps:
        """Take the choices; where they have another server, what was seen of the one before does not hold for it."""
        before = self.choices.target
        yield from self.take(choices)
        # Where that was silenced, the newer choices have their own link looked at.
        target = choices.target
        if target is not None and (before is None or not method_choices.is_same_server(target, before)):
            self.known = replace(self.known, quiet=None)
            yield from self.look_at_link()

    # Do what was chosen on a page

    def undo(self) -> needs.Steps:
        """Take the last mark back; it stays the last one where that cannot be stored."""
        judgement = self.judgements.pop()
        try:
            yield from self.do(page.Store(judgement, self.choices))
        except Exception:
            self.judgements.append(judgement)
            raise

    def do(self, act: page.Act | None) -> needs.Steps:
        """Do what a choice of the page leads to; None does nothing."""
        choices = self.choices

        # Without a target, or a series of the round, there is no page whose choices look or mark.
        match act:
            case page.Go(following):
                yield from self._take_with_link(following)
            case page.Begin(following):
                yield from self._take(following, group="")
                yield from self._measure(resumed=False)
            case page.Ask():
                yield from self.ask(act)
            case page.Connect():
                yield from self._connect(act)
            case page.Simple.LOOK_QUIET if choices.target is not None:
                look = partial(self.backend.quiet, choices.target, choices.spec.command)
                self.known = replace(self.known, quiet=(yield needs.Work(look, "checking for other load", "look")))
            case page.Simple.START | page.Simple.RESUME:
                yield from self._start(resumed=act is page.Simple.RESUME)
            case page.Judge():
                yield from self._judge(act)
            case page.Store(write, following):
                message: str | None = yield self._in_notebook(write)
                if message:
                    yield needs.Tell(text=message)
                yield from self.take(following)
            case page.Visit():
                following_choices = yield act
                if following_choices is not None:
                    yield from self.take(following_choices)

    def ask(self, ask: page.Ask, value: str | None = None, *, answer: str = "") -> needs.Steps:
        """Ask until the answer is understood, then do what follows from it.

        ``value`` stands in the line at first, in place of what is usual or was typed last. ``answer`` was typed
        elsewhere already: it is asked only where that cannot be taken.
        """
        if value is None:
            value = self.typed.get(ask.heading, ask.value) if ask.keep else ask.value
        words = needs.Words(heading=ask.heading, text=ask.text, value=value, is_target=ask.is_target)
        text = answer or (yield words)
        while True:
            try:
                act = ask.then(text)
                if ask.keep:
                    self.typed[ask.heading] = text
                if isinstance(act, page.Connect):
                    # A login or a place that is refused is mended where it was typed.
                    yield from self._connect(act)
                    return
                break
            except (errors.UsageError, errors.LoginError) as error:
                problem = str(error)
            except errors.MeasurementError as error:
                # The page behind is that of the first target: the comparison would be lost without the second one.
                if not (isinstance(act, page.Connect) and act.other_place is not None):
                    raise
                problem = str(error)
            text = yield replace(words, wrong=text, problem=problem)

        yield from self.do(act)

    def _judge(self, act: page.Judge) -> needs.Steps:
        """Mark a run; a reason is asked for, but to count it again."""
        series_id = self.choices.series_id
        if act.side:
            series_id = self.choices.others[act.side - 1].series_id
        if series_id is None:
            return

        number = act.number
        status = act.status
        reason = None
        if status is not records.RunStatus.VALID:
            example = "A reason that you could tell a colleague, such as: the backup started."
            reason = yield needs.Words(heading=f"Why is run {number} unusable?", text=example, needed=True)
            if not reason:
                raise errors.UsageError("a run is left out only with a reason")

        judge = partial(round_notebook.judge, series_id=series_id, number=number, status=status, reason=reason)
        take_back = yield self._in_notebook(judge)
        self.judgements.append(take_back)
        yield from self.take(replace(self.choices, reviewed=False))

    def _connect(self, act: page.Connect) -> needs.Steps:
        if act.credentials:
            target = self.logins.from_file(act.target, Path(act.credentials).expanduser())
            act = replace(act, target=target)
        if act.other_place is not None:
            yield from self._connect_other(act, act.other_place)
            return

        place, choices = yield from self._pick_place(act, self.choices)
        if act.then is not None:
            # Who leaves the question for the second target stands where it can be asked again.
            choices = replace(choices, lacks_other=True, step=method_choices.MethodStep.TARGET)

        self.typed.clear()
        self.known = place.context
        yield from self.take(choices)
        if act.then is not None:
            yield from self.ask(act.then)

    def _pick_place(
        self, act: page.Connect, choices: method_choices.GuideChoices
    ) -> Generator[needs.Need, Any, tuple[PickedPlace, method_choices.GuideChoices]]:
        """Reach a target and have a file or a folder picked there; the place, and the choices with it."""
        place = yield from self.connector.pick_place(
            act.target, choices, self.known, kerberos=act.kerberos, has_fixed_login=bool(act.credentials)
        )
        picked = place.add_to(choices, kerberos=act.kerberos, credentials=act.credentials)
        # With what was told of that server before, such as the way to its settings.
        with_ways: method_choices.GuideChoices = yield self._in_notebook(
            partial(round_notebook.with_server_ways, choices=picked)
        )
        return place, with_ways

    def _connect_other(self, act: page.Connect, other_place: int) -> needs.Steps:
        """Reach another target, which the round compares its own with, and pick a file or a folder there.

        Raises UsageError where they cannot be compared; the round then stays as it was.
        """
        _, picked = yield from self._pick_place(act, method_choices.GuideChoices(spec=self.choices.spec))
        choices = other_targets.with_other_target(self.choices, picked, other_place)
        if other_targets.place_to_choose_file(choices) == other_place:
            raise errors.UsageError(other_targets.why_not_comparable(choices))

        self.typed.clear()
        next_step = guide_steps.next_step(choices, replace(self.known, series=None), method_choices.MethodStep.TARGET)
        yield from self.take(replace(choices, step=next_step))

    def take_beside(self, choices: method_choices.GuideChoices, ask: page.Ask, answer: str) -> needs.Steps:
        """Take the choices of another screen, and the target that it was told to compare them with."""
        yield from self._take(choices, group="")
        yield from self.ask(ask, answer=answer)

    def remember_series(self, series_id: str) -> needs.Steps:
        """There is a series: remember it at once, so that a crash does not lose it."""
        yield from self.take(self._with_series(series_id))

    def remember_side(self, place: int, series_id: str) -> needs.Steps:
        """As ``remember_series``, where targets are compared: 0 is the round's own, from 1 on the others."""
        if place == 0:
            yield from self.remember_series(series_id)
        else:
            others = list(self.choices.others)
            others[place - 1] = replace(others[place - 1], series_id=series_id)
            yield from self.take(replace(self.choices, others=tuple(others)))

    def _with_series(self, series_id: str) -> method_choices.GuideChoices:
        """The choices of the round with the series that it measures; nobody has looked at it yet."""
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

    def _start(self, *, resumed: bool) -> needs.Steps:
        """Measure; where nobody has looked at the link yet, not by a link speed that proves wrong: that is asked."""
        was_looked_at = resumed or bool(self.known.link.source)
        if not was_looked_at and self.choices.spec.link_bits_per_second is not None:
            yield from self.look_at_link()
            if is_link_refuted(self.choices, self.known):
                return
        yield from self._measure(resumed=resumed)

    def _measure(self, *, resumed: bool) -> needs.Steps:
        """Measure the series of the round, and those that follow it by a plan of repeats."""
        following, is_followed = yield from self._measure_one(resumed=resumed)
        while is_followed:
            yield from self._take(following, group="")
            following, is_followed = yield from self._measure_one(resumed=False)
        yield from self.take(following)

    def _measure_one(self, *, resumed: bool) -> needs.Steps:
        """Measure the series of the round: the choices after it, and whether they are of a repeat that follows.

        A series that is ``resumed`` is completed instead of measured anew.
        """
        choices = self.choices
        assert choices.target is not None
        if choices.others:
            return (yield from self._compare(choices.target, resumed=resumed))
        # An imported series names its server by what another notebook says, which may be another one here.
        confirmed = False
        if resumed and self.known.series is not None and self.known.series.imported_at is not None:
            yield _confirm_server(self.known.series)
            # Got here only if that was agreed to.
            confirmed = True

        secrets = yield from self.connector.secrets(
            choices.target, kerberos=choices.kerberos, credentials=choices.credentials
        )
        begins_at: float | None = yield self._in_notebook(partial(round_notebook.begin_round, choices=choices))
        job = needs.MeasurementJob(
            backend=self.backend,
            notebook_path=self.path,
            title=f"{choices.repeat_name or 'Run'} · {choices.spec.command} · {records.format_target(choices.target)}",
            target=choices.target,
            request=None if resumed else request_of(choices, secrets),
            resumed_id=choices.series_id if resumed else None,
            begins_at=None if resumed else begins_at,
            repeat=choices.repeat_name,
            is_followed=choices.repeat_number < choices.planned_repeats,
            confirmed=confirmed,
            secrets=secrets,
            logins=self.logins,
        )

        series_id = yield job
        if series_id is None:  # nothing was stored
            return replace(self.choices, step=method_choices.MethodStep.RUN), False

        measured = self._with_series(series_id)
        keep = partial(round_notebook.keep_measured, choices=measured, before=self.known)
        context: guide_context.GuideContext = yield self._in_notebook(keep)
        following = guide_steps.after_measuring(measured, context)
        return following, guide_steps.follows_by_itself(following, context)

    def _compare(
        self, target: records.Target, *, resumed: bool
    ) -> Generator[needs.Need, Any, tuple[method_choices.GuideChoices, bool]]:
        """Measure all targets of the round interleaved, or complete that; the choices after it, and False."""
        choices = self.choices
        stored = [series for series in guide_context.series_of_sides(choices, self.known) if series is not None]
        for series in stored if resumed else ():
            if series.imported_at is not None:
                yield _confirm_server(series)

        secrets = yield from self.connector.secrets(target, kerberos=choices.kerberos, credentials=choices.credentials)
        other_secrets = []
        for other in choices.others:
            secrets_there = yield from self.connector.secrets(
                other.target, kerberos=other.kerberos, credentials=other.credentials
            )
            other_secrets.append(secrets_there)

        yield self._in_notebook(partial(round_notebook.begin_round, choices=choices))
        names = other_targets.side_names(choices)
        counts = choices.spec.counts
        job = needs.ComparisonJob(
            backend=self.backend,
            notebook_path=self.path,
            title=f"{choices.spec.command} · {wording.listed([*names])}",
            targets=(target, *(other.target for other in choices.others)),
            names=names,
            runs=counts.runs,
            runs_to_come=(counts.warmups + counts.runs,) * len(names),
            rates_before=({},) * len(names),
            todo=(),
            places=tuple(range(len(names))),
            stored_ids=("",) * len(names),
            logins=self.logins,
        )
        if resumed and len(stored) == len(names):
            job = _completing(job, stored, [secrets, *other_secrets])
        else:
            job = replace(job, todo=tuple(requests_of_comparison(choices, secrets, other_secrets)))

        ids: tuple[str, ...] | None = yield job
        if ids is None:
            return replace(self.choices, step=method_choices.MethodStep.RUN), False

        others = tuple(
            replace(other, series_id=series_id or None)
            for other, series_id in zip(self.choices.others, ids[1:], strict=True)
        )
        measured = replace(self._with_series(ids[0]), others=others)
        keep = partial(round_notebook.keep_measured, choices=measured, before=self.known)
        context: guide_context.GuideContext = yield self._in_notebook(keep)
        next_step = guide_steps.next_step(measured, context, method_choices.MethodStep.WARM_UP)
        return replace(measured, step=next_step), False


def _completing(
    job: needs.ComparisonJob, stored: Sequence[records.Series], secrets_of_sides: Sequence[Secrets]
) -> needs.ComparisonJob:
    """The job that completes what is not complete of the series of all sides."""
    places = tuple(place for place, series in enumerate(stored) if series.status is not records.SeriesStatus.COMPLETE)
    todo = tuple(
        Resumption(series_id=stored[place].id, secrets=secrets_of_sides[place], confirmed=True) for place in places
    )
    return replace(
        job,
        todo=todo,
        places=places,
        runs_to_come=tuple(map(_runs_to_come, stored)),
        rates_before=tuple(map(_rates_by_number, stored)),
        stored_ids=tuple(series.id for series in stored),
    )


def _runs_to_come(series: records.Series) -> int:
    """How many runs complete the series; it is warmed up again."""
    if series.status is records.SeriesStatus.COMPLETE:
        return 0
    order = order_to_resume(series, Secrets())
    counts = order.spec.counts
    return counts.warmups + max(0, counts.runs - order.done_runs)


def _rates_by_number(series: records.Series) -> dict[int, float]:
    return {run.number: run.bytes_per_second for run in series.measured() if run.bytes_per_second}


def _confirm_server(series: records.Series) -> needs.Tell:
    user = f" as {series.target.user}" if series.target.user else ""
    place = records.format_target(series.target)
    text = f"The series was imported. To resume it, sharebench logs in{user} at\n\n{place}"
    return needs.Tell(text=text, heading="Is this the server that you mean?", yes="Log in there")
