"""The stages that the measuring process carries out, by their names."""

import os
import time
import traceback
from collections.abc import Callable
from dataclasses import replace

from app.base import errors
from app.diagnosis import card_stage, connect_stage, file_stage, folder_stage, transfer_stages, window_stage
from app.diagnosis.bench import LARGE_PACKETS_LOST, Bench
from app.server.busiest_program import BusiestProgram
from forms.diagnosis.summary import BUSIEST_PERCENT, BUSIEST_PROGRAM
from storage import looks
from storage.records import FactValue, SeriesStatus

STAGES: dict[looks.StageName, Callable[[Bench], looks.Stage]] = {
    looks.StageName.CONNECT: connect_stage.connect,
    looks.StageName.DISTANCE: transfer_stages.distance,
    looks.StageName.SMALL_FILES: file_stage.small_files,
    looks.StageName.WINDOW: window_stage.opening_a_window,
    looks.StageName.FOLDERS: folder_stage.folders,
    looks.StageName.PROTECTION: transfer_stages.protection,
    looks.StageName.LONG_RUN: transfer_stages.long_run,
    looks.StageName.CARDS: card_stage.cards,
}
"""All but the audit, which needs the server's files."""


def measure_stage(bench: Bench, name: looks.StageName) -> looks.Stage:
    """The stage as it was measured, or with the error that ended it; never raises one."""
    began = time.monotonic()
    busiest_program = BusiestProgram()
    try:
        bench.check_packets()
        stage = STAGES[name](bench)
    except errors.SharebenchError as error:
        status = SeriesStatus.INTERRUPTED if bench.cancelled.is_set() else SeriesStatus.FAILED
        stage = looks.Stage(name=name, status=status, error=str(error))
        if isinstance(error, errors.StalledError) and bench.are_large_packets_lost():
            stage = replace(stage, error=LARGE_PACKETS_LOST, facts={looks.LARGE_PACKETS: looks.LOST})
    except Exception as error:  # noqa: BLE001  the other side must hear of it, and the folder must be removed
        traceback.print_exc()
        stage = looks.Stage(name=name, status=SeriesStatus.FAILED, error=f"{type(error).__name__}: {error}")

    load_of_last_minute, *_ = os.getloadavg()
    load_per_processor = round(load_of_last_minute / (os.cpu_count() or 1), 2)
    machine_facts: dict[str, FactValue] = {"machine.load_per_processor": load_per_processor}
    program = busiest_program.program()
    if program is not None:
        machine_facts |= {BUSIEST_PROGRAM: program.name, BUSIEST_PERCENT: round(program.percent, 1)}
    return replace(
        stage,
        samples={key: _six_digits(values) for key, values in stage.samples.items()},
        facts={**stage.facts, **machine_facts},
        seconds=round(time.monotonic() - began, 3),
    )


def _six_digits(values: tuple[float, ...]) -> tuple[float, ...]:
    """More digits than a clock tells make the notebook large, and nothing of them is shown."""
    return tuple(float(f"{value:.6g}") for value in values)
