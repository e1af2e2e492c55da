"""Copying a file as programs do it: the requests that each makes, named in ``patterns.toml``, sent in that order."""

import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from app.base import errors
from app.clients import base
from app.clients.smb import wire
from app.clients.smb.files import SMBFiles
from forms.diagnosis.summary import patterns

_LEAST_PATTERN_FILES = 4
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
"""Requests of ``patterns.toml`` about a name: what is appended to the path, the access to ask for, and the queries."""


def affordable_files(open_seconds: float, stage_seconds: float) -> int:
    """How many files each pattern may copy: a quarter of the stage's time for all, by what opening one takes."""
    requests = sum(len(pattern.put) + len(pattern.get) for pattern in patterns())
    return max(_LEAST_PATTERN_FILES, int(stage_seconds / 4 / (requests * open_seconds)))


def copy_as(
    requests: Sequence[str], paths: Sequence[str], streams: int, content: memoryview, stream: int, files: SMBFiles
) -> None:
    """Copy this stream's part of the paths, each by those requests of ``patterns.toml``.

    ``stream`` is the number of this stream, of that many ``streams``, which work at the same time.
    """
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
                file_id: bytes = handle.token
                share.ask(OF_AN_OPEN_FILE[request](file_id, len(content)))
            else:
                # In one message: the name is opened, asked about, and closed.
                ending, access, queries = BY_NAME[request]
                with suppress(errors.MeasurementError):  # nothing of that name, or a share without streams
                    share.together(path + ending, access, *queries)
