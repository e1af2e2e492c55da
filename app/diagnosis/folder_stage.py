"""The stage of large folders: listing them, and asking about their entries.

Entries are made and asked about by `share.together`, which opens a name, sends requests about it, and closes it, all in
one message; it raises the error of the first of these that fails.
"""

import time
from collections.abc import Sequence
from contextlib import suppress

from app.base import errors
from app.clients.smb import wire
from app.clients.smb.files import SMBFiles
from app.clients.smb.share import list_folder
from app.diagnosis import copy_patterns, measures
from app.diagnosis.bench import Bench
from forms.diagnosis.summary import BUSY_WITH_MISSING
from storage import looks, records

_LISTINGS = 3
_MAKERS = 8
_FIRST_FOLDER_OF_ENTRIES = 9000
"""Folders of entries are named from d9000 on, those of the tree from d0000 on."""


def folders(bench: Bench) -> looks.Stage:
    """Folders of growing size: listing them, asking about each entry, and asking for a name that is missing."""
    samples = measures.Samples(list)
    facts: dict[str, records.FactValue] = {}
    if bench.plan.folder is not None:
        facts["existing"] = bench.plan.folder
        with bench.connection(SMBFiles) as files:
            _measure_folder(bench, files, bench.plan.folder, samples)
        return measures.stage_of(looks.StageName.FOLDERS, samples, facts)

    began = time.monotonic()
    measured_count = 0
    for position, count in enumerate(bench.affordable_sizes.entries):
        if measured_count:
            # A folder takes as much longer than those before it as it has more entries than the last of them.
            spent_seconds = time.monotonic() - began
            expected_seconds = spent_seconds * count / measured_count
            if expected_seconds > bench.affordable_sizes.stage_seconds:
                facts[f"skipped_{count}"] = "yes"
                continue

        path = _make_entries(bench, _FIRST_FOLDER_OF_ENTRIES + position, count)
        with bench.connection(SMBFiles) as files:
            _measure_folder(bench, files, path, samples)
        measured_count = count
    return measures.stage_of(looks.StageName.FOLDERS, samples, facts)


def _make_entries(bench: Bench, number: int, count: int) -> str:
    path = bench.path(f"d{number:04}")
    with bench.connection(SMBFiles) as files:
        bench.make_folder(files)
        files.make_folder(path)
    makers = min(_MAKERS, count)

    def make(maker: int, files: SMBFiles) -> None:
        share = files.connected_share()
        for entry in range(maker, count, makers):
            share.together(f"{path}/f{entry:07}", wire.ACCESS_WRITE, disposition=wire.DISPOSITION_CREATE)

    bench.side_by_side(makers, SMBFiles, make)
    return path


def _measure_folder(bench: Bench, files: SMBFiles, path: str, samples: measures.Samples) -> None:
    names, list_seconds = _list_names(bench, files, path)
    count = len(names)
    samples[f"list_{count}_seconds"] += list_seconds
    samples["echo_seconds"] += measures.echo_seconds(files.connected_share(), 10)

    step = max(1, count // bench.affordable_sizes.asked)
    asked_names = names[::step][: bench.affordable_sizes.asked]
    if asked_names:
        samples[f"ask_{count}_seconds"] += _ask_about_entries(bench, files, path, asked_names)

    processors_before = measures.processors()
    samples[f"missing_{count}_seconds"] += _ask_for_missing(bench, files, path)
    samples[BUSY_WITH_MISSING].append(measures.busy_percent_since(processors_before))


def _list_names(bench: Bench, files: SMBFiles, path: str) -> tuple[list[str], list[float]]:
    names: list[str] = []
    seconds = []
    for _ in range(_LISTINGS):
        bench.check()
        began = time.perf_counter()
        entries = list_folder(files.connected_share(), path)
        seconds.append(time.perf_counter() - began)
        names = [entry.name for entry in entries]
    return names, seconds


def _ask_about_entries(bench: Bench, files: SMBFiles, path: str, names: Sequence[str]) -> list[float]:
    share = files.connected_share()
    streams = wire.query(wire.SAME_FILE, copy_patterns.STREAM_INFORMATION)
    seconds = []
    for name in names:
        bench.check()
        began = time.perf_counter()
        with suppress(errors.MeasurementError):  # a folder has no streams on some servers
            files.query(f"{path}/{name}")
            share.together(f"{path}/{name}", wire.ACCESS_ATTRIBUTES, streams)
        seconds.append(time.perf_counter() - began)
    return seconds


def _ask_for_missing(bench: Bench, files: SMBFiles, path: str) -> list[float]:
    share = files.connected_share()
    seconds = []
    for number in range(bench.affordable_sizes.asked):
        bench.check()
        began = time.perf_counter()
        with suppress(errors.NoSuchFileError):
            share.together(f"{path}/missing {number:07} desktop.ini", wire.ACCESS_ATTRIBUTES)
        seconds.append(time.perf_counter() - began)
    return seconds
