"""What `sharebench isolate` prints while an isolation is measured."""

from collections.abc import Callable

from app.isolation import rounds
from app.isolation.run_times import RunTimes
from app.recording.process import Warned
from app.recording.told_estimate import ToldEstimate
from forms.wording import byte_rate, count, duration
from storage.isolation import Isolation, LayerRun


class IsolationProgressLines:
    """The lines of an isolation under way: one that changes, and others that stay."""

    def __init__(
        self, draw: Callable[[str], None], say: Callable[[str], None], within_seconds: float, *, tells_each_run: bool
    ) -> None:
        """``draw`` changes the last line; ``say`` prints one that stays. Failed runs are told in any case."""
        self._draw = draw
        self._say = say
        self._within_seconds = within_seconds
        self._tells_each_run = tells_each_run
        self._times: RunTimes | None = None
        self._estimate: ToldEstimate | None = None
        """None before the first run begins."""

    def show(self, event: rounds.IsolationEvent) -> None:
        match event:
            case rounds.IsolationOpened(isolation=isolation, runs=planned_runs):
                self._times = RunTimes(isolation.rounds, isolation.seconds, self._within_seconds)
                self._times.planned = planned_runs
                self._say(f"isolation {isolation.id}: {_amount_text(isolation, self._times)}")
            case rounds.LayerRunStarted():
                self._begin_run(event)
            case rounds.LayerRunEnded(run=run):
                self._tell_run(run)
            case Warned(text=text):
                self._say(f"sharebench: {text}")

    def _begin_run(self, event: rounds.LayerRunStarted) -> None:
        if self._times is None:
            return

        self._times.begin_run(event.number)
        if self._estimate is None:
            self._estimate = ToldEstimate(self._times.planned_seconds())
        seconds_left = self._times.seconds_left()
        correction = self._estimate.correction(seconds_left)
        if correction:
            self._say(f"sharebench: {correction}")

        # The price of a left-out operation may need more runs than were planned.
        all_runs = max(event.number, self._times.planned)
        doing = f"{event.number} of {all_runs}: {event.layer}, {count(event.clients, 'client')}"
        self._draw(f"{doing}; about {duration(seconds_left)} left")

    def _tell_run(self, run: LayerRun) -> None:
        if self._tells_each_run or run.error:
            result = run.error or byte_rate(run.bytes_per_second)
            self._say(f"  {run.layer}, {count(run.clients, 'client')}, round {run.round}: {result}")


def _amount_text(isolation: Isolation, times: RunTimes) -> str:
    if not times.planned:
        return "no run left"
    about = duration(times.planned_seconds())
    return f"{times.planned} runs of {isolation.seconds} s and a warm-up each, about {about}"
