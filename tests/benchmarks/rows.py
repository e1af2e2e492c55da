"""The comparisons of ``make bench``, with what each should reach."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from app.recording.process import MeasuringOrder
from storage.records import Command, Target
from tests.benchmarks.answering import FirstPaintRow, KeyPressRow
from tests.benchmarks.drawing import DrawingProcessorRow, DrawingRow
from tests.benchmarks.pairs import Orders, Row
from tests.servers.iperf3 import Iperf3Server
from tests.servers.smbd import Smbd
from tests.servers.vsftpd import Vsftpd
from tests.specs import order_with, request_with, varied

_CHUNK = 16 * 1024 * 1024
SIGNED = {"server signing": "mandatory"}
SEALED = {"smb encrypt": "required"}


def all_rows(size_bytes: int, pairs: int) -> Iterator[Row | DrawingRow]:
    """Every row, in the order of the table."""
    plan = order_with(command=Command.GET, target=Target(protocol="file"), runs=pairs, warmups=1, size_bytes=size_bytes)
    for name, options, at_least, aim in (
        ("default", {}, 1.5, 2.0),
        ("signing mandatory", SIGNED, 1.5, 2.0),
        ("encryption required", SEALED, 1.5, 2.0),
    ):
        for command in Command:
            yield Row(
                name=f"SMB {command.value} ({name})",
                ours="sharebench",
                theirs="smbclient",
                needs=("smbd", "smbclient"),
                at_least=at_least,
                aim=aim,
                set_up=lambda o=options, c=command: _smb(varied(plan, command=c), o),  # type: ignore[misc]
            )
    yield Row(
        name="SMB get (one TCP stream)",
        ours="sharebench",
        theirs="iperf3",
        needs=("smbd", "iperf3"),
        at_least=0.9,
        aim=1.0,
        set_up=lambda: _stream(plan),
    )
    for command in Command:
        yield Row(
            name=f"FTP {command.value}",
            ours="sharebench",
            theirs="curl",
            needs=("vsftpd", "curl"),
            at_least=0.97,
            aim=1.2,
            set_up=lambda c=command: _ftp(varied(plan, command=c)),  # type: ignore[misc]
        )
    yield DrawingRow(pairs=max(pairs, 15), set_up=lambda: _smb(plan, {}))


def answer_rows(size_bytes: int, pairs: int) -> Iterator[FirstPaintRow | KeyPressRow | DrawingProcessorRow]:
    """How soon the TUI answers."""
    plan = order_with(command=Command.GET, target=Target(protocol="file"), runs=pairs, warmups=1, size_bytes=size_bytes)
    yield FirstPaintRow(pairs=max(pairs, 15))
    yield KeyPressRow(set_up=lambda: _smb(plan, {}))
    yield DrawingProcessorRow(pairs=pairs, set_up=lambda: _smb(plan, {}))


def _fill(path: Path, size_bytes: int) -> None:
    with path.open("r+b") as file:
        file.writelines(os.urandom(min(_CHUNK, size_bytes - file.tell())) for _ in range(0, size_bytes, _CHUNK))


def _pair(plan: MeasuringOrder, theirs: MeasuringOrder) -> Orders:
    return request_with(order=plan, label="ours"), request_with(order=theirs, label="theirs")


@contextmanager
def _smb(plan: MeasuringOrder, options: Mapping[str, str]) -> Iterator[Orders]:
    server = Smbd(options)
    try:
        server.start()
        _fill(server.make_file("big", b""), plan.spec.counts.size_bytes or 0)
        path = "big" if plan.spec.command is Command.GET else ""
        ours = replace(plan, target=server.target(path), secrets=server.secrets())
        yield _pair(ours, varied(ours, client="smbclient"))
    finally:
        server.stop()


@contextmanager
def _stream(plan: MeasuringOrder) -> Iterator[Orders]:
    with _smb(plan, {}) as (ours, _):
        server = Iperf3Server()
        try:
            server.start()
            yield ours, request_with(order=replace(plan, target=server.target()), label="theirs")
        finally:
            server.stop()


@contextmanager
def _ftp(plan: MeasuringOrder) -> Iterator[Orders]:
    server = Vsftpd()
    try:
        server.start()
        _fill(server.make_file("big", b""), plan.spec.counts.size_bytes or 0)
        path = "/big" if plan.spec.command is Command.GET else "/"
        ours = replace(plan, target=server.target(path), secrets=server.secrets())
        yield _pair(ours, varied(ours, client="curl"))
    finally:
        server.stop()
