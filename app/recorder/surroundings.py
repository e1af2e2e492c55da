"""What surrounds a series: its facts before and after, how quiet the time was, and whether its change is real."""

from __future__ import annotations

from dataclasses import replace

from app.environment import Environment, collect, with_counters
from app.recorder.ceilings import ceiling_of
from app.recorder.order import CeilingWish, Order
from storage.notebook import Notebook
from storage.records import Series, SeriesStatus

UNKNOWN = "facts.unknown"
"""The fact that says which facts could not be had, and what to do about it."""


class Surroundings:
    """Looks around before and after one series; never in the way of the measurement."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._environment = Environment()

    def look(self, series: Series, notebook: Notebook) -> Series:
        """The series with its link, and its facts in the notebook, right before it is measured."""
        conf = self._order.smb_conf
        self._environment = collect(series.target, ssh=self._order.server_ssh, smb_conf=str(conf) if conf else None)
        self._store(series, notebook)
        if series.link_bits_per_second is None and self._environment.link:
            series = replace(series, link_bits_per_second=self._environment.link.bits_per_second)
            notebook.update(series)
        return series

    def look_back(self, series: Series, notebook: Notebook) -> Series:
        """The series with what only its end could tell."""
        self._environment = with_counters(self._environment)
        self._store(series, notebook)
        if self._order.ceiling is not CeilingWish.SKIP and series.status is SeriesStatus.COMPLETE:
            anew = self._order.ceiling is CeilingWish.RENEW
            series = replace(series, ceiling_bytes_per_second=ceiling_of(series, notebook, anew=anew))
        return series

    def _store(self, series: Series, notebook: Notebook) -> None:
        for side, facts in self._environment.parts().items():
            notebook.set_facts(series.id, side, facts)
        if self._environment.problems:
            notebook.set_facts(series.id, "server", {UNKNOWN: "; ".join(self._environment.problems)})
