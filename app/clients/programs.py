"""Clients that are external programs: curl, iperf3, and what all need: stalls, cancellation, JSON read with care."""

import builtins
import contextlib
import json
import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from app.base import errors
from app.base.child_process import die_with_parent
from app.base.programs import find_program
from app.clients.base import Client, Content, DirectoryEntry, Meter, OneByOne, Secrets, Sink, Transfer
from app.clients.ftp.client import FTPClient
from app.clients.ftp.control import IMPLICIT_PORT
from app.clients.tcp import LEAST_BYTES_PER_SECOND, StallWatch, file_error, one_line, refusals
from app.server.shell import Said
from storage.json_reader import LARGEST
from storage.plan import DEFAULT_SIZE_BYTES, Settings
from storage.programs import clean_environment, end_group, kill_group, run_program
from storage.records import ClientFacts, Target, format_target

_LOOK_SECONDS = 0.05
_VERSION_SECONDS = 10.0
"""A program says its version in milliseconds; on a busy machine seconds were seen."""
_OUTPUT_BYTES = 64 * 1024 * 1024


def first_version(program: str) -> str:
    """The first word with a digit and a dot in the program's version output, or empty."""
    try:
        done = run_program([program, "--version"], seconds=_VERSION_SECONDS)
    except OSError as error:
        raise errors.MeasurementError(
            f"{program} cannot be used: {error}; try `{program} --version` by hand"
        ) from error
    words = (word.strip(",()") for word in (done.out + b" " + done.error).decode(errors="replace").split())
    return next((word for word in words if word[:1].isdigit() and "." in word), "")


@contextlib.contextmanager
def memory_file(content: str) -> Iterator[int]:
    """An open file in memory, for secrets that must not be written to disk."""
    with os.fdopen(os.memfd_create("sharebench"), "wb", buffering=0) as file:
        file.write(content.encode())
        file.seek(0)
        yield file.fileno()


class SourceFile:
    """An unnamed file with a put's content; made once for each content."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._content: Content | None = None

    def holding(self, content: Content) -> int:
        if self._file is None or self._content is not content:
            self.close()
            self._file = tempfile.TemporaryFile()  # noqa: SIM115  lives as long as the client
            try:
                self._file.writelines(content.blocks())
                self._file.flush()
            except OSError as error:
                raise file_error(error, tempfile.gettempdir()) from error
            self._content = content
        os.lseek(self._file.fileno(), 0, os.SEEK_SET)
        return self._file.fileno()

    def close(self) -> None:
        file, self._file, self._content = self._file, None, None
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()


class Subprocess:
    """Runs one program at a time; another thread may end it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def run(
        self,
        command: list[str],
        where: str,
        meter: Meter | None = None,
        *,
        counter: str = "rchar",
        timeout_seconds: float = 30.0,
        stdin: bytes = b"",
        files: Sequence[int] = (),
    ) -> Said:
        """``counter`` in /proc/PID/io shows progress; ``files`` are inherited. Raises StalledError, CancelledError."""
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=errors,
                env=clean_environment(LC_ALL="C"),
                pass_fds=tuple(files),
                start_new_session=True,
                preexec_fn=die_with_parent,  # noqa: PLW1509  one call into the kernel, nothing that takes a lock
            )
            self._process = process
            try:
                assert process.stdin is not None
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.write(stdin)
                    process.stdin.close()
                meter = meter or Meter(threading.Event())
                first = _counted(process.pid, counter)
                meter.start()
                watch(
                    lambda seconds: _has_ended(process, seconds),
                    lambda: _moved(process.pid, counter, output, errors) - first,
                    where, meter, timeout_seconds,
                )  # fmt: skip
            finally:
                self._process = None
                end_group(process)
            return Said(process.returncode, _text(output), _text(errors))

    def abort(self) -> None:
        process = self._process
        if process is not None:
            kill_group(process)


def watch(
    has_ended: Callable[[float], bool], moved: Callable[[], int], where: str, meter: Meter, timeout_seconds: float
) -> None:
    """Advance the meter until what moves the bytes has ended. Raises StalledError, CancelledError."""
    seen, stall = 0, StallWatch(timeout_seconds, lambda: where)
    while not has_ended(_LOOK_SECONDS):
        seen = max(seen, moved())
        meter.advance(seen)
        stall.moved(seen)


def _has_ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return process.returncode is not None


def _moved(pid: int, counter: str, *outputs: IO[bytes]) -> int:
    """Raises ProtocolError for a program that says more than is read."""
    if sum(os.fstat(output.fileno()).st_size for output in outputs) > _OUTPUT_BYTES:
        raise errors.ProtocolError(f"the program wrote more than {_OUTPUT_BYTES // 2**20} MiB; try it by hand")
    return _counted(pid, counter)


def _counted(pid: int, counter: str) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(": ")
            if name == counter:
                return int(value)
    return 0


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_OUTPUT_BYTES).decode(errors="replace")


def parsed_object(text: str) -> dict[str, object] | None:
    """None for anything but a JSON object, and for one nested too deep or with too long numbers."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


def part(raw: object, *keys: str) -> object:
    for key in keys:
        raw = raw.get(key) if isinstance(raw, dict) else None
    return raw


def finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST <= value <= LARGEST:
        return None
    return float(value)


def whole(value: object) -> int | None:
    number = finite(value)
    if number is None or number < 0:
        return None
    return value if isinstance(value, int) else int(number)


class ExternalClient:
    """Base of the clients that run a program; ``own``, sharebench's client for the same target, does all else."""

    def __init__(self, own: Client, secrets: Secrets, settings: Settings) -> None:
        self._own, self._secrets, self._settings = own, secrets, settings
        self._program = Subprocess()
        self._source = SourceFile()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def abort(self) -> None:
        self._program.abort()
        self._own.abort()

    def close(self) -> None:
        self._source.close()
        self._own.close()

    def _size_to_get(self, path: str, where: str) -> int:
        size_bytes = self._own.size(path)
        if not size_bytes:
            raise errors.NotAFileError(f"{where}: the file is empty; name one with something in it")
        return size_bytes

    def _must_be_new(self, path: str, where: str) -> None:
        try:
            self._own.size(path)
        except errors.NoSuchFileError:
            return
        raise errors.AccessDeniedError(f"{where}: there is a file already, and none is replaced; name another folder")


_EXITS = refusals("curl")


class CurlClient(ExternalClient):
    """One curl process a run, timed from ``time_pretransfer`` (ready to send RETR or STOR) to ``time_total``."""

    def __init__(self, target: Target, secrets: Secrets, settings: Settings) -> None:
        self._own: FTPClient
        super().__init__(FTPClient(target, secrets, settings), secrets, settings)

    def connect(self) -> None:
        find_program("curl", "curl")
        self._own.connect()

    def facts(self) -> ClientFacts:
        self.connect()
        version = first_version(find_program("curl", "curl"))
        return ClientFacts(name="curl", version=version, encryption=self._own.facts().encryption, in_flight=1)

    def get(self, path: str, meter: Meter, into: Sink | None = None) -> Transfer:  # noqa: ARG002  bytes go to /dev/null
        size_bytes = self._size_to_get(path, self._where(path))
        return self._run(path, ['output = "/dev/null"'], meter, "download", size_bytes, "wchar", [])

    def put(self, path: str, content: Content, meter: Meter) -> Transfer:
        self._must_be_new(path, self._where(path))
        source = self._source.holding(content)
        how = [f'upload-file = "/proc/self/fd/{source}"']
        done = self._run(path, how, meter, "upload", content.size_bytes, "rchar", [source])
        self._own.check_stored(path, content.size_bytes)
        return done

    def _run(
        self, path: str, how: list[str], meter: Meter, direction: str, size_bytes: int, counter: str, files: list[int]
    ) -> Transfer:
        where = self._where(path)
        self._own.close()  # an idle connection may not outlive the run, and some servers allow one a client
        command, timeout = [find_program("curl", "curl"), "--disable", "--config", "-"], self._settings.timeout_seconds
        configuration = "\n".join([*self._configuration(path), *how, ""]).encode("utf-8", "surrogateescape")
        outcome = self._program.run(
            command, where, meter, counter=counter, timeout_seconds=timeout, stdin=configuration, files=files
        )
        report = parsed_object(outcome.out) or {}
        if outcome.code:
            raise self._failed(outcome, where)
        moved, ready = finite(report.get(f"size_{direction}")), finite(report.get("time_pretransfer"))
        total = finite(report.get("time_total"))
        if moved is None or ready is None or total is None:
            raise errors.ProtocolError(
                f"{where}: curl's report lacks what it moved, and in which time; measure with another"
            )
        if moved != size_bytes:
            raise errors.CorruptedError(
                f"{where}: curl moved {moved:.0f} of {size_bytes} bytes; measure a file at rest"
            )
        return Transfer(size_bytes=size_bytes, seconds=total - ready, open_seconds=ready)

    def _configuration(self, path: str) -> list[str]:
        target, settings = self.target, self._settings
        implicit = target.abilities.has_tls and target.port == IMPLICIT_PORT
        host = f"[{target.host}]" if ":" in target.host else target.host
        scheme, name = "ftps" if implicit else "ftp", quote(path, safe="", errors="surrogateescape")
        url = f"{scheme}://{host}:{target.port_number}/{name}"
        lines = ["silent", "show-error", "globoff", f'url = "{url}"', 'noproxy = "*"', 'ftp-method = "nocwd"']
        lines += ['write-out = "%{json}"', f"connect-timeout = {settings.timeout_seconds:g}"]
        lines += [f"speed-time = {max(1, round(settings.timeout_seconds))}", f"speed-limit = {LEAST_BYTES_PER_SECOND}"]
        if target.abilities.has_tls:
            lines.append("ssl-reqd")
            trusted = os.environ.get("SSL_CERT_FILE")
            lines += [f'cacert = "{_quoted(trusted)}"'] if trusted else []  # or CURL_CA_BUNDLE would go before it
        if target.user:
            if ":" in target.user or re.search(r"[\r\n]", target.user + (self._secrets.password or "")):
                raise errors.UsageError(
                    "curl takes no colon in a user name, and no line ends; measure with another client"
                )
            lines.append(f'user = "{_quoted(target.user)}:{_quoted(self._secrets.password or "")}"')
        return lines

    def _failed(self, outcome: Said, where: str) -> errors.MeasurementError:
        said = one_line(outcome.error) or f"exit {outcome.code}"
        if outcome.code < 0:
            return errors.ConnectionLostError(f"{where}: curl was ended before it was done; measure again")
        unknown = errors.ProtocolError, "try it by hand, or measure with another client"
        kind, advice = _EXITS.get(str(outcome.code), unknown)
        return kind(f"{where}: {said}; {advice}")


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


_TRIAL_BYTES = 128 * 1024
_INTERVAL_SECONDS = 0.1
_ANOTHER, _START = "or start another `iperf3 -s` on another --port", "start `iperf3 -s` there and open its port"
_NO_NAME = ("name or service", "address family", "no address")
_REFUSALS: tuple[tuple[tuple[str, ...], type[errors.MeasurementError], str], ...] = (
    (("busy",), errors.UnreachableError, f"the server is busy with another test; wait until it is over, {_ANOTHER}"),
    (_NO_NAME, errors.UnreachableError, "no host of that name is known; check the name, or give its address"),
    (("unable to connect",), errors.UnreachableError, f"no iperf3 server answers ({{said}}); {_START}"),
    (("timed out", "timeout"), errors.StalledError, "nothing moved ({said}); look at the server and the network"),
    (("",), errors.ConnectionLostError, "iperf3 said: {said}; check that `iperf3 -s` still runs there"),
)
"""Words of iperf3's errors, with the error and what to do; the last row holds for all others."""


def _transfer(raw: dict[str, object], elapsed_seconds: float, where: str, *, reverse: bool) -> Transfer:
    """Raises ProtocolError for an impossible report. A put takes at least as long as sending took."""
    received = part(raw, "end", "sum_received")
    size_bytes, seconds = whole(part(received, "bytes")), finite(part(received, "seconds"))
    if size_bytes is None or seconds is None:
        raise errors.ProtocolError(
            f"{where}: iperf3's report lacks what arrived, and in which time; use another version"
        )
    sent_bytes = whole(part(raw, "end", "sum_sent", "bytes"))
    if not reverse and seconds > 0:
        seconds = max(seconds, finite(part(raw, "end", "sum_sent", "seconds")) or seconds)
    if not 0 < seconds <= elapsed_seconds or (sent_bytes is not None and size_bytes > sent_bytes):
        raise errors.ProtocolError(
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


class Iperf3Client(OneByOne):
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
        block, streams = whole(part(test, "blksize")), whole(part(test, "num_streams"))
        return ClientFacts(name="iperf3", version=self._version, block_bytes=block, in_flight=streams)

    def list(self, path: str) -> builtins.list[DirectoryEntry]:  # noqa: ARG002  the protocol's signature
        return []

    def size(self, path: str) -> int:  # noqa: ARG002  the protocol's signature
        return self._size_bytes

    def get(self, path: str, meter: Meter, into: Sink | None = None) -> Transfer:  # noqa: ARG002  see size
        return self._measured(self._size_bytes, meter, reverse=True)

    def put(self, path: str, content: Content, meter: Meter) -> Transfer:  # noqa: ARG002  see size
        return self._measured(content.size_bytes, meter, reverse=False)

    def digest(self, path: str) -> str:  # noqa: ARG002  see size
        raise errors.MeasurementError(
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
        counter, timeout = "rchar" if reverse else "wchar", settings.timeout_seconds
        outcome = self._program.run(command, self._where, meter, counter=counter, timeout_seconds=timeout)
        raw = parsed_object(outcome.out)
        if raw is None:
            if outcome.code < 0:
                raise errors.ConnectionLostError(f"{self._where}: iperf3 was ended before it was done; measure again")
            said = one_line(outcome.error or outcome.out) or f"exit {outcome.code}"
            raise errors.ProtocolError(f"{self._where}: iperf3 gave no report ({said}); try it by hand")
        if "error" in raw:
            said = one_line(str(raw["error"]))
            _, kind, text = next(row for row in _REFUSALS if any(word in said.lower() for word in row[0]))
            raise kind(f"{self._where}: {text.format(said=said)}")
        if part(raw, "end", "sum_received") is None:
            raise errors.ConnectionLostError(
                f"{self._where}: the test ended early; check that `iperf3 -s` still runs there"
            )
        return raw
