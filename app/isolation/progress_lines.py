"""What `sharebench isolate` prints while an isolation is measured."""

from collections.abc import Callable

from app.isolation import rounds, timetable
from app.recording.process import Warned
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
        self._planned_runs = 0

    def show(self, event: rounds.IsolationEvent) -> None:
        match event:
            case rounds.IsolationOpened(isolation=isolation, runs=planned_runs):
                self._planned_runs = planned_runs
                self._say(f"isolation {isolation.id}: {self._amount_text(isolation)}")
            case rounds.LayerRunStarted(layer=layer, clients=clients, number=number):
                # The price of a left-out operation may need more runs than were planned.
                all_runs = max(number, self._planned_runs)
                self._draw(f"{number} of {all_runs}: {layer}, {count(clients, 'client')}")
            case rounds.LayerRunEnded(run=run):
                self._tell_run(run)
            case Warned(text=text):
                self._say(f"sharebench: {text}")

    def _tell_run(self, run: LayerRun) -> None:
        if self._tells_each_run or run.error:
            result = run.error or byte_rate(run.bytes_per_second)
            self._say(f"  {run.layer}, {count(run.clients, 'client')}, round {run.round}: {result}")

    def _amount_text(self, isolation: Isolation) -> str:
        if not self._planned_runs:
            return "no run left"
        expected_seconds = timetable.WHOLE_RUN * self._planned_runs * isolation.seconds
        about = duration(min(self._within_seconds, expected_seconds))
        return f"{self._planned_runs} runs of {isolation.seconds} s and a warm-up each, about {about}"
