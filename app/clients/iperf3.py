"""The client for ``iperf3://``: the bare TCP path, measured by the installed iperf3 and read from its JSON."""

import builtins
import time

from app.clients.base import Content, DirectoryEntry, Meter, Secrets, Sink, Transfer
from app.clients.programs import Subprocess, find_program, finite, first_version, parsed_object, part, whole
from app.clients.tcp import one_line
from app.errors import ConnectionLostError, MeasurementError, ProtocolError, StalledError, UnreachableError
from storage.json_reader import LARGEST
from storage.plan import DEFAULT_SIZE_BYTES, Settings
from storage.records import ClientFacts, Target, format_target

_TRIAL_BYTES = 128 * 1024
_INTERVAL_SECONDS = 0.1
_ANOTHER, _START = "or start another `iperf3 -s` on another --port", "start `iperf3 -s` there"
_NO_NAME = ("name or service", "address family", "no address")
_REFUSALS: tuple[tuple[tuple[str, ...], type[MeasurementError], str], ...] = (
    (("busy",), UnreachableError, f"the server is busy with another test; wait until it is over, {_ANOTHER}"),
    (_NO_NAME, UnreachableError, "no host of that name is known; check the name, or give its address"),
    (("unable to connect",), UnreachableError, f"no iperf3 server answers ({{said}}); {_START} and open its port"),
    (("timed out", "timeout"), StalledError, "nothing moved ({said}); look at the server and the network"),
    (("",), ConnectionLostError, "iperf3 said: {said}; check that `iperf3 -s` still runs there"),
)
"""Words of iperf3's errors, with the error and what to do; the last row holds for all others."""


def _transfer(raw: dict[str, object], elapsed_seconds: float, where: str, *, reverse: bool) -> Transfer:
    """Raises ProtocolError for an impossible report. A put takes at least as long as sending took."""
    received = part(raw, "end", "sum_received")
    size_bytes, seconds = whole(part(received, "bytes")), finite(part(received, "seconds"))
    if size_bytes is None or seconds is None:
        raise ProtocolError(f"{where}: iperf3's report lacks what arrived, and in which time; use another version")
    sent_bytes = whole(part(raw, "end", "sum_sent", "bytes"))
    if not reverse and seconds > 0:
        seconds = max(seconds, finite(part(raw, "end", "sum_sent", "seconds")) or seconds)
    if not 0 < seconds <= elapsed_seconds or (sent_bytes is not None and size_bytes > sent_bytes):
        raise ProtocolError(
            f"{where}: the server's figures cannot be ({size_bytes} of {sent_bytes} sent bytes in {seconds:g} s); "
            "look at the iperf3 there, and at what is in between"
        )
    return Transfer(size_bytes=size_bytes, seconds=seconds, progress=_progress(raw.get("intervals")))


def _progress(intervals: object) -> tuple[tuple[float, int], ...]:
    moved, progress = 0, [(0.0, 0)]
    for interval in intervals if isinstance(intervals, list) else []:
        moved_bytes, end = whole(part(interval, "sum", "bytes")), finite(part(interval, "sum", "end"))
        if moved_bytes is None or end is None or end < progress[-1][0] or moved + moved_bytes > LARGEST:
            return ()
        moved += moved_bytes
        progress.append((end, moved))
    return tuple(progress[1:])


class Iperf3Client:
    """One iperf3 test a run; a get is its ``--reverse``. The receiver's count holds, without what was in flight."""

    def __init__(self, target: Target, _secrets: Secrets, settings: Settings, *, size_bytes: int | None = None) -> None:
        self.target = target
        self._settings = settings
        self._size_bytes = size_bytes or DEFAULT_SIZE_BYTES
        self._program = Subprocess()
        self._trial: dict[str, object] | None = None
        self._version = ""
        self._where = format_target(target)

    def connect(self) -> None:
        if self._trial is None:
            self._version = first_version(find_program("iperf3", "iperf3"))
            self._trial = self._test(_TRIAL_BYTES, None, reverse=False)

    def facts(self) -> ClientFacts:
        self.connect()
        test = part(self._trial, "start", "test_start")
        return ClientFacts(
            name="iperf3",
            version=self._version,
            block_bytes=whole(part(test, "blksize")),
            in_flight=whole(part(test, "num_streams")),
        )

    def shares(self) -> list[str]:
        return []

    def list(self, path: str) -> builtins.list[DirectoryEntry]:  # noqa: ARG002  the protocol's signature
        return []

    def size(self, path: str) -> int:  # noqa: ARG002  the protocol's signature
        return self._size_bytes

    def get(self, path: str, meter: Meter, into: Sink | None = None) -> Transfer:  # noqa: ARG002  see size
        return self._measured(self._size_bytes, meter, reverse=True)

    def put(self, path: str, content: Content, meter: Meter) -> Transfer:  # noqa: ARG002  see size
        return self._measured(content.size_bytes, meter, reverse=False)

    def digest(self, path: str) -> str:  # noqa: ARG002  see size
        raise MeasurementError(
            f"{self._where}: iperf3 moves no file, so there is nothing to verify", options="leave out --verify"
        )

    def remove(self, path: str) -> None:
        """iperf3 writes no file."""

    def facts_of_path(self) -> dict[str, str | int | float]:
        self.connect()
        connections = part(self._trial, "start", "connected")
        connected = connections[0] if isinstance(connections, list) and connections else None
        words = {
            "local_address": part(connected, "local_host"),
            "peer_address": part(connected, "remote_host"),
            "tcp.congestion": part(self._trial, "end", "sender_tcp_congestion"),
        }
        facts: dict[str, str | int | float] = {
            name: one_line(value) for name, value in words.items() if isinstance(value, str)
        }
        mss_bytes = whole(part(self._trial, "start", "tcp_mss_default"))
        if mss_bytes is not None:
            facts["tcp.mss_bytes"] = mss_bytes
        streams = part(self._trial, "end", "streams")
        microseconds = whole(part(streams[0], "sender", "min_rtt")) if isinstance(streams, list) and streams else None
        if microseconds:
            facts["tcp.least_round_trip_seconds"] = microseconds / 1e6
        return facts

    def abort(self) -> None:
        self._program.abort()

    def close(self) -> None:
        """No connection stays open between tests."""

    def _measured(self, size_bytes: int, meter: Meter, *, reverse: bool) -> Transfer:
        began = time.monotonic()
        raw = self._test(size_bytes, meter, reverse=reverse)
        return _transfer(raw, time.monotonic() - began, self._where, reverse=reverse)

    def _test(self, size_bytes: int, meter: Meter | None, *, reverse: bool) -> dict[str, object]:
        settings = self._settings
        command = [
            find_program("iperf3", "iperf3"),
            *("--client", self.target.host, "--port", str(self.target.port_number), "--json"),
            *("--bytes", str(size_bytes), "--interval", str(_INTERVAL_SECONDS)),
            *("--connect-timeout", str(int(settings.timeout_seconds * 1000))),
            *(["--reverse"] if reverse else []),
            *(["--length", str(settings.block_bytes)] if settings.block_bytes else []),
            *(["--parallel", str(settings.in_flight)] if settings.in_flight else []),
        ]
        outcome = self._program.run(
            command,
            self._where,
            meter,
            counter="rchar" if reverse else "wchar",
            timeout_seconds=settings.timeout_seconds,
        )
        raw = parsed_object(outcome.out)
        if raw is None:
            if outcome.code < 0:
                raise ConnectionLostError(f"{self._where}: iperf3 was ended before it was done; measure again")
            said = one_line(outcome.error or outcome.out) or f"exit {outcome.code}"
            raise ProtocolError(f"{self._where}: iperf3 gave no report ({said}); try it by hand")
        if "error" in raw:
            said = one_line(str(raw["error"]))
            _, kind, text = next(row for row in _REFUSALS if any(word in said.lower() for word in row[0]))
            raise kind(f"{self._where}: {text.format(said=said)}")
        if part(raw, "end", "sum_received") is None:
            raise ConnectionLostError(f"{self._where}: the test ended early; check that `iperf3 -s` still runs there")
        return raw
