"""The stage of small files: a tree of them, written, read, and copied as programs copy it."""

import struct
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from app.base import errors
from app.clients import base
from app.clients.file_tree import FILES_IN_FOLDER
from app.clients.smb import wire
from app.clients.smb.files import SMBFiles
from app.diagnosis import bench as diagnosis_bench
from app.server.smbd import Profiler
from forms.diagnosis.summary import patterns
from storage import looks, records

ROUND_TRIPS = 3
"""Of one small file, as this stage asks for it: open, read or write, close."""
STREAM_INFORMATION = 22
"""FileStreamInformation (MS-FSCC 2.4.44)."""
_NETWORK_OPEN_INFORMATION = 34
_END_OF_FILE_INFORMATION = 20
_ATTRIBUTE_INFORMATION = 5
"""MS-FSCC 2.4.34, 2.4.14 and 2.5.1."""


def _query_file(file_id: bytes, _size_bytes: int) -> wire.Request:
    return wire.query(file_id, _NETWORK_OPEN_INFORMATION)


def _set_size(file_id: bytes, size_bytes: int) -> wire.Request:
    return wire.set_info(file_id, _END_OF_FILE_INFORMATION, size_bytes.to_bytes(8, "little"))


def _query_volume(file_id: bytes, _size_bytes: int) -> wire.Request:
    return wire.query(file_id, _ATTRIBUTE_INFORMATION, wire.FILE_SYSTEM)


OF_AN_OPEN_FILE: Mapping[str, Callable[[bytes, int], wire.Request]] = {
    "query": _query_file,
    "size": _set_size,
    "volume": _query_volume,
}
"""Requests of ``patterns.toml`` about a file that is open."""
_IN_2022 = struct.pack("<qqqqI4x", 0, 0, 133_000_000_000_000_000, 0, 0)
"""A last write (FileBasicInformation, MS-FSCC 2.4.7)."""
BY_NAME: Mapping[str, tuple[str, int, tuple[wire.Request, ...]]] = {
    "missing": ("", wire.ACCESS_ATTRIBUTES, ()),
    "stream": (":AFP_AfpInfo", wire.ACCESS_ATTRIBUTES, ()),
    "look": ("", wire.ACCESS_ATTRIBUTES, (wire.query(wire.SAME_FILE, _NETWORK_OPEN_INFORMATION),)),
    "streams": ("", wire.ACCESS_ATTRIBUTES, (wire.query(wire.SAME_FILE, STREAM_INFORMATION),)),
    "times": ("", wire.ACCESS_WRITE, (wire.set_info(wire.SAME_FILE, wire.BASIC_INFORMATION, _IN_2022),)),
}
_LEAST_PATTERN_FILES = 4
_PROFILE_ROUNDS = 16
_PROFILE_FILES = 60


def small_files(bench: diagnosis_bench.Bench) -> looks.Stage:
    """A tree of small files written and read, by one stream and by several, each request timed."""
    sizes = bench.sizes
    samples = diagnosis_bench.Samples(list)
    content = base.Content(sizes.file_bytes).block(0, sizes.file_bytes)
    with bench.connection(SMBFiles) as files:
        bench.make_folder(files)
        samples["echo_seconds"] += diagnosis_bench.echo_seconds(files.connected_share(), bench.plan.sizes.echoes)
        _make_tree(bench, files, samples)
        file_count = _move_one_by_one(bench, files, content, samples)

    facts = _profile_facts(bench, content, file_count)
    streams = min(sizes.streams, file_count)
    facts |= {"file_bytes": sizes.file_bytes, "files": file_count, "streams": streams, "round_trips": ROUND_TRIPS}
    for command in (records.Command.PUT, records.Command.GET):
        move = partial(_move_part, bench, content, file_count, streams, command)
        facts[f"{command}_side_by_side_seconds"] = bench.side_by_side(streams, SMBFiles, move)

    open_seconds = sum(samples["put_open_seconds"]) / file_count
    pattern_files = min(file_count, sizes.pattern_files, affordable_files(open_seconds, sizes.stage_seconds))
    facts["pattern_files"] = pattern_files
    if pattern_files:
        facts |= _pattern_facts(bench, content, pattern_files)
    return diagnosis_bench.stage_of(looks.StageName.SMALL_FILES, samples, facts)


def _make_tree(bench: diagnosis_bench.Bench, files: SMBFiles, samples: diagnosis_bench.Samples) -> None:
    for first in range(0, bench.sizes.files, FILES_IN_FOLDER):
        began = time.perf_counter()
        files.make_folder(_folder(bench, first))
        samples["folder_seconds"].append(time.perf_counter() - began)


def _move_one_by_one(
    bench: diagnosis_bench.Bench, files: SMBFiles, content: memoryview, samples: diagnosis_bench.Samples
) -> int:
    """Write all files, then read them, each within a third of the stage's time; returns how many there are."""
    file_count = bench.sizes.files
    for command in (records.Command.PUT, records.Command.GET):
        ends_at = time.monotonic() + bench.plan.sizes.stage_seconds / 3
        for number in range(file_count):
            if number and time.monotonic() > ends_at:
                if command is records.Command.PUT:
                    file_count = number
                break

            times = [time.perf_counter()]
            times += [time.perf_counter() for _ in _moving(files, _file(bench, number), content, command)]
            for part, begin, end in zip(("open", "data", "close"), times, times[1:], strict=False):
                samples[f"{command}_{part}_seconds"].append(end - begin)
            bench.check()
    return file_count


def _move_part(
    bench: diagnosis_bench.Bench,
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
    first = bench.sizes.files if command is records.Command.PUT else 0

    for number in range(begin, min(file_count, begin + files_a_stream)):
        _move(files, _file(bench, first + number, within=number), content, command)


def _pattern_facts(
    bench: diagnosis_bench.Bench, content: memoryview, pattern_files: int
) -> dict[str, records.FactValue]:
    """How long each program's pattern takes to copy that number of files to the share, and from it."""
    facts: dict[str, records.FactValue] = {}

    # Numbers of files: the tree's, then those that streams put side by side, then those of each pattern.
    for place, pattern in enumerate(patterns(), start=2):
        streams = min(pattern.streams, pattern_files)
        for command, requests, first in (
            (records.Command.PUT, pattern.put, place * bench.sizes.files),
            (records.Command.GET, pattern.get, 0),
        ):
            paths = [_file(bench, first + number, within=number) for number in range(pattern_files)]
            copy = partial(copy_as, requests, paths, streams, content)
            facts[f"{pattern.key}_{command}_seconds"] = bench.side_by_side(streams, SMBFiles, copy)
    return facts


def affordable_files(open_seconds: float, stage_seconds: float) -> int:
    """How many files each pattern may copy: a quarter of the stage's time for all, by what opening one takes."""
    requests = sum(len(pattern.put) + len(pattern.get) for pattern in patterns())
    return max(_LEAST_PATTERN_FILES, int(stage_seconds / 4 / (requests * open_seconds)))


def copy_as(
    requests: Sequence[str], paths: Sequence[str], streams: int, content: memoryview, stream: int, files: SMBFiles
) -> None:
    """Copy this stream's part of the paths, each by those requests of ``patterns.toml``."""
    share = files.connected_share()

    for path in paths[stream::streams]:
        for request in requests:
            if request in {"create", "open"}:
                handle = files.open(path, base.OpenMode.CREATE if request == "create" else base.OpenMode.READ)
            elif request == "write":
                files.write_at(handle, 0, content)
            elif request == "read":
                files.read_at(handle, 0, len(content))
            elif request == "close":
                files.close_file(handle)
            elif request in OF_AN_OPEN_FILE:
                share.ask(OF_AN_OPEN_FILE[request](handle.token, len(content)))
            else:
                ending, access, queries = BY_NAME[request]
                with suppress(errors.MeasurementError):  # nothing of that name, or a share without streams
                    share.together(path + ending, access, *queries)


def _profile_facts(bench: diagnosis_bench.Bench, content: memoryview, file_count: int) -> dict[str, records.FactValue]:
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


def _ask_as_file_manager(bench: diagnosis_bench.Bench, files: SMBFiles, number: int, content: memoryview) -> None:
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
        share.together(path, wire.ACCESS_ATTRIBUTES, wire.query(wire.SAME_FILE, STREAM_INFORMATION))
    _move(files, path, content, records.Command.GET)


def _move(files: SMBFiles, path: str, content: memoryview, command: records.Command) -> None:
    deque(_moving(files, path, content, command), 0)


def _moving(files: SMBFiles, path: str, content: memoryview, command: records.Command) -> Iterator[None]:
    """Move a small file; pauses when it is open, when it was moved, and when it is closed."""
    handle = files.open(path, base.OpenMode.CREATE if command is records.Command.PUT else base.OpenMode.READ)
    yield
    if command is records.Command.PUT:
        files.write_at(handle, 0, content)
    else:
        files.read_at(handle, 0, len(content))
    yield
    files.close_file(handle)
    yield


def _folder(bench: diagnosis_bench.Bench, number: int) -> str:
    return bench.path(f"d{number // FILES_IN_FOLDER:04}")


def _file(bench: diagnosis_bench.Bench, number: int, *, within: int | None = None) -> str:
    """``within`` is the number whose folder it is in."""
    folder = _folder(bench, number if within is None else within)
    return f"{folder}/f{number:07}"
