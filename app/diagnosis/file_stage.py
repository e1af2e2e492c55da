"""The stage of small files: a tree of them, written, read, and copied as programs copy it.

All of it is done in rounds, so that what is compared meets the server at the same time: a few seconds later a disk may
answer three times as fast.

A file has a number, which is its name. With N files in the tree, 0 to N - 1 are the tree's, N to 2 N - 1 are those that
several streams put side by side, and each program's pattern has the next N in each round. All of them are in the tree's
folders.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from app.base import errors
from app.clients import base
from app.clients.file_tree import FILES_IN_FOLDER
from app.clients.smb import wire
from app.clients.smb.files import SMBFiles
from app.diagnosis import copy_patterns, measures
from app.diagnosis.bench import Bench
from app.diagnosis.plan import Sizes
from app.server.smbd import Profiler
from forms.diagnosis.summary import patterns
from forms.stats.summary import median
from storage import looks, records

ROUND_TRIPS = 3
"""Of one small file, as this stage asks for it: open, read or write, close."""
_COMMANDS = (records.Command.PUT, records.Command.GET)
_PROFILE_ROUNDS = 16
_PROFILE_FILES = 60
"""How often smbd's profile is read, each time after a file manager's requests for that many files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundFiles:
    """The files of one round: their numbers in the tree."""

    first: int
    end: int

    @property
    def count(self) -> int:
        return self.end - self.first


def small_files(bench: Bench) -> looks.Stage:
    """A tree of small files written and read, by one stream and by several, each request timed, in rounds."""
    sizes = bench.affordable_sizes
    samples = measures.Samples(list)
    content = base.Content(sizes.file_bytes).block(0, sizes.file_bytes)
    with bench.connection(SMBFiles) as files:
        bench.make_folder(files)
        samples["echo_seconds"] += measures.echo_seconds(files.connected_share(), sizes.echoes)
        _make_tree(bench, files, samples)

    facts = _move_in_rounds(bench, content, samples)
    facts |= _profile_facts(bench, content, int(facts["files"]))
    facts |= {"file_bytes": sizes.file_bytes, "round_trips": ROUND_TRIPS}
    return measures.stage_of(looks.StageName.SMALL_FILES, samples, facts)


def _move_in_rounds(bench: Bench, content: memoryview, samples: measures.Samples) -> dict[str, records.FactValue]:
    """Move the files round by round; returns how many were moved, and how long several streams and programs took."""
    sizes = bench.affordable_sizes
    seconds_left = dict.fromkeys(_COMMANDS, sizes.stage_seconds / 3)
    file_count = 0
    streams = 0
    pattern_files = 0
    seconds_side_by_side = dict.fromkeys(_COMMANDS, 0.0)
    pattern_round_seconds: list[float] = []

    for turn, part in enumerate(parts_of(sizes.files, sizes.small_file_rounds)):
        seconds_before = dict(seconds_left)
        moved = _move_one_by_one(bench, content, part, seconds_left, samples)
        file_count += moved.count
        if not turn:
            streams = min(sizes.streams, moved.count)
            pattern_files = _affordable_pattern_files(samples, moved.count, sizes)
        for command in _COMMANDS:
            seconds_side_by_side[command] += _move_side_by_side(bench, content, moved, streams, command, samples)

        if pattern_files and _has_time_for_another(pattern_round_seconds, sizes.stage_seconds / 4):
            began = time.monotonic()
            _copy_as_programs(bench, content, pattern_files, turn, samples)
            pattern_round_seconds.append(time.monotonic() - began)

        # So slow a server gets no further round, which might not be whole.
        has_time = all(2 * seconds_left[command] >= seconds_before[command] for command in _COMMANDS)
        if not has_time or moved.count < part.count:
            break

    facts: dict[str, records.FactValue] = {"files": file_count, "streams": streams, "pattern_files": pattern_files}
    facts |= {f"{command}_side_by_side_seconds": seconds for command, seconds in seconds_side_by_side.items()}
    if pattern_round_seconds:
        facts |= _median_pattern_seconds(samples)
    return facts


def _has_time_for_another(seconds_of_rounds: Sequence[float], most_seconds: float) -> bool:
    """Whether a further round as long as the longest one stays within the time; always for the first."""
    return sum(seconds_of_rounds) + max(seconds_of_rounds, default=0.0) <= most_seconds


def _median_pattern_seconds(samples: measures.Samples) -> dict[str, float]:
    """How long each program's pattern took in the middle one of its rounds."""
    seconds_by_name = {}
    for pattern in patterns():
        for command in _COMMANDS:
            name = f"{pattern.key}_{command}_seconds"
            seconds_by_name[name] = median(samples[name]) or 0.0
    return seconds_by_name


def parts_of(file_count: int, rounds: int) -> list[RoundFiles]:
    """The files of each round, nearly as many in each; fewer rounds where there are not enough files."""
    rounds = max(1, min(rounds, file_count))
    ends = [file_count * (turn + 1) // rounds for turn in range(rounds)]
    return [RoundFiles(first=first, end=end) for first, end in zip([0, *ends], ends, strict=False)]


def _make_tree(bench: Bench, files: SMBFiles, samples: measures.Samples) -> None:
    for first in range(0, bench.affordable_sizes.files, FILES_IN_FOLDER):
        began = time.perf_counter()
        files.make_folder(_folder(bench, first))
        samples["folder_seconds"].append(time.perf_counter() - began)


def _move_one_by_one(
    bench: Bench,
    content: memoryview,
    part: RoundFiles,
    seconds_left: dict[records.Command, float],
    samples: measures.Samples,
) -> RoundFiles:
    """Write these files, then read those that were written, each as far as the time allows that is left.

    Returns those that were written.
    """
    with bench.connection(SMBFiles) as files:
        written = _time_files(bench, files, content, records.Command.PUT, part, seconds_left, samples)
        _time_files(bench, files, content, records.Command.GET, written, seconds_left, samples)
    return written


def _time_files(
    bench: Bench,
    files: SMBFiles,
    content: memoryview,
    command: records.Command,
    part: RoundFiles,
    seconds_left: dict[records.Command, float],
    samples: measures.Samples,
) -> RoundFiles:
    """Move the files one by one, and note how long each was opened, moved and closed; returns those that were moved."""
    began = time.monotonic()
    moved = part
    for number in range(part.first, part.end):
        if number > part.first and time.monotonic() - began > seconds_left[command]:
            moved = RoundFiles(first=part.first, end=number)
            break

        step_began = time.perf_counter()
        for step in _moving(files, _file(bench, number), content, command):
            step_ended = time.perf_counter()
            samples[f"{command}_{step}_seconds"].append(step_ended - step_began)
            step_began = step_ended
        bench.check()

    seconds_left[command] -= time.monotonic() - began
    samples[f"{command}_files_of_round"].append(moved.count)
    return moved


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


def _move_side_by_side(
    bench: Bench,
    content: memoryview,
    part: RoundFiles,
    streams: int,
    command: records.Command,
    samples: measures.Samples,
) -> float:
    """Seconds in which several streams move these files at once."""
    move = partial(_move_streams_part, bench, content, part, streams, command)
    seconds = bench.side_by_side(streams, SMBFiles, move)
    samples[f"{command}_side_by_side_files_per_second"].append(part.count / seconds)
    return seconds


def _move_streams_part(
    bench: Bench,
    content: memoryview,
    part: RoundFiles,
    streams: int,
    command: records.Command,
    stream: int,
    files: SMBFiles,
) -> None:
    """Move this stream's share of the files: new ones are put, beside those that are got."""
    files_a_stream = -(-part.count // streams)
    begin = part.first + stream * files_a_stream
    offset = bench.affordable_sizes.files if command is records.Command.PUT else 0

    for number in range(begin, min(part.end, begin + files_a_stream)):
        _move(files, _file(bench, offset + number, within=number), content, command)


def _affordable_pattern_files(samples: measures.Samples, file_count: int, sizes: Sizes) -> int:
    """How many files each program's pattern copies in a round, by what opening one takes."""
    open_seconds = sum(samples["put_open_seconds"]) / file_count
    affordable_files = copy_patterns.affordable_files(open_seconds, sizes.stage_seconds)
    return min(file_count, sizes.pattern_files, affordable_files)


def _copy_as_programs(
    bench: Bench, content: memoryview, pattern_files: int, turn: int, samples: measures.Samples
) -> None:
    """Have each program's pattern copy that number of files to the share, and from it, in the round ``turn``."""
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
            samples[f"{pattern.key}_{command}_seconds"].append(bench.side_by_side(streams, SMBFiles, copy))


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
