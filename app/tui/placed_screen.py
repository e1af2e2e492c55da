"""What the screens of the catalogue have in common: the server that is measured, and how an entry can be tried."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from app.base.targets import parse_target
from app.method import measured_place, rounds
from app.method.next_steps import NextStep
from app.method.one_change import OWN_CHANGES
from app.tui.frame.measuring import MeasureMixin
from forms.tuning import catalogue, instructions
from forms.tuning.trial_rules import is_tried


class PlacedScreen(MeasureMixin):
    """A screen of catalogue entries that names the share that is measured and its server's smb.conf.

    The subclass calls ``read_place`` when it opens, and writes ``show_entry``, called in the screen's thread when the
    place was read, and whenever the subclass calls it. A *place* is a share and the server that has it.
    """

    place = measured_place.MeasuredPlace()
    """What the notebook knows of the server; empty until it was read."""
    series_id = ""
    """The series whose server is told of, as it was then; empty for the newest series of the notebook."""

    looked_at = ""
    """The URL of the share that the screen was opened for, by a look that is no series; empty for the one measured."""

    def read_place(self) -> None:
        read = partial(
            measured_place.measured_place,
            practice=self.context.practice,
            series_id=self.series_id,
            looked_at=parse_target(self.looked_at) if self.looked_at else None,
        )
        self.with_notebook(read, self._take_place)

    def _take_place(self, place: measured_place.MeasuredPlace) -> None:
        # A share that was named stays: what is read names that of the series.
        self.place = replace(place, share=self.place.share or place.share)
        self.show_entry()

    def show_entry(self) -> None:
        raise NotImplementedError

    def ways(self, entry: catalogue.CatalogueEntry, advice: instructions.Instructions) -> Iterator[NextStep]:
        """How the entry can be tried, the best way first; the last one is by hand, or by sharebench's own client.

        Each is a step that ``take_step`` (of MeasureMixin) goes: its ``choices`` are read from the notebook then, and
        say what is measured. ``advice`` has the name and the value to try.
        """
        series_id = self.series_id
        if is_tried(entry):
            choices = partial(rounds.measure_again, series_id=series_id) if series_id else None
            yield NextStep(
                name="Let sharebench change, measure and restore it",
                choices=choices,
                screen="trial",
                arguments={"setting": advice.setting},
            )

        # A choice of sharebench's own client, such as the block size, is applied by measuring with it.
        is_own = entry.name in OWN_CHANGES
        yield NextStep(
            name="Measure with it: it is applied automatically" if is_own else "Change it by hand, then measure",
            choices=partial(
                rounds.take_change,
                practice=self.context.practice,
                name=advice.name,
                value=advice.value,
                series_id=series_id,
            ),
        )

    def can_be_tried(self, entry: catalogue.CatalogueEntry) -> bool:
        """Whether sharebench can apply it by itself, as a trial of a server's setting or as a choice of its own."""
        return is_tried(entry) or entry.name in OWN_CHANGES
