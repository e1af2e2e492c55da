"""What the fuzz campaign feeds: each reader of something that comes from outside, with samples of what is right."""

from __future__ import annotations

import json
import socket
import struct
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from app.base.errors import SharebenchError
from app.base.targets import parse_target
from app.base.units import parse_rate, parse_size
from app.clients.base import Content, Secrets
from app.clients.curl import CurlClient
from app.clients.ftp.client import FTPClient
from app.clients.ftp.listing import parse_line, parse_mlsd
from app.clients.iperf3 import Iperf3Client
from app.clients.logins import read_credentials
from app.clients.smb import negotiate, share, wire
from app.clients.smb.channel import Channel
from app.clients.smbclient import SmbclientClient
from app.server.running_program import ProgramOutcome
from app.server.samba import samba_facts
from app.server.shell import Answer
from forms.importers.filled_form import FormDefaults
from forms.series.document import series_document, series_from_document
from forms.tuning.conf_file import read_conf
from storage.json_reader import DocumentError
from storage.plan import Settings
from storage.records import Run, Target, format_target
from tests.app.fakes import meter
from tests.builders import full_series, read_series, series
from tests.reliability.fuzz_inputs import Maker, changed_bytes, changed_json, changed_text, either, sections

GOLDEN = Path(__file__).resolve().parents[1] / "forms" / "golden"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One reader: what it is fed with, and what it may raise."""

    inputs: Maker
    feed: Callable[[Any], object]
    refusals: tuple[type[Exception], ...] = (SharebenchError,)


def read_url(text: str) -> None:
    target = parse_target(text)
    assert parse_target(format_target(target)) is not None


def read_login(data: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        read_credentials(Path(file.name))


def run_order(run: Run) -> tuple[str, int]:
    return run.phase, run.number


def import_text(text: str) -> None:
    """What is taken must come out as it went in."""
    for found in read_series(text.encode("utf-8", "surrogatepass"), FormDefaults(target_of=parse_target)):
        again = series_from_document(json.loads(json.dumps(series_document(found))))
        assert sorted(again.runs, key=run_order) == sorted(found.runs, key=run_order)


def read_server_answer(sections: Mapping[str, str]) -> None:
    samba_facts(Answer(sections=dict(sections)), "data", "192.0.2.1")


class ProgramSaid:
    """A stand-in for the running of programs: each says the same."""

    def __init__(self, output: str) -> None:
        self.outcome = ProgramOutcome(0, output, "")

    def run(self, *_words: object, **_how: object) -> ProgramOutcome:
        return self.outcome


def hear_iperf3(output: str) -> None:
    client = Iperf3Client(Target(protocol="iperf3", host="nas", port=5201), Secrets(), Settings(), size_bytes=10_000)
    client._program = ProgramSaid(output)  # type: ignore[assignment]
    with mock.patch("app.clients.iperf3.find_program", return_value="x"):
        client._trial = client._test(1, None, reverse=False)
        client.facts(), client.facts_of_path()
        for done in (client.get("", meter()), client.put("", Content(10_000), meter())):
            assert done.size_bytes >= 0


def hear_curl(output: str) -> None:
    client = CurlClient(Target(protocol="ftp", host="nas", port=21, path="/f"), Secrets(), Settings())
    client._program = ProgramSaid(output)  # type: ignore[assignment]
    with mock.patch("app.clients.curl.find_program", return_value="x"):
        done = client._run("/f", [], meter(), direction="download", size_bytes=10_000, counter="wchar", files=[])
        assert done.size_bytes == 10_000


def hear_smbclient(output: str) -> None:
    client = SmbclientClient(Target(protocol="smb", host="nas", port=445, share="d", path="f"), Secrets(), Settings())
    client._program = ProgramSaid(output)  # type: ignore[assignment]
    with (
        mock.patch("app.clients.smbclient.find_program", return_value="x"),
        mock.patch("app.clients.smbclient.first_version", return_value="4.17"),
        mock.patch.object(client, "_size_to_get", return_value=10_000),
    ):
        with suppress(SharebenchError):
            client._probe()
        assert client.get("f", meter()).size_bytes == 10_000


_UNUSED = socket.socket()


class SocketThatSays:
    """A connected socket with all that will ever come; what is sent goes nowhere."""

    family = socket.AF_INET
    fileno = _UNUSED.fileno
    """Of a socket that blocks, as this one would."""

    def __init__(self, data: bytes) -> None:
        self._rest = memoryview(data)

    def recv(self, count: int) -> bytes:
        part, self._rest = bytes(self._rest[:count]), self._rest[count:]
        return part

    def recv_into(self, buffer: memoryview, _count: int = 0, _flags: int = 0) -> int:
        part = self.recv(len(buffer))
        buffer[: len(part)] = part
        return len(part)

    def sendall(self, data: bytes) -> None:
        """Drop it."""

    def sendmsg(self, parts: list[bytes]) -> int:
        return sum(map(len, parts))

    def getpeername(self) -> tuple[str, int]:
        return "127.0.0.1", 21

    def gettimeout(self) -> float:
        return 1.0

    def getsockopt(self, *_what: int) -> int:
        return 65536

    def settimeout(self, _seconds: float | None) -> None:
        """It never waits."""

    setsockopt = shutdown = close = lambda *_how: None


def converse_ftp(replies: bytes) -> None:
    said = SocketThatSays(replies)
    client = FTPClient(Target(protocol="ftp", host="nas", port=21, path="/f"), Secrets(), Settings(timeout_seconds=1))
    with (
        mock.patch("app.clients.tcp.connect_tcp", return_value=said),
        mock.patch("app.clients.ftp.control.socket.create_connection", side_effect=ConnectionRefusedError),
    ):
        for step in (client.connect, lambda: client.size("/f"), lambda: client.get("/f", meter())):
            step()


def list_ftp(line: str) -> None:
    for entry in (parse_mlsd(line), parse_line(line)):
        assert entry is None or 0 <= entry.size_bytes < 2**63


def hear_smb(message: bytes) -> None:
    """One message as an answer to each request that it could be one to."""
    framed = len(message).to_bytes(4, "big") + message
    for opcode in (wire.Opcode.ECHO, wire.Opcode.READ):
        channel = Channel(SocketThatSays(framed), "//nas", 1.0)  # type: ignore[arg-type]
        with suppress(SharebenchError):
            channel.ask(wire.frame(opcode, b""))
    view = memoryview(message.ljust(wire.HEADER_BYTES, b"\0"))
    with suppress(SharebenchError):
        found = negotiate.parse_negotiated(view, "//nas")
        negotiate.is_validated(view, found)
    negotiate.is_old_challenge(bytes(view))
    for read in (wire.parse_created, wire.read_data, wire.written_bytes, wire.closed_bytes, wire.share_flags):
        read(view)
    wire.session_flags(view)
    with suppress(struct.error, UnicodeDecodeError):
        assert len(share.entries(view)) <= len(view)


def smb_samples() -> list[bytes]:
    head = struct.pack("<4sHHIHHIIQIIQ16s", b"\xfeSMB", 64, 1, 0, 0, 8, 1, 0, 0, 0, 1, 7, b"")
    guid = bytes(range(16))
    contexts = b"".join(
        struct.pack("<HHI", kind, len(data), 0) + data.ljust(-(-len(data) // 8) * 8, b"\0")
        for kind, data in (
            (1, struct.pack("<HHH32s", 1, 32, 1, b"")), (2, struct.pack("<HH", 1, 2)), (8, struct.pack("<HH", 1, 2))
        )
    )  # fmt: skip
    negotiated = struct.pack(
        "<HHHH16sIIIIQQHHI", 65, 1, 0x311, 3, guid, 0x7F, 1 << 23, 1 << 23, 1 << 23, 0, 0, 128, 8, 136
    )
    name = "file".encode("utf-16-le")
    entry = struct.pack("<II8x8xq8xQ8xII", 0, 0, 133_000_000_000_000_000, 10, 0x20, len(name)) + name
    listed = struct.pack("<HHI", 9, 72, len(entry)) + entry
    challenge = b"NTLMSSP\0\2\0\0\0" + bytes(8) + struct.pack("<I", 0x00800000) + bytes(16) + b"\4\0\4\0" + bytes(8)
    created = struct.pack("<HBBI8x8x8x8xQQI4x16s8x", 89, 0, 0, 1, 4096, 4000, 0x20, guid)
    read = struct.pack("<HBBIII", 17, 80, 0, 4, 0, 0) + b"data"
    validated = struct.pack("<HHI16sIIIIII", 49, 0, 0x140204, guid, 112, 0, 112, 24, 0, 0) + bytes(24)
    bodies = (negotiated + b"token..." + contexts, listed, challenge, created, read, validated)
    return [head + body for body in bodies]


FTP_SESSION = (
    b"220-Welcome\r\n220 ready\r\n331 password\r\n230 in\r\n211-Features\r\n SIZE\r\n MLST\r\n UTF8\r\n211 End\r\n"
    b"200 utf8\r\n200 binary\r\n213 1000\r\n213 1000\r\n227 Entering Passive Mode (127,0,0,1,200,10)\r\n150 go\r\n"
    b"226 done\r\n"
)
LISTINGS = (
    "type=file;size=1048576;modify=20260131100000; big.bin", "type=dir;modify=20260131100000; folder", "type=cdir; .",
    "-rw-r--r--    1 1000     1000      1048576 Jan 31 10:00 big.bin", "drwxr-xr-x 2 a b 4096 Jan  1 2020 folder",
    "lrwxrwxrwx 1 a b 7 Jan  1  2020 link -> target", "01-31-26  10:00AM       <DIR>          folder",
    "01-31-2026  10:00PM              1048576 big.bin", "total 12",
)  # fmt: skip
SMB_CONF = """[global]
   workgroup = HOME
   log level = 1 auth:3
   include = /etc/samba/%m.conf
   socket options = TCP_NODELAY \\
       SO_RCVBUF=65536
[data]
   path = /srv/data
   smb encrypt = required
"""
IPERF3 = {
    "start": {"test_start": {"blksize": 131072, "num_streams": 1}, "tcp_mss_default": 1448,
              "connected": [{"local_host": "a", "remote_host": "b"}]},
    "intervals": [{"sum": {"end": 0.1, "bytes": 5_000}}, {"sum": {"end": 0.2, "bytes": 5_000}}],
    "end": {"sum_sent": {"bytes": 10_000, "seconds": 0.2}, "sum_received": {"bytes": 10_000, "seconds": 0.2},
            "sender_tcp_congestion": "cubic"},
}  # fmt: skip
CURL = {"size_download": 10_000, "time_pretransfer": 0.01, "time_total": 0.05, "errormsg": None}
SMBCLIENT = (
    "getting file \\f of size 10000 as /dev/null (976.6 KiloBytes/sec) (average 976.6 KiloBytes/sec)\n",
    "negotiated dialect[SMB3_11] against server[nas]\nsigned SMB2 message (sign_algo_id=2)\n",
    "NT_STATUS_LOGON_FAILURE opening remote file \\f\n", "session setup failed: NT_STATUS_IO_TIMEOUT\n",
)  # fmt: skip
URLS = (
    "smb://DOM;bench@nas.example:4450/data/folder/big%20file.bin", "ftp://bench@[2001:db8::1]:2121/pub/big.bin",
    "ftps://nas/", "file:///srv/data/big.bin", "iperf3://192.0.2.1:5201", "\\\\nas\\data\\big.bin", "//nas/data", "nas",
)  # fmt: skip


def answers() -> Maker:
    dump = f"{SMB_CONF}\n[printers]\n\tprintable = Yes\n"
    return sections(
        {
            "conf": lambda _pick: "/etc/samba/smb.conf",
            "version": changed_text("Version 4.17.12-Debian"),
            "conf:/etc/samba/smb.conf": changed_text(SMB_CONF),
            "testparm": changed_text(dump),
            "testparm.rc": changed_text("0", "0", "0", "1"),
            "testparm.err": changed_text('Unknown parameter encountered: "x"\nLoaded services file OK.\n'),
            "scopes": changed_text("[local]\nread only=bool\n[global]\nworkgroup=string\n"),
            "registry": changed_text("", SMB_CONF),
            "log level": changed_text("Current debug levels:\nall:1\nauth:3\n"),
            "sessions": changed_text('{"sessions": {"1": {"hostname": "ipv4:192.0.2.1:50000"}}}'),
            "build": changed_text("HAVE_IO_URING WITH_PROFILE"),
        }
    )


def subjects() -> dict[str, Subject]:
    """All of them, by name."""
    documents = [series_document(full_series()), series_document(series((1e8, 1.1e8, 0.9e8)))]
    written = [(GOLDEN / name).read_text(encoding="utf-8") for name in ("run_form.csv", "run_form_b9.csv")]
    imports = (SharebenchError, DocumentError)
    return {
        "URL": Subject(inputs=changed_text(*URLS), feed=read_url),
        "sizes": Subject(inputs=changed_text("64K", "1M", "3G", "1.5GiB", "100MB"), feed=parse_size),
        "rates": Subject(inputs=changed_text("auto", "10M", "2.5G", "100Mbit/s"), feed=parse_rate),
        "credentials": Subject(
            inputs=changed_bytes(b"username = bob\npassword = x y\ndomain = HOME\n", b"# c\nnthash=" + b"a" * 32),
            feed=read_login,
        ),
        "documents": Subject(inputs=changed_json(*documents), feed=import_text, refusals=imports),
        "documents as text": Subject(
            inputs=changed_text(json.dumps(documents[1]), *written), feed=import_text, refusals=imports
        ),
        "smb.conf": Subject(
            inputs=changed_text(SMB_CONF), feed=lambda text: read_conf("/etc/smb.conf", {"/etc/smb.conf": text})
        ),
        "testparm": Subject(inputs=answers(), feed=read_server_answer),
        "iperf3": Subject(inputs=either(changed_json(IPERF3), changed_text(json.dumps(IPERF3))), feed=hear_iperf3),
        "curl": Subject(inputs=either(changed_json(CURL), changed_text(json.dumps(CURL))), feed=hear_curl),
        "smbclient": Subject(inputs=changed_text(*SMBCLIENT), feed=hear_smbclient),
        "FTP replies": Subject(inputs=changed_bytes(FTP_SESSION), feed=converse_ftp),
        "FTP listings": Subject(inputs=changed_text(*LISTINGS), feed=list_ftp),
        "SMB2 responses": Subject(inputs=changed_bytes(*smb_samples()), feed=hear_smb),
    }
