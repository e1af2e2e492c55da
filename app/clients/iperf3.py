"""The client for ``iperf3://``: one iperf3 test for each transfer, which shows what the network alone can do.

It moves no files. A small trial test comes first, and tells of the connection.
"""

import builtins
import time

from app.base import errors
from app.base.programs import find_program
from app.clients import base
from app.clients.program_json import finite_number, parsed_object, value_at, whole_number
from app.clients.programs import Subprocess, first_version
from app.clients.tcp import one_line
from storage.json_reader import LARGEST
from storage.plan import DEFAULT_SIZE_BYTES, Settings
from storage.records import ClientFacts, Target, format_target

_TRIAL_BYTES = 128 * 1024
_INTERVAL_SECONDS = 0.1
_REFUSALS: tuple[tuple[tuple[str, ...], type[errors.MeasurementError], str], ...] = (
    (
        ("busy",),
        errors.UnreachableError,
        "the server is busy with another test; wait until it is over, or start another `iperf3 -s` on another --port",
    ),
    (
        ("name or service", "address family", "no address"),
        errors.UnreachableError,
        "no host of that name is known; check the name, or give its address",
    ),
    (
        ("unable to connect",),
        errors.UnreachableError,
        "no iperf3 server answers ({said}); start `iperf3 -s` there and open its port",
    ),
    (
        ("timed out", "timeout"),
        errors.StalledError,
        "nothing moved ({said}); look at the server and the network",
    ),
    (
        ("",),
        errors.ConnectionLostError,
        "iperf3 said: {said}; check that `iperf3 -s` still runs there",
    ),
)
"""Words of iperf3's errors, with the error and what to do; the last row, with no letter, holds for all others."""


class Iperf3Client(base.OneByOne):
    """A get is a test with ``--reverse``. What the receiver counted holds: what was still under way is not in it."""

    def __init__(
        self, target: Target, _secrets: base.Secrets, settings: Settings, *, size_bytes: int | None = None
    ) -> None:
        self.target = target
        self._settings = settings
        self._size_bytes = size_bytes or DEFAULT_SIZE_BYTES
        self._program = Subprocess()
        self._trial: dict[str, object] | None = None
        """The report of the trial test; None before it."""
        self._version = ""
        self._where = format_target(target)

    def connect(self) -> None:
        if self._trial is None:
            self._version = first_version(find_program("iperf3", "iperf3"))
            self._trial = self._test(_TRIAL_BYTES, None, reverse=False)

    def facts(self) -> ClientFacts:
        self.connect()
        test = value_at(self._trial, "start", "test_start")
        return ClientFacts(
            name="iperf3",
            version=self._version,
            block_bytes=whole_number(value_at(test, "blksize")),
            in_flight=whole_number(value_at(test, "num_streams")),
        )

    def list(self, path: str) -> builtins.list[base.DirectoryEntry]:
        return []

    def size(self, path: str) -> int:
        return self._size_bytes

    def get(self, path: str, meter: base.Meter, into: base.Sink | None = None) -> base.Transfer:
        return self._measure(self._size_bytes, meter, reverse=True)

    def put(self, path: str, content: base.Content, meter: base.Meter) -> base.Transfer:
        return self._measure(content.size_bytes, meter, reverse=False)

    def digest(self, path: str) -> str:
        raise errors.MeasurementError(
            f"{self._where}: iperf3 moves no file, so there is nothing to verify", options="leave out --verify"
        )

    def remove(self, path: str) -> None:
        """iperf3 writes no file."""

    def facts_of_path(self) -> dict[str, str | int | float]:
        self.connect()
        connections = value_at(self._trial, "start", "connected")
        first_connection = connections[0] if isinstance(connections, list) and connections else None
        words = {
            "local_address": value_at(first_connection, "local_host"),
            "peer_address": value_at(first_connection, "remote_host"),
            "tcp.congestion": value_at(self._trial, "end", "sender_tcp_congestion"),
        }
        facts: dict[str, str | int | float] = {
            name: one_line(word) for name, word in words.items() if isinstance(word, str)
        }

        segment_bytes = whole_number(value_at(self._trial, "start", "tcp_mss_default"))
        if segment_bytes is not None:
            facts["tcp.mss_bytes"] = segment_bytes

        streams = value_at(self._trial, "end", "streams")
        first_stream = streams[0] if isinstance(streams, list) and streams else None
        least_microseconds = whole_number(value_at(first_stream, "sender", "min_rtt"))
        if least_microseconds:
            facts["tcp.least_round_trip_seconds"] = least_microseconds / 1e6
        return facts

    def abort(self) -> None:
        self._program.abort()

    def close(self) -> None:
        """No connection stays open between tests."""

    def _measure(self, size_bytes: int, meter: base.Meter, *, reverse: bool) -> base.Transfer:
        began_at = time.monotonic()
        report = self._test(size_bytes, meter, reverse=reverse)
        return _transfer_of(report, time.monotonic() - began_at, self._where, reverse=reverse)

    def _test(self, size_bytes: int, meter: base.Meter | None, *, reverse: bool) -> dict[str, object]:
        """iperf3's report. Raises what it says went wrong."""
        outcome = self._program.run(
            self._command(size_bytes, reverse=reverse),
            self._where,
            meter,
            counter="rchar" if reverse else "wchar",
            timeout_seconds=self._settings.timeout_seconds,
        )

        report = parsed_object(outcome.out)
        if report is None:
            if outcome.code < 0:
                raise errors.ConnectionLostError(f"{self._where}: iperf3 was ended before it was done; measure again")
            message = one_line(outcome.error or outcome.out) or f"exit {outcome.code}"
            raise errors.ProtocolError(f"{self._where}: iperf3 gave no report ({message}); try it by hand")

        if "error" in report:
            raise self._refusal(one_line(str(report["error"])))
        if value_at(report, "end", "sum_received") is None:
            raise errors.ConnectionLostError(
                f"{self._where}: the test ended early; check that `iperf3 -s` still runs there"
            )
        return report

    def _command(self, size_bytes: int, *, reverse: bool) -> builtins.list[str]:
        settings = self._settings
        command = [
            find_program("iperf3", "iperf3"),
            *("--client", self.target.host),
            *("--port", str(self.target.port_number)),
            "--json",
            *("--bytes", str(size_bytes)),
            *("--interval", str(_INTERVAL_SECONDS)),
            *("--connect-timeout", str(int(settings.timeout_seconds * 1000))),
        ]

        if reverse:
            command.append("--reverse")
        if settings.block_bytes:
            command += ["--length", str(settings.block_bytes)]
        if settings.in_flight:
            command += ["--parallel", str(settings.in_flight)]
        return command

    def _refusal(self, message: str) -> errors.MeasurementError:
        lower = message.lower()
        kind, text = next((kind, text) for words, kind, text in _REFUSALS if any(word in lower for word in words))
        return kind(f"{self._where}: {text.format(said=message)}")


def _transfer_of(report: dict[str, object], elapsed_seconds: float, where: str, *, reverse: bool) -> base.Transfer:
    """Raises ProtocolError for an impossible report. A put takes at least as long as sending took."""
    received = value_at(report, "end", "sum_received")
    size_bytes = whole_number(value_at(received, "bytes"))
    seconds = finite_number(value_at(received, "seconds"))
    if size_bytes is None or seconds is None:
        raise errors.ProtocolError(
            f"{where}: iperf3's report lacks what arrived, and in which time; use another version"
        )

    sent_bytes = whole_number(value_at(report, "end", "sum_sent", "bytes"))
    if not reverse and seconds > 0:
        seconds = max(seconds, finite_number(value_at(report, "end", "sum_sent", "seconds")) or seconds)
    if not 0 < seconds <= elapsed_seconds or (sent_bytes is not None and size_bytes > sent_bytes):
        raise errors.ProtocolError(
            f"{where}: the server's figures cannot be ({size_bytes} of {sent_bytes} sent bytes in {seconds:g} s); "
            "look at the iperf3 there, and at what is in between"
        )
    return base.Transfer(size_bytes=size_bytes, seconds=seconds, progress=_progress_of(report.get("intervals")))


def _progress_of(intervals: object) -> tuple[tuple[float, int], ...]:
    """Empty if the intervals make no sense."""
    total_bytes = 0
    last_end = 0.0
    progress: list[tuple[float, int]] = []
    for interval in intervals if isinstance(intervals, list) else []:
        moved_bytes = whole_number(value_at(interval, "sum", "bytes"))
        end = finite_number(value_at(interval, "sum", "end"))
        if moved_bytes is None or end is None or end < last_end or total_bytes + moved_bytes > LARGEST:
            return ()
        total_bytes += moved_bytes
        last_end = end
        progress.append((end, total_bytes))
    return tuple(progress)
