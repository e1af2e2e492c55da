"""Stages of files: a tree of small ones, copied as programs copy it, and large folders."""

import struct
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from app.base.errors import MeasurementError, NoSuchFileError
from app.clients.base import Content, OpenMode
from app.clients.file_tree import FILES_IN_FOLDER
from app.clients.smb import wire
from app.clients.smb.files import SMBFiles
from app.clients.smb.share import list_folder
from app.clients.smb.wire import SAME_FILE
from app.diagnosis.bench import Bench, echo_seconds, stage_of
from app.server.smbd import Profiler
from forms.diagnosis.summary import patterns
from storage.looks import Stage, StageName
from storage.records import Command, FactValue

ROUND_TRIPS = 3
"""Of one small file, as this stage asks for it: open, read or write, close."""
_LISTINGS = 3
Samples = defaultdict[str, list[float]]
_STREAM_INFORMATION = 22
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
    "look": ("", wire.ACCESS_ATTRIBUTES, (wire.query(SAME_FILE, _NETWORK_OPEN_INFORMATION),)),
    "streams": ("", wire.ACCESS_ATTRIBUTES, (wire.query(SAME_FILE, _STREAM_INFORMATION),)),
    "times": ("", wire.ACCESS_WRITE, (wire.set_info(SAME_FILE, wire.BASIC_INFORMATION, _IN_2022),)),
}
_LEAST_PATTERN_FILES = 4
_MAKERS = 8
_PROFILE_ROUNDS = 16
_PROFILE_FILES = 60
_FIRST_FOLDER_OF_ENTRIES = 9000
"""Folders of entries are named from d9000 on, those of the tree from d0000 on."""


def small_files(bench: Bench) -> Stage:
    """A tree of small files written and read, by one stream and by several, each request timed."""
    sizes = bench.sizes
    samples: Samples = defaultdict(list)
    content = Content(sizes.file_bytes).block(0, sizes.file_bytes)
    with bench.connection(SMBFiles) as files:
        bench.make_folder(files)
        samples["echo_seconds"] += echo_seconds(files.connected_share(), bench.plan.sizes.echoes)
        _make_tree(bench, files, samples)
        made = _move_one_by_one(bench, files, content, samples)

    facts = _profile_facts(bench, content, made)
    streams = min(sizes.streams, made)
    facts |= {"file_bytes": sizes.file_bytes, "files": made, "streams": streams, "round_trips": ROUND_TRIPS}
    for command in (Command.PUT, Command.GET):
        move = partial(_move_part, bench, content, made, streams, command)
        facts[f"{command}_side_by_side_seconds"] = bench.side_by_side(streams, SMBFiles, move)

    open_seconds = sum(samples["put_open_seconds"]) / made
    pattern_files = min(made, sizes.pattern_files, affordable_files(open_seconds, sizes.stage_seconds))
    facts["pattern_files"] = pattern_files
    if pattern_files:
        facts |= _pattern_facts(bench, content, pattern_files)
    return stage_of(StageName.SMALL_FILES, samples, facts)


def _make_tree(bench: Bench, files: SMBFiles, samples: Samples) -> None:
    for first in range(0, bench.sizes.files, FILES_IN_FOLDER):
        began = time.perf_counter()
        files.make_folder(_folder(bench, first))
        samples["folder_seconds"].append(time.perf_counter() - began)


def _move_one_by_one(bench: Bench, files: SMBFiles, content: memoryview, samples: Samples) -> int:
    """Write all files, then read them, each within a third of the stage's time; returns how many there are."""
    made = bench.sizes.files
    for command in (Command.PUT, Command.GET):
        ends_at = time.monotonic() + bench.plan.sizes.stage_seconds / 3
        for number in range(made):
            if number and time.monotonic() > ends_at:
                if command is Command.PUT:
                    made = number
                break

            times = [time.perf_counter()]
            times += [time.perf_counter() for _ in _moving(files, _file(bench, number), content, command)]
            for part, begin, end in zip(("open", "data", "close"), times, times[1:], strict=False):
                samples[f"{command}_{part}_seconds"].append(end - begin)
            bench.check()
    return made


def _move_part(
    bench: Bench, content: memoryview, made: int, streams: int, command: Command, stream: int, files: SMBFiles
) -> None:
    """Move this stream's part of the files: new ones are put, beside those that are got."""
    files_a_stream = -(-made // streams)
    first = bench.sizes.files if command is Command.PUT else 0
    begin = stream * files_a_stream
    for number in range(begin, min(made, begin + files_a_stream)):
        _move(files, _file(bench, first + number, within=number), content, command)


def _pattern_facts(bench: Bench, content: memoryview, pattern_files: int) -> dict[str, FactValue]:
    """How long each program's pattern takes to copy that number of files to the share, and from it."""
    facts: dict[str, FactValue] = {}
    # Numbers of files: the tree's, then those that streams put side by side, then those of each pattern.
    for place, pattern in enumerate(patterns(), start=2):
        streams = min(pattern.streams, pattern_files)
        for command, requests, first in (
            (Command.PUT, pattern.put, place * bench.sizes.files),
            (Command.GET, pattern.get, 0),
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
                handle = files.open(path, OpenMode.CREATE if request == "create" else OpenMode.READ)
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
                with suppress(MeasurementError):  # nothing of that name, or a share without streams
                    share.together(path + ending, access, *queries)


def _profile_facts(bench: Bench, content: memoryview, made: int) -> dict[str, FactValue]:
    """Smbd's profile of what a file manager asks for, round by round; empty where it is not to be read."""
    plan = bench.plan
    facts: dict[str, FactValue] = {}
    if plan.profile_conf is None:
        return facts

    with Profiler(plan.profile_ssh, plan.profile_conf) as profiler, bench.connection(SMBFiles) as files:
        for turn in range(_PROFILE_ROUNDS + 1):
            for number in range(min(made, _PROFILE_FILES)):
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
    with suppress(NoSuchFileError):
        share.together(missing_path, wire.ACCESS_ATTRIBUTES)

    files.remove(path)
    _move(files, path, content, Command.PUT)
    with suppress(MeasurementError):  # a share without streams refuses this one
        share.together(f"{path}:Zone.Identifier", wire.ACCESS_WRITE, disposition=wire.DISPOSITION_CREATE)
    with suppress(MeasurementError):
        share.together(path, wire.ACCESS_ATTRIBUTES, wire.query(SAME_FILE, _STREAM_INFORMATION))
    _move(files, path, content, Command.GET)


def _move(files: SMBFiles, path: str, content: memoryview, command: Command) -> None:
    deque(_moving(files, path, content, command), 0)


def _moving(files: SMBFiles, path: str, content: memoryview, command: Command) -> Iterator[None]:
    """Move a small file; pauses when it is open, when it was moved, and when it is closed."""
    handle = files.open(path, OpenMode.CREATE if command is Command.PUT else OpenMode.READ)
    yield
    if command is Command.PUT:
        files.write_at(handle, 0, content)
    else:
        files.read_at(handle, 0, len(content))
    yield
    files.close_file(handle)
    yield


def _folder(bench: Bench, number: int) -> str:
    return bench.path(f"d{number // FILES_IN_FOLDER:04}")


def _file(bench: Bench, number: int, *, within: int | None = None) -> str:
    """``within`` is the number whose folder it is in."""
    return f"{_folder(bench, number if within is None else within)}/f{number:07}"


def folders(bench: Bench) -> Stage:
    """Folders of growing size: listing them, asking about each entry, and asking for a name that is missing."""
    samples: Samples = defaultdict(list)
    facts: dict[str, FactValue] = {}
    if bench.plan.folder is not None:
        facts["existing"] = bench.plan.folder
        with bench.connection(SMBFiles) as files:
            _measure_folder(bench, files, bench.plan.folder, samples)
        return stage_of(StageName.FOLDERS, samples, facts)

    began = time.monotonic()
    for order, count in enumerate(bench.sizes.entries):
        if order:
            spent_seconds = time.monotonic() - began
            expected_seconds = spent_seconds * count / bench.sizes.entries[order - 1]
            if expected_seconds > bench.sizes.stage_seconds:
                facts[f"skipped_{count}"] = "yes"
                continue

        path = _make_entries(bench, _FIRST_FOLDER_OF_ENTRIES + order, count)
        with bench.connection(SMBFiles) as files:
            _measure_folder(bench, files, path, samples)
    return stage_of(StageName.FOLDERS, samples, facts)


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


def _measure_folder(bench: Bench, files: SMBFiles, path: str, samples: Samples) -> None:
    names, list_seconds = _list_names(bench, files, path)
    count = len(names)
    samples[f"list_{count}_seconds"] += list_seconds
    samples["echo_seconds"] += echo_seconds(files.connected_share(), 10)

    step = max(1, count // bench.sizes.asked)
    asked_names = names[::step][: bench.sizes.asked]
    if asked_names:
        samples[f"ask_{count}_seconds"] += _ask_about_entries(bench, files, path, asked_names)
    samples[f"missing_{count}_seconds"] += _ask_for_missing(bench, files, path)


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
    streams = wire.query(SAME_FILE, _STREAM_INFORMATION)
    seconds = []
    for name in names:
        bench.check()
        began = time.perf_counter()
        with suppress(MeasurementError):  # a folder has no streams on some servers
            files.query(f"{path}/{name}")
            share.together(f"{path}/{name}", wire.ACCESS_ATTRIBUTES, streams)
        seconds.append(time.perf_counter() - began)
    return seconds


def _ask_for_missing(bench: Bench, files: SMBFiles, path: str) -> list[float]:
    share = files.connected_share()
    seconds = []
    for number in range(bench.sizes.asked):
        bench.check()
        began = time.perf_counter()
        with suppress(NoSuchFileError):
            share.together(f"{path}/missing {number:07} desktop.ini", wire.ACCESS_ATTRIBUTES)
        seconds.append(time.perf_counter() - began)
    return seconds
