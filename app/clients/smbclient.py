"""``--client smbclient``: Samba's own program, run once for each transfer and timed by the rate that it reports.

Its session is known from its debug messages: a probe of a few requests tells dialect, signing and encryption.
"""

import math
import re

from app.base import errors
from app.base.programs import find_program
from app.clients import base
from app.clients.external import ExternalClient
from app.clients.programs import first_version, memory_file
from app.clients.smb.client import SMBClient
from app.clients.smb.wire import STATUSES, place, status_error
from app.clients.tcp import one_line
from app.server.running_program import ProgramOutcome
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
# Statuses that the program makes up when the connection ends.
_LOST = {
    "NT_STATUS_CONNECTION_DISCONNECTED",
    "NT_STATUS_CONNECTION_RESET",
    "NT_STATUS_IO_TIMEOUT",
    "NT_STATUS_END_OF_FILE",
}


class SmbclientClient(ExternalClient):
    """One smbclient process a transfer, without this machine's smb.conf; it times from open to close."""

    def __init__(self, target: Target, secrets: base.Secrets, settings: Settings) -> None:
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

    def get(self, path: str, meter: base.Meter, into: base.Sink | None = None) -> base.Transfer:
        where = place(self.target, path)
        size_bytes = self._size_to_get(path, where)
        outcome = self._run([f'get "{_remote_path(path)}" /dev/null'], where, meter, counter="wchar")
        match = _GOT.search(outcome.out + outcome.error)
        if match is None:
            raise self._failure(outcome, where)
        if int(match[1]) != size_bytes:
            raise errors.CorruptedError(
                f"{where}: smbclient got {match[1]} of {size_bytes} bytes; measure a file at rest"
            )
        return transfer_of(size_bytes, match[2], where)

    def put(self, path: str, content: base.Content, meter: base.Meter) -> base.Transfer:
        where = place(self.target, path)
        self._must_be_new(path, where)
        source = self._source.holding(content)
        command = f'put /proc/self/fd/{source} "{_remote_path(path)}"'
        outcome = self._run([command], where, meter, counter="rchar", files=[source])
        match = _PUT.search(outcome.out + outcome.error)
        if match is None or self._own.size(path) != content.size_bytes:
            raise self._failure(outcome, where)
        return transfer_of(content.size_bytes, match[1], where)

    def _run(
        self,
        commands: list[str],
        where: str,
        meter: base.Meter | None = None,
        *,
        counter: str = "rchar",
        files: list[int] | None = None,
        debug: int = 1,
    ) -> ProgramOutcome:
        configuration = self._configuration()
        login = _login_file(self.target, self._secrets)

        with memory_file(configuration) as configuration_file, memory_file(login) as login_file:
            return self._program.run(
                self._command(configuration_file, login_file, debug),
                where,
                meter,
                counter=counter,
                timeout_seconds=self._settings.timeout_seconds,
                stdin="".join(f"{line}\n" for line in commands).encode(),
                files=[configuration_file, login_file, *(files or [])],
            )

    def _command(self, configuration_file: int, login_file: int, debug: int) -> list[str]:
        target = self.target
        secrets = self._secrets
        command = [
            find_program("smbclient", "smbclient"),
            f"//{target.host}/{target.share}",
            *("--configfile", f"/proc/self/fd/{configuration_file}"),
            *("--port", str(target.port_number)),
            *("--debuglevel", str(debug)),
        ]

        if secrets.kerberos:
            command += ["--use-kerberos", "required"]
        else:
            command += ["--authentication-file", f"/proc/self/fd/{login_file}"]
        if secrets.nt_hash:
            command.append("--pw-nt-hash")
        if not target.user and not secrets.kerberos:
            command.append("--no-pass")
        return command

    def _configuration(self) -> str:
        lines = ["[global]", "client min protocol = SMB2_02"]
        if self._settings.sign:
            lines.append("client signing = required")
        if self._settings.encrypt:
            lines.append("client smb encrypt = required")
        return "\n".join(lines) + "\n"

    def _probe(self) -> ClientFacts:
        """What its debug messages say of a session like those of the transfers."""
        where = place(self.target, "")
        outcome = self._run(["volume"] * _PROBES, where, debug=5)
        output = outcome.out + outcome.error
        dialect = _DIALECT.search(output)
        if outcome.code or dialect is None:
            raise self._failure(outcome, where)

        is_encrypted = "Encrypted SMB2 message" in output
        algorithms = _SIGNED.findall(output)
        signing = "none"
        if not is_encrypted and len(algorithms) >= _PROBES:
            signing = _SIGNINGS.get(algorithms[-1], "signed")
        return ClientFacts(
            name="smbclient",
            version=first_version(find_program("smbclient", "smbclient")),
            dialect=_DIALECTS.get(dialect[1], dialect[1]),
            signing=signing,
            encryption="encrypted" if is_encrypted else "none",
        )

    def _failure(self, outcome: ProgramOutcome, where: str) -> errors.MeasurementError:
        output = outcome.out + outcome.error
        statuses = _STATUS.findall(output)
        for status in statuses:
            if status in _CODES and status not in _LOST:
                return status_error(_CODES[status], f"{where} (by smbclient)")
        if outcome.code < 0 or _LOST.intersection(statuses):
            return errors.ConnectionLostError(
                f"{where}: smbclient lost the connection or was ended; check that the server still runs, and measure "
                "again"
            )

        lines = output.strip().splitlines()
        last_line = lines[-1] if lines else ""
        line = one_line(last_line or f"exit {outcome.code}")
        return errors.ProtocolError(f"{where}: smbclient said: {line}; try it by hand, or measure with another client")


def _remote_path(path: str) -> str:
    if re.search(r'["\r\n]', path):
        raise errors.NoSuchFileError(f"{path!r}: smbclient cannot be given such a name; measure with another client")
    return path.replace("/", "\\")


def _login_file(target: Target, secrets: base.Secrets) -> str:
    password = secrets.nt_hash or secrets.password or ""
    for text in (target.user, target.domain, password):
        if text and re.search(r"[\r\n]", text):
            raise errors.UsageError("smbclient takes no line ends in a user name or a password")

    lines = [f"username = {target.user or ''}", f"password = {password}"]
    if target.domain:
        lines.append(f"domain = {target.domain}")
    return "\n".join(lines) + "\n"


def transfer_of(size_bytes: int, rate: str, where: str) -> base.Transfer:
    """The transfer of a ``rate`` in kibibytes a second, as smbclient prints it. Raises MeasurementError."""
    kibibytes_per_second = float(rate)
    seconds = 0.0
    if 0 < kibibytes_per_second < math.inf:
        seconds = size_bytes / (kibibytes_per_second * _RATE_UNIT_BYTES)
    if seconds < _SHORTEST_SECONDS:
        raise errors.MeasurementError(
            f"{where}: too short for smbclient, whose clock counts milliseconds; measure a larger file"
        )
    return base.Transfer(size_bytes=size_bytes, seconds=seconds)
