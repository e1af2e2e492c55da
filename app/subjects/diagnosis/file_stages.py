"""Stages about many small files and about large folders."""

import struct
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from app.clients.base import Content, OpenMode
from app.clients.smb import wire
from app.clients.smb.files import SMBFiles
from app.clients.smb.share import list_folder
from app.clients.smb.wire import SAME_FILE
from app.environment.samba.control import Profiler
from app.errors import MeasurementError, NoSuchFileError
from app.load.file_set import FILES_IN_FOLDER
from app.subjects.diagnosis.bench import Bench, echo_seconds, measured
from forms.diagnosis.summary import patterns
from storage.looks import Stage, StageName
from storage.records import Command, FactValue

ROUND_TRIPS = 3
"""Of one small file, as this stage asks for it: open, read or write, close."""
_LISTINGS = 3
_STREAM_INFORMATION = 22
"""FileStreamInformation (MS-FSCC 2.4.44)."""
_NETWORK_OPEN_INFORMATION, _END_OF_FILE_INFORMATION, _ATTRIBUTE_INFORMATION = 34, 20, 5
"""MS-FSCC 2.4.34, 2.4.14 and 2.5.1."""
OF_AN_OPEN_FILE: Mapping[str, Callable[[bytes, int], wire.Request]] = {
    "query": lambda file_id, _: wire.query(file_id, _NETWORK_OPEN_INFORMATION),
    "size": lambda file_id, size: wire.set_info(file_id, _END_OF_FILE_INFORMATION, size.to_bytes(8, "little")),
    "volume": lambda file_id, _: wire.query(file_id, _ATTRIBUTE_INFORMATION, wire.FILE_SYSTEM),
}
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
_PROFILE_ROUNDS, _PROFILE_FILES = 16, 60
_FIRST_FOLDER_OF_ENTRIES = 9000
"""Folders of entries are named from d9000 on, those of the tree from d0000 on."""


def small_files(bench: Bench) -> Stage:
    """A tree of small files written and read, by one stream and by several, each request timed."""
    sizes, samples = bench.sizes, defaultdict[str, list[float]](list)
    content = Content(sizes.file_bytes).block(0, sizes.file_bytes)
    clock = time.perf_counter
    with bench.connection(SMBFiles) as files:
        bench.make_folder(files)
        samples["echo_seconds"] += echo_seconds(files.connected_share(), bench.plan.sizes.echoes)
        for first in range(0, sizes.files, FILES_IN_FOLDER):
            began = clock()
            files.make_folder(_folder(bench, first))
            samples["folder_seconds"].append(clock() - began)
        made = sizes.files
        for command in (Command.PUT, Command.GET):
            until = time.monotonic() + bench.plan.sizes.stage_seconds / 3
            for number in range(made):
                if number and time.monotonic() > until:
                    made = number if command is Command.PUT else made
                    break
                at = [clock(), *(clock() for _ in _moving(files, _file(bench, number), content, command))]
                for part, begin, end in zip(("open", "data", "close"), at, at[1:], strict=False):
                    samples[f"{command}_{part}_seconds"].append(end - begin)
                bench.check()
    facts = _profiled(bench, content, made)
    streams = min(sizes.streams, made)
    each = -(-made // streams)

    def move(command: Command, stream: int, by: SMBFiles) -> None:
        first = sizes.files if command is Command.PUT else 0
        for number in range(stream * each, min(made, stream * each + each)):
            deque(_moving(by, _file(bench, first + number, within=number), content, command), 0)

    facts |= {"file_bytes": sizes.file_bytes, "files": made, "streams": streams, "round_trips": ROUND_TRIPS}
    for command in (Command.PUT, Command.GET):
        facts[f"{command}_side_by_side_seconds"] = bench.side_by_side(streams, SMBFiles, partial(move, command))
    seconds = sum(samples["put_open_seconds"]) / made
    facts["pattern_files"] = of_each = min(made, sizes.pattern_files, affordable_files(seconds, sizes.stage_seconds))
    for place, pattern in enumerate(patterns() if of_each else (), start=2):
        streams = min(pattern.streams, of_each)
        for command, requests, first in (
            (Command.PUT, pattern.put, place * sizes.files),
            (Command.GET, pattern.get, 0),
        ):
            paths = [_file(bench, first + number, within=number) for number in range(of_each)]
            copy = partial(copy_as, requests, paths, streams, content)
            facts[f"{pattern.key}_{command}_seconds"] = bench.side_by_side(streams, SMBFiles, copy)
    return measured(StageName.SMALL_FILES, samples, facts)


def affordable_files(open_seconds: float, stage_seconds: float) -> int:
    """How many files each pattern may copy: a quarter of the stage's time for all, by what opening one takes."""
    requests = sum(len(one.put) + len(one.get) for one in patterns())
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
                ending, access, asked = BY_NAME[request]
                with suppress(MeasurementError):  # nothing of that name, or a share without streams
                    share.together(path + ending, access, *asked)


def _profiled(bench: Bench, content: memoryview, made: int) -> dict[str, FactValue]:
    """Smbd's profile of what a file manager asks for, round by round: a missing name, a new file, its streams."""
    plan, facts = bench.plan, dict[str, FactValue]()
    if plan.profile_conf is None:
        return facts
    streams = wire.query(SAME_FILE, _STREAM_INFORMATION)
    with Profiler(plan.profile_ssh, plan.profile_conf) as profiler, bench.connection(SMBFiles) as files:
        share = files.connected_share()
        for turn in range(_PROFILE_ROUNDS + 1):
            for number in range(min(made, _PROFILE_FILES)):
                bench.check()
                path, missing = _file(bench, number), f"{bench.target.path}/missing {number:07} desktop.ini"
                with suppress(NoSuchFileError):
                    share.together(missing.lstrip("/"), wire.ACCESS_ATTRIBUTES)
                files.remove(path)
                deque(_moving(files, path, content, Command.PUT), 0)
                with suppress(MeasurementError):  # a share without streams refuses this one
                    share.together(f"{path}:Zone.Identifier", wire.ACCESS_WRITE, disposition=wire.DISPOSITION_CREATE)
                with suppress(MeasurementError):
                    share.together(path, wire.ACCESS_ATTRIBUTES, streams)
                deque(_moving(files, path, content, Command.GET), 0)
            found = profiler.round(turn)
            facts |= found if turn else {}  # the first has the login too
    return facts


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
    samples, facts = defaultdict[str, list[float]](list), dict[str, FactValue]()
    if bench.plan.folder is not None:
        facts["existing"] = bench.plan.folder
        with bench.connection(SMBFiles) as files:
            _look(bench, files, bench.plan.folder, samples)
    else:
        began = time.monotonic()
        for order, count in enumerate(bench.sizes.entries):
            spent = time.monotonic() - began
            if order and spent * count / bench.sizes.entries[order - 1] > bench.sizes.stage_seconds:
                facts[f"skipped_{count}"] = "yes"
                continue
            path = _make_entries(bench, _FIRST_FOLDER_OF_ENTRIES + order, count)
            with bench.connection(SMBFiles) as files:
                _look(bench, files, path, samples)
    return measured(StageName.FOLDERS, samples, facts)


def _make_entries(bench: Bench, number: int, count: int) -> str:
    path = bench.path(f"d{number:04}")
    with bench.connection(SMBFiles) as files:
        bench.make_folder(files)
        files.make_folder(path)
    makers = min(_MAKERS, count)

    def make(maker: int, by: SMBFiles) -> None:
        share = by.connected_share()
        for entry in range(maker, count, makers):
            share.together(f"{path}/f{entry:07}", wire.ACCESS_WRITE, disposition=wire.DISPOSITION_CREATE)

    bench.side_by_side(makers, SMBFiles, make)
    return path


def _look(bench: Bench, files: SMBFiles, path: str, samples: dict[str, list[float]]) -> None:
    share, clock = files.connected_share(), time.perf_counter
    names: list[str] = []
    took = []
    for _ in range(_LISTINGS):
        bench.check()
        began = clock()
        entries = list_folder(share, path)
        took.append(clock() - began)
        names = [entry.name for entry in entries]
    count = len(names)
    samples[f"list_{count}_seconds"] += took
    samples["echo_seconds"] += echo_seconds(share, 10)
    step = max(1, count // bench.sizes.asked)
    streams = wire.query(SAME_FILE, _STREAM_INFORMATION)
    for name in names[::step][: bench.sizes.asked]:
        bench.check()
        began = clock()
        with suppress(MeasurementError):  # a folder has no streams on some servers
            files.query(f"{path}/{name}")
            share.together(f"{path}/{name}", wire.ACCESS_ATTRIBUTES, streams)
        samples[f"ask_{count}_seconds"].append(clock() - began)
    for number in range(bench.sizes.asked):
        bench.check()
        began = clock()
        with suppress(NoSuchFileError):
            share.together(f"{path}/missing {number:07} desktop.ini", wire.ACCESS_ATTRIBUTES)
        samples[f"missing_{count}_seconds"].append(clock() - began)
