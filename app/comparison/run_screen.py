"""The screen of series that are measured with their runs interleaved: a run of the one, a run of the other, ….

What else slows the path down meanwhile then meets all, so that the difference is their own.
"""

from collections.abc import Iterator, Mapping, Sequence
from time import monotonic
from typing import Any, ClassVar

from app.comparison.interleaved_progress import TWO_SIDES, InterleavedProgress
from app.recording.spec import SeriesRequest
from app.series.resume import Resumption
from app.tui.frame.commands import KeyCommand
from app.tui.widgets import recording, report_run
from storage.records import Target


class PairedRunScreen(report_run.ReportRunScreen):
    """Measures what ``measure`` is given; whatever is a sequence here has the base first.

    A subclass calls ``measure`` once it knows all of it, and writes ``measurement_ended``. ``events`` is called in the
    thread that measures; meanwhile the base class calls ``tick`` once a second, and by ``draw`` what says how far it
    is: ``now`` and ``draw_heard``.
    """

    KEYS: ClassVar[tuple[KeyCommand, ...]] = report_run.run_keys(
        "comparison", "Stop at once; the runs measured so far are kept."
    )
    STOP_HEADING = "Stop measuring?"
    STOP_TEXT = "The runs measured so far are kept."
    QUIT_TEXT = "A comparison is being measured. The runs measured so far are kept."

    def __init__(
        self,
        heading: str,
        runs: int,
        names: Sequence[str] = TWO_SIDES,
        rates_before: Sequence[Mapping[int, float]] = (),
    ) -> None:
        """As in :class:`InterleavedProgress`."""
        super().__init__(heading)
        self.runs = runs
        self.todo: Sequence[SeriesRequest | Resumption] = ()
        """What is measured; empty until that is known."""
        self.targets: Sequence[Target] = ()
        """Of all sides."""
        self.labels: Sequence[str] = ()
        """Of the series of all sides."""
        self.progress = InterleavedProgress(runs, names, rates_before)
        self._drawn_at = float("-inf")
        """By ``monotonic``."""

    @property
    def is_over(self) -> bool:
        """Whether nothing is measured: not yet, while it is found out what and how, or no longer."""
        return not self.todo or not self._recording

    def measure(
        self,
        todo: Sequence[SeriesRequest | Resumption],
        targets: Sequence[Target],
        labels: Sequence[str],
        runs_to_come: Sequence[int],
    ) -> None:
        """Begin in a thread; all but ``todo``, which may lack a side that is complete, are those of all sides."""
        self.todo = todo
        self.targets = targets
        self.labels = labels
        self.progress.expect_runs(runs_to_come)
        self.refresh_bindings()
        self.listen(self.events, every_seconds=recording.REDRAW_SECONDS)
        self.draw()

    def events(self) -> Iterator[tuple[int, Any]]:
        self.watch_machine(self.targets[0])
        return self.context.backend.interleave(self.todo, self.context.notebook_path, self.control)

    def tick(self) -> None:
        """Draw between two runs, and seldom during one: drawing takes processor time from the transfer."""
        self.catch_up()
        # Once the user stops, what happens is shown at once.
        spares_processor = self.progress.is_timed and not (self.is_over or self.control.cancelled.is_set())
        is_due = not spares_processor or monotonic() >= self._drawn_at + recording.PART_SECONDS
        if is_due and not self.is_covered:
            self._drawn_at = monotonic()
            self.draw()

    def take_event(self, index: int, event: Any) -> None:
        """``index`` is 0 for the base, from 1 on for the others."""
        self.progress.take_event(index, event)

    def now(self) -> str:
        if not self.todo:
            return "Looking at the series …"
        return self.progress.sentence(is_over=self.is_over)

    def draw_heard(self, width: int) -> str:
        height = self.query_one("#run-box").size.height
        return self.progress.text(self.labels, width, height)
