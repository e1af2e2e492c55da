"""A wrong estimate of interleaved series is corrected on the command line while they run."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from app.cli.progress import watch_turns
from app.recording.process import RunFinished, RunStarted, SeriesControl
from app.series.events import RecorderEvent
from storage.records import Phase, Run


def one_run_of_a_thousand() -> Iterator[tuple[int, RecorderEvent]]:
    yield 0, RunStarted(number=1, phase=Phase.MEASURED, of=1000)
    time.sleep(0.05)  # so that a thousand take longer than the estimate
    yield 0, RunFinished(run=Run(number=1, phase=Phase.MEASURED, size_bytes=1, seconds=0.05))


@pytest.mark.parametrize(("estimated_seconds", "corrections"), [(0.01, 1), (0.0, 0)])
def test_a_new_estimate_is_said_where_one_was_told(estimated_seconds: float, corrections: int, capsys):
    watch_turns(
        one_run_of_a_thousand(),
        SeriesControl(),
        ["get"],
        [1000],
        estimated_seconds=estimated_seconds,
    )
    assert capsys.readouterr().err.count("than estimated") == corrections
