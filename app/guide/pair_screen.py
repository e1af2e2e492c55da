"""Targets while they are compared: the runs of all sides as they end, and what the pairs show so far."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from app.base import errors
from app.clients.base import Secrets
from app.comparison.run_screen import PairedRunScreen
from app.guide.needs import ComparisonEnd, ComparisonJob
from app.series.events import SeriesStored
from app.tui.frame.commands import keys
from app.tui.widgets.logins import log_in_again


class PairScreen(PairedRunScreen):
    """Answers with the ids of all series, None where the first is not stored, or with a job that logs in anew."""

    ENTRY = "guide"
    KEYS: ClassVar = keys("run.review")

    def __init__(self, job: ComparisonJob) -> None:
        super().__init__(job.title, job.runs, job.names, job.rates_before)
        self.job = replace(job, control=self.control)
        self.end = ComparisonEnd(job)

    def begin(self) -> None:
        job = self.job
        self.measure(job.todo, job.targets, job.names, job.runs_to_come)

    def events(self) -> Iterator[tuple[int, Any]]:
        self.watch_machine(self.targets[0])
        return self.job.events()

    def take_event(self, index: int, event: Any) -> None:
        super().take_event(index, event)
        self.end.take_event(index, event)
        if isinstance(event, SeriesStored):
            self.job.opened(index, event.series_id)

    def now(self) -> str:
        sentence = super().now()
        if not self.is_over:
            return sentence
        why = self._why_ended_early()
        next_step = "Enter offers to resume it." if why else "Enter shows the review."
        # Why it ended stays after the dialog that tells it.
        parts = [sentence, f"Ended early: {why}." if why else "", next_step if self.end.ids else ""]
        return " ".join(filter(None, parts))

    def _why_ended_early(self) -> str:
        """The side and what happened there; empty where nothing did, or where the user stopped it."""
        if self.end.failure is None:
            return ""
        place, failure = self.end.failure
        return "" if failure.kind is errors.CancelledError else f"{self.job.names[place]}: {failure.text}"

    def measurement_ended(self, error: Exception | None) -> None:
        """Tell what ended it early; where a login was refused, ask for another one and measure again with that."""
        self.draw()
        self.refresh_bindings()
        if error is not None:
            self.dismiss(self.end.ids)
            self.sharebench_app.tell_error(error)
            return
        why = self._why_ended_early()
        if self.end.failure is None or not why:
            return

        place, failure = self.end.failure

        def measure_again(secrets: Secrets) -> None:
            self.dismiss(self.job.with_secrets(place, secrets))

        is_of_login = failure.kind is errors.LoginError and self.end.ids is None
        may_ask = is_of_login and not self.job.todo[self.job.places.index(place)].secrets.kerberos
        if may_ask and log_in_again(self, [self.job.targets[place]], failure.text, measure_again):
            return
        self.sharebench_app.tell_text("The comparison ended early", why)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "review":
            return self.is_over
        return super().check_action(action, parameters)

    def action_back(self) -> None:
        # Only once all is over: `RecordingScreen.check_action` refuses it before.
        self.dismiss(self.end.ids)

    action_review = action_back
