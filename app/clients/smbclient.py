"""``--client smbclient``: Samba's C program, timed by what it reports."""

import re

from app.base.errors import (
    ConnectionLostError,
    CorruptedError,
    MeasurementError,
    NoSuchFileError,
    ProtocolError,
    UsageError,
)
from app.base.programs import find_program
from app.clients.base import Content, Meter, Secrets, Sink, Transfer
from app.clients.programs import ExternalClient, first_version, memory_file
from app.clients.smb.client import SMBClient
from app.clients.smb.wire import STATUSES, place, status_error
from app.clients.tcp import one_line
from app.server.shell import Said
from storage.plan import Settings
from storage.records import ClientFacts, Target

_GOT = re.compile(r"getting file .* of size (\d{1,18}) as .* \((\d{1,18}(?:\.\d{1,18})?|inf) KiloBytes/sec\)")
_PUT = re.compile(r"putting file .* as .* \((\d{1,18}(?:\.\d{1,18})?|inf) kb/s\)")
_STATUS = re.compile(r"NT_STATUS_\w+")
_DIALECT = re.compile(r"negotiated dialect\[(\w+)\]")
_SIGNED = re.compile(r"signed SMB2 message(?: \(sign_algo_id=(\d)\))?")
_DIALECTS = {
    "SMB2_02": "2.0.2",
    "SMB2_10": "2.1",
    "SMB3_00": "3.0",
    "SMB3_02": "3.0.2",
    "SMB3_10": "3.1",
    "SMB3_11": "3.1.1",
}
_SIGNINGS = {"0": "hmac-sha256", "1": "aes-cmac", "2": "aes-gmac"}
_PROBES = 5
"""With signing every request of the probe is signed, without it only the login and the first tree connect."""
_RATE_UNIT_BYTES = 1024
_SHORTEST_SECONDS = 0.002
"""smbclient's clock counts milliseconds; below this its rate is meaningless."""
_CODES = {f"NT_{name}": status for name, status in STATUSES.items()}
_LOST = {
    "NT_STATUS_CONNECTION_DISCONNECTED",
    "NT_STATUS_CONNECTION_RESET",
    "NT_STATUS_IO_TIMEOUT",
    "NT_STATUS_END_OF_FILE",
}


class SmbclientClient(ExternalClient):
    """One smbclient process a run, without this machine's smb.conf; timed in milliseconds from open to close."""

    def __init__(self, target: Target, secrets: Secrets, settings: Settings) -> None:
        super().__init__(SMBClient(target, secrets, settings), secrets, settings)
        self._facts: ClientFacts | None = None

    def connect(self) -> None:
        find_program("smbclient", "smbclient")
        self._own.connect()
        if self._facts is None:
            self._facts = self._probe()

    def facts(self) -> ClientFacts:
        self.connect()
        assert self._facts is not None
        return self._facts

    def get(self, path: str, meter: Meter, into: Sink | None = None) -> Transfer:  # noqa: ARG002  bytes go to /dev/null
        where = place(self.target, path)
        size_bytes = self._size_to_get(path, where)
        outcome = self._run([f'get "{_remote(path)}" /dev/null'], where, meter, counter="wchar")
        match = _GOT.search(outcome.out + outcome.error)
        if match is None:
            raise self._failed(outcome, where)
        if int(match[1]) != size_bytes:
            raise CorruptedError(f"{where}: smbclient got {match[1]} of {size_bytes} bytes; measure a file at rest")
        return transfer_of(size_bytes, match[2], where)

    def put(self, path: str, content: Content, meter: Meter) -> Transfer:
        where = place(self.target, path)
        self._must_be_new(path, where)
        source = self._source.holding(content)
        command = f'put /proc/self/fd/{source} "{_remote(path)}"'
        outcome = self._run([command], where, meter, counter="rchar", files=[source])
        match = _PUT.search(outcome.out + outcome.error)
        if match is None or self._own.size(path) != content.size_bytes:
            raise self._failed(outcome, where)
        return transfer_of(content.size_bytes, match[1], where)

    def _run(
        self,
        commands: list[str],
        where: str,
        meter: Meter | None = None,
        *,
        counter: str = "rchar",
        files: list[int] | None = None,
        debug: int = 1,
    ) -> Said:
        target, secrets = self.target, self._secrets
        with memory_file(self._configuration()) as conf, memory_file(_login(target, secrets)) as login:
            command = [
                find_program("smbclient", "smbclient"),
                f"//{target.host}/{target.share}",
                *("--configfile", f"/proc/self/fd/{conf}", "--port", str(target.port_number)),
                *("--debuglevel", str(debug)),
                *([] if secrets.kerberos else ["--authentication-file", f"/proc/self/fd/{login}"]),
                *(["--use-kerberos", "required"] if secrets.kerberos else []),
                *(["--pw-nt-hash"] if secrets.nt_hash else []),
                *([] if target.user or secrets.kerberos else ["--no-pass"]),
            ]
            return self._program.run(
                command,
                where,
                meter,
                counter=counter,
                timeout_seconds=self._settings.timeout_seconds,
                stdin="".join(f"{line}\n" for line in commands).encode(),
                files=[conf, login, *(files or [])],
            )

    def _configuration(self) -> str:
        lines = ["[global]", "client min protocol = SMB2_02"]
        lines += ["client signing = required"] if self._settings.sign else []
        lines += ["client smb encrypt = required"] if self._settings.encrypt else []
        return "\n".join(lines) + "\n"

    def _probe(self) -> ClientFacts:
        outcome = self._run(["volume"] * _PROBES, place(self.target, ""), debug=5)
        said = outcome.out + outcome.error
        dialect = _DIALECT.search(said)
        if outcome.code or dialect is None:
            raise self._failed(outcome, place(self.target, ""))
        signed = _SIGNED.findall(said)
        encrypted = "Encrypted SMB2 message" in said
        signs = not encrypted and len(signed) >= _PROBES
        return ClientFacts(
            name="smbclient",
            version=first_version(find_program("smbclient", "smbclient")),
            dialect=_DIALECTS.get(dialect[1], dialect[1]),
            signing=_SIGNINGS.get(signed[-1], "signed") if signs else "none",
            encryption="encrypted" if encrypted else "none",
        )

    def _failed(self, outcome: Said, where: str) -> MeasurementError:
        said = outcome.out + outcome.error
        found = _STATUS.findall(said)
        for status in found:
            if status in _CODES and status not in _LOST:
                return status_error(_CODES[status], f"{where} (by smbclient)")
        if outcome.code < 0 or _LOST.intersection(found):
            return ConnectionLostError(
                f"{where}: smbclient lost the connection or was ended; check that the server still runs, and measure "
                "again"
            )
        line = one_line(next(iter(reversed(said.strip().splitlines())), "") or f"exit {outcome.code}")
        return ProtocolError(f"{where}: smbclient said: {line}; try it by hand, or measure with another client")


def _remote(path: str) -> str:
    if re.search(r'["\r\n]', path):
        raise NoSuchFileError(f"{path!r}: smbclient cannot be given such a name; measure with another client")
    return path.replace("/", "\\")


def _login(target: Target, secrets: Secrets) -> str:
    password = secrets.nt_hash or secrets.password or ""
    for text in (target.user, target.domain, password):
        if text and re.search(r"[\r\n]", text):
            raise UsageError("smbclient takes no line ends in a user name or a password")
    lines = [f"username = {target.user or ''}", f"password = {password}"]
    lines += [f"domain = {target.domain}"] if target.domain else []
    return "\n".join(lines) + "\n"


def transfer_of(size_bytes: int, rate: str, where: str) -> Transfer:
    seconds = 0.0 if rate == "inf" else size_bytes / (float(rate) * _RATE_UNIT_BYTES) if float(rate) else 0.0
    if seconds < _SHORTEST_SECONDS:
        raise MeasurementError(
            f"{where}: too short for smbclient, whose clock counts milliseconds; measure a larger file"
        )
    return Transfer(size_bytes=size_bytes, seconds=seconds)
