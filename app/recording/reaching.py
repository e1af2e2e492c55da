"""Reaches the machine that is to measure in place of this one, before its measuring process is started there."""

from functools import partial

from app.base.errors import CancelledError, MeasurementError
from app.recording.process import SeriesControl
from app.server.elsewhere.place import MeasuringPlace, reach_place


def reach(host: str, control: SeriesControl) -> MeasuringPlace:
    """Find this program on ``[USER@]HOST``, or carry it there, until the user cancels. Raises SharebenchError."""
    try:
        return reach_place(host, partial(control.attach, None))
    except MeasurementError:
        if control.cancelled.is_set():
            raise CancelledError("cancelled") from None
        raise
    finally:
        control.detach()
