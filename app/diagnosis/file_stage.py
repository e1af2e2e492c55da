"""The stage of small files: a tree of them, written, read, and copied as programs copy it.

A file has a number, which is its name. With N files in the tree, 0 to N - 1 are the tree's, N to 2 N - 1 are those that
several streams put side by side, and each program's pattern has the next N in each round. All of them are in the tree's
folders.
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from app.base import errors
from app.clients import base
from app.clients.file_tree import FILES_IN_FOLDER
from app.clients.smb import wire
from app.clients.smb.files import SMBFiles
from app.diagnosis import copy_patterns, measures
from app.diagnosis.bench import Bench
from app.server.smbd import Profiler
from forms.diagnosis.summary import patterns
from storage import looks, records

ROUND_TRIPS = 3
"""Of one small file, as this stage asks for it: open, read or write, close."""
_PROFILE_ROUNDS = 16
_PROFILE_FILES = 60
"""How often smbd's profile is read, each time after a file manager's requests for that many files."""


def small_files(bench: Bench) -> looks.Stage:
    """A tree of small files written and read, by one stream and by several, each request timed."""
    sizes = bench.affordable_sizes
    samples = measures.Samples(list)
    content = base.Content(sizes.file_bytes).block(0, sizes.file_bytes)
    with bench.connection(SMBFiles) as files:
        bench.make_folder(files)
        samples["echo_seconds"] += measures.echo_seconds(files.connected_share(), sizes.echoes)
        _make_tree(bench, files, samples)
        file_count = _move_one_by_one(bench, files, content, samples)

    facts = _profile_facts(bench, content, file_count)
    streams = min(sizes.streams, file_count)
    facts |= {"file_bytes": sizes.file_bytes, "files": file_count, "streams": streams, "round_trips": ROUND_TRIPS}
    for command in (records.Command.PUT, records.Command.GET):
        move = partial(_move_part, bench, content, file_count, streams, command)
        facts[f"{command}_side_by_side_seconds"] = bench.side_by_side(streams, SMBFiles, move)

    open_seconds = sum(samples["put_open_seconds"]) / file_count
    affordable_files = copy_patterns.affordable_files(open_seconds, sizes.stage_seconds)
    pattern_files = min(file_count, sizes.pattern_files, affordable_files)
    facts["pattern_files"] = pattern_files
    if pattern_files:
        facts |= _pattern_facts(bench, content, pattern_files)
    return measures.stage_of(looks.StageName.SMALL_FILES, samples, facts)


def _make_tree(bench: Bench, files: SMBFiles, samples: measures.Samples) -> None:
    for first in range(0, bench.affordable_sizes.files, FILES_IN_FOLDER):
        began = time.perf_counter()
        files.make_folder(_folder(bench, first))
        samples["folder_seconds"].append(time.perf_counter() - began)


def _move_one_by_one(bench: Bench, files: SMBFiles, content: memoryview, samples: measures.Samples) -> int:
    """Write all files, then read those that were written, each for at most a third of the stage's time.

    Returns how many were written.
    """
    written = _time_files(bench, files, content, records.Command.PUT, bench.affordable_sizes.files, samples)
    _time_files(bench, files, content, records.Command.GET, written, samples)
    return written


def _time_files(
    bench: Bench,
    files: SMBFiles,
    content: memoryview,
    command: records.Command,
    file_count: int,
    samples: measures.Samples,
) -> int:
    """Move the files one by one, and note how long each was opened, moved and closed; returns how many were moved."""
    ends_at = time.monotonic() + bench.affordable_sizes.stage_seconds / 3
    for number in range(file_count):
        if number and time.monotonic() > ends_at:
            return number

        step_began = time.perf_counter()
        for step in _moving(files, _file(bench, number), content, command):
            step_ended = time.perf_counter()
            samples[f"{command}_{step}_seconds"].append(step_ended - step_began)
            step_began = step_ended
        bench.check()
    return file_count


def _moving(files: SMBFiles, path: str, content: memoryview, command: records.Command) -> Iterator[str]:
    """Move a small file, and name each step when it is done, for who times it: ``open``, ``data``, ``close``."""
    is_put = command is records.Command.PUT
    handle = files.open(path, base.OpenMode.CREATE if is_put else base.OpenMode.READ)
    yield "open"

    if is_put:
        files.write_at(handle, 0, content)
    else:
        files.read_at(handle, 0, len(content))
    yield "data"

    files.close_file(handle)
    yield "close"


def _move(files: SMBFiles, path: str, content: memoryview, command: records.Command) -> None:
    for _step in _moving(files, path, content, command):
        pass


def _move_part(
    bench: Bench,
    content: memoryview,
    file_count: int,
    streams: int,
    command: records.Command,
    stream: int,
    files: SMBFiles,
) -> None:
    """Move this stream's part of the files: new ones are put, beside those that are got."""
    files_a_stream = -(-file_count // streams)
    begin = stream * files_a_stream
    first = bench.affordable_sizes.files if command is records.Command.PUT else 0

    for number in range(begin, min(file_count, begin + files_a_stream)):
        _move(files, _file(bench, first + number, within=number), content, command)


def _pattern_facts(bench: Bench, content: memoryview, pattern_files: int) -> dict[str, records.FactValue]:
    """How long each program's pattern takes to copy that number of files to the share, and from it.

    Of several rounds the shortest: what delays a process on this machine once makes a round long, most of all one of
    several processes, and a slow server makes each long. Rounds take at most a quarter of the stage's time together,
    and no further one begins that might take longer.
    """
    sizes = bench.affordable_sizes
    seconds_by_name: dict[str, float] = {}
    began = time.monotonic()
    longest_round = 0.0

    for turn in range(sizes.pattern_rounds):
        round_began = time.monotonic()
        if turn and round_began - began + longest_round > sizes.stage_seconds / 4:
            break
        for name, seconds in _copy_patterns_once(bench, content, pattern_files, turn):
            seconds_by_name[name] = min(seconds, seconds_by_name.get(name, seconds))
        longest_round = max(longest_round, time.monotonic() - round_began)
    return {f"{name}_seconds": seconds for name, seconds in seconds_by_name.items()}


def _copy_patterns_once(
    bench: Bench, content: memoryview, pattern_files: int, turn: int
) -> Iterator[tuple[str, float]]:
    """(``PATTERN_COMMAND``, seconds) of each pattern; ``turn`` is the number of the round, from 0."""
    # The first two Ns of numbers are taken: by the tree, and by what was put side by side.
    first_place = 2 + turn * len(patterns())
    for place, pattern in enumerate(patterns(), start=first_place):
        streams = min(pattern.streams, pattern_files)
        for command, requests, first in (
            (records.Command.PUT, pattern.put, place * bench.affordable_sizes.files),
            (records.Command.GET, pattern.get, 0),
        ):
            paths = [_file(bench, first + number, within=number) for number in range(pattern_files)]
            copy = partial(copy_patterns.copy_as, requests, paths, streams, content)
            yield f"{pattern.key}_{command}", bench.side_by_side(streams, SMBFiles, copy)


def _profile_facts(bench: Bench, content: memoryview, file_count: int) -> dict[str, records.FactValue]:
    """Smbd's profile of what a file manager asks for, round by round; empty where it is not to be read."""
    plan = bench.plan
    facts: dict[str, records.FactValue] = {}
    if plan.profile_conf is None:
        return facts

    with Profiler(plan.profile_ssh, plan.profile_conf) as profiler, bench.connection(SMBFiles) as files:
        for turn in range(_PROFILE_ROUNDS + 1):
            for number in range(min(file_count, _PROFILE_FILES)):
                bench.check()
                _ask_as_file_manager(bench, files, number, content)
            round_facts = profiler.round(turn)
            if turn:
                # The first has the login too.
                facts |= round_facts
    return facts


def _ask_as_file_manager(bench: Bench, files: SMBFiles, number: int, content: memoryview) -> None:
    """What a file manager asks for: a missing name, a new file, its streams."""
    share = files.connected_share()
    path = _file(bench, number)
    missing_path = f"{bench.target.path}/missing {number:07} desktop.ini".lstrip("/")
    with suppress(errors.NoSuchFileError):
        share.together(missing_path, wire.ACCESS_ATTRIBUTES)

    files.remove(path)
    _move(files, path, content, records.Command.PUT)
    with suppress(errors.MeasurementError):  # a share without streams refuses this one
        share.together(f"{path}:Zone.Identifier", wire.ACCESS_WRITE, disposition=wire.DISPOSITION_CREATE)
    with suppress(errors.MeasurementError):
        share.together(path, wire.ACCESS_ATTRIBUTES, wire.query(wire.SAME_FILE, copy_patterns.STREAM_INFORMATION))
    _move(files, path, content, records.Command.GET)


def _folder(bench: Bench, number: int) -> str:
    return bench.path(f"d{number // FILES_IN_FOLDER:04}")


def _file(bench: Bench, number: int, *, within: int | None = None) -> str:
    """The path of the file of that number; ``within`` is the number in the tree whose folder it is in, if another."""
    folder = _folder(bench, number if within is None else within)
    return f"{folder}/f{number:07}"
