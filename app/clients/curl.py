"""``--client curl`` for FTP: curl, timed by what its ``--write-out`` reports."""

import os
import re
from urllib.parse import quote

from app import errors
from app.clients.base import Content, Meter, Secrets, Sink, Transfer
from app.clients.ftp.client import FTPClient
from app.clients.ftp.control import IMPLICIT_PORT
from app.clients.programs import ExternalClient, find_program, finite, first_version, parsed_object
from app.clients.tcp import LEAST_BYTES_PER_SECOND, SPACE_ADVICE, one_line
from app.server.shell import Said
from storage.plan import Settings
from storage.records import ClientFacts, Target

_EXITS: dict[int, tuple[type[errors.MeasurementError], str]] = {
    6: (errors.UnreachableError, "check the name, or give its address"),
    7: (errors.UnreachableError, "is an FTP server running there, and on which port?"),
    9: (errors.AccessDeniedError, "check the rights of the file and its folder"),
    18: (errors.ConnectionLostError, "look at the server's log, and measure again"),
    25: (errors.AccessDeniedError, "check the rights of the folder"),
    28: (errors.StalledError, "look at the server and the network, or allow it more time"),
    35: (errors.ProtocolError, "check the server's TLS settings"),
    52: (errors.ConnectionLostError, "check that the server still runs, and measure again"),
    55: (errors.ConnectionLostError, "check that the server still runs, and measure again"),
    56: (errors.ConnectionLostError, "check that the server still runs, and measure again"),
    60: (errors.UnreachableError, "name the certificate to trust in SSL_CERT_FILE"),
    67: (errors.LoginError, "check the user and the password"),
    70: (errors.NoSpaceError, SPACE_ADVICE),
    78: (errors.NoSuchFileError, "check the name, case counts"),
}
"""curl's exit codes (its manual page, EXIT CODES): error, meaning, what to try."""


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
        return ClientFacts(
            name="curl",
            version=first_version(find_program("curl", "curl")),
            encryption=self._own.facts().encryption,
            in_flight=1,
        )

    def get(self, path: str, meter: Meter, into: Sink | None = None) -> Transfer:  # noqa: ARG002  bytes go to /dev/null
        where = self._where(path)
        size_bytes = self._size_to_get(path, where)
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
        outcome = self._program.run(
            [find_program("curl", "curl"), "--disable", "--config", "-"],
            where,
            meter,
            counter=counter,
            timeout_seconds=self._settings.timeout_seconds,
            stdin="\n".join([*self._configuration(path), *how, ""]).encode("utf-8", "surrogateescape"),
            files=files,
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
        lines = [
            "silent",
            "show-error",
            "globoff",
            f'url = "{url}"',
            'noproxy = "*"',
            'ftp-method = "nocwd"',
            'write-out = "%{json}"',
            f"connect-timeout = {settings.timeout_seconds:g}",
            f"speed-time = {max(1, round(settings.timeout_seconds))}",
            f"speed-limit = {LEAST_BYTES_PER_SECOND}",
        ]
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
        kind, advice = _EXITS.get(
            outcome.code, (errors.ProtocolError, "try it by hand, or measure with another client")
        )
        return kind(f"{where}: {said}; {advice}")


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
