"""The stage of opening a window: what Explorer asks the server each time that it shows a folder.

For the status bar it asks for the free space and for the limits of the quota, for the details pane which streams the
folder has, and it wants to be told of changes. None of these is part of copying or listing, and each may wait for a
script or a file system of the server by itself.
"""

import struct
import time
from collections.abc import Callable
from functools import partial

from app.clients.smb import wire
from app.clients.smb.files import SMBFiles
from app.clients.smb.share import Share
from app.diagnosis import measures
from app.diagnosis.bench import Bench
from app.diagnosis.copy_patterns import STREAM_INFORMATION
from storage import looks

_CONTROL_INFORMATION = 6
"""FileFsControlInformation: the quota's limits (MS-FSCC 2.5.2)."""

_NOTIFY = struct.Struct("<HHI16sII")
"""MS-SMB2 2.2.35."""
_NAMES_AND_TIMES = 0x17
"""Of names, attributes, sizes and last writes of entries, as a file manager wants to know."""
_NOTIFY_ANSWER_BYTES = 4096
_REQUESTS_OF_A_WATCH = 2
"""The watch, and the close that ends it: a server that grants one credit at a time cannot be asked for both."""

_LEAST_ROUNDS = 3
_SECONDS_A_QUESTION = 1.0
"""After that a question is not asked once more, but at least three times: one that takes a second has told enough."""


def opening_a_window(bench: Bench) -> looks.Stage:
    """Each question several times, on a handle of the folder that is open as long as its window would be."""
    samples = measures.Samples(list)
    with bench.connection(SMBFiles) as files:
        share = files.connected_share()
        samples["echo_seconds"] += measures.echo_seconds(share, 10)

        folder = share.open(bench.target.path, wire.ACCESS_LIST, options=wire.OPTION_A_FOLDER)
        questions = {
            "free_space": wire.query(folder.file_id, wire.FULL_SIZE_INFORMATION, wire.FILE_SYSTEM),
            "quota": wire.query(folder.file_id, _CONTROL_INFORMATION, wire.FILE_SYSTEM),
            "streams": wire.query(folder.file_id, STREAM_INFORMATION),
        }
        for name, question in questions.items():
            samples[f"{name}_seconds"] += _times_of(bench, partial(_ask, share, question))
        share.close(folder)

        if share.channel.credits >= _REQUESTS_OF_A_WATCH:
            samples["notify_seconds"] += _times_of(bench, partial(_ask_for_changes, bench, share))
    return measures.stage_of(looks.StageName.WINDOW, samples, {})


def _times_of(bench: Bench, ask: Callable[[], float]) -> list[float]:
    """How long the question took each time."""
    seconds: list[float] = []
    while len(seconds) < bench.plan.sizes.asked:
        bench.check()
        seconds.append(ask())
        if sum(seconds) > _SECONDS_A_QUESTION and len(seconds) >= _LEAST_ROUNDS:
            break
    return seconds


def _ask(share: Share, request: wire.Request) -> float:
    """The seconds until the answer. A refusal is an answer as well: many servers have no quota, and no streams."""
    began = time.perf_counter()
    response = share.channel.ask(wire.frame(*request, share.tree_id))
    seconds = time.perf_counter() - began
    if response.status in wire.SESSION_OVER:
        raise share.channel.refusal(response.status)
    return seconds


def _ask_for_changes(bench: Bench, share: Share) -> float:
    """The seconds until a folder that is watched is closed again.

    A watch is answered when something changes, or the folder is closed: so both are sent, and both answers waited for.
    """
    folder = share.open(bench.target.path, wire.ACCESS_LIST, options=wire.OPTION_A_FOLDER)
    fixed = _NOTIFY.pack(_NOTIFY.size, 0, _NOTIFY_ANSWER_BYTES, folder.file_id, _NAMES_AND_TIMES, 0)
    channel = share.channel
    channel.stall.start()

    began = time.perf_counter()
    waiting_ids = {
        channel.send(wire.frame(wire.Opcode.CHANGE_NOTIFY, fixed, share.tree_id)),
        channel.send(wire.frame(*wire.close(folder.file_id), share.tree_id)),
    }
    while waiting_ids:
        response = channel.receive()
        waiting_ids.discard(response.message_id)
        if response.status in wire.SESSION_OVER:
            raise channel.refusal(response.status)
    return time.perf_counter() - began
