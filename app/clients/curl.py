"""``--client curl``: one curl process for each transfer by FTP, timed by what it reports.

It gets its options, the password among them, as a configuration on stdin, and reports as JSON on stdout.
"""

import os
import re
from urllib.parse import quote

from app.base import errors
from app.base.programs import find_program
from app.clients import base
from app.clients.external import ExternalClient
from app.clients.ftp.client import FTPClient
from app.clients.ftp.refusals import IMPLICIT_PORT
from app.clients.program_json import finite_number, parsed_object
from app.clients.programs import first_version
from app.clients.stall_watch import LEAST_BYTES_PER_SECOND
from app.clients.tcp import one_line, refusals
from app.server.running_program import ProgramOutcome
from storage.plan import Settings
from storage.records import ClientFacts, Target

_EXITS = refusals("curl")
"""By curl's exit code: the error to raise, and its text."""


class CurlClient(ExternalClient):
    """A transfer is timed from ``time_pretransfer`` (ready to send RETR or STOR) to ``time_total``.

    ``target`` and ``_place_of`` (the URL of a path, for messages) are our own client's, as `ExternalClient` says.
    """

    def __init__(self, target: Target, secrets: base.Secrets, settings: Settings) -> None:
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

    def get(self, path: str, meter: base.Meter, into: base.Sink | None = None) -> base.Transfer:
        size_bytes = self._size_to_get(path, self._place_of(path))
        options = ['output = "/dev/null"']
        return self._run(path, options, meter, direction="download", size_bytes=size_bytes, counter="wchar", files=[])

    def put(self, path: str, content: base.Content, meter: base.Meter) -> base.Transfer:
        self._must_be_new(path, self._place_of(path))
        source = self._source.holding(content)
        transfer = self._run(
            path,
            [f'upload-file = "/proc/self/fd/{source}"'],
            meter,
            direction="upload",
            size_bytes=content.size_bytes,
            counter="rchar",
            files=[source],
        )
        self._own.check_stored(path, content.size_bytes)
        return transfer

    def _run(
        self,
        path: str,
        options: list[str],
        meter: base.Meter,
        *,
        direction: str,
        size_bytes: int,
        counter: str,
        files: list[int],
    ) -> base.Transfer:
        """``direction`` is curl's word for it in its report; ``counter`` is the kernel's of what curl has moved.

        A download is counted by what curl writes to /dev/null, an upload by what it reads from the file (``files``).
        """
        where = self._place_of(path)
        self._own.close()  # an idle connection may not outlive the run, and some servers allow one a client

        configuration = "\n".join([*self._configuration(path), *options, ""])
        outcome = self._program.run(
            [find_program("curl", "curl"), "--disable", "--config", "-"],
            where,
            meter,
            counter=counter,
            timeout_seconds=self._settings.timeout_seconds,
            stdin=configuration.encode("utf-8", "surrogateescape"),
            files=files,
        )
        if outcome.code:
            raise self._failure(outcome, where)

        report = parsed_object(outcome.out) or {}
        moved_bytes = finite_number(report.get(f"size_{direction}"))
        ready_seconds = finite_number(report.get("time_pretransfer"))
        total_seconds = finite_number(report.get("time_total"))
        if moved_bytes is None or ready_seconds is None or total_seconds is None:
            raise errors.ProtocolError(
                f"{where}: curl's report lacks what it moved, and in which time; measure with another"
            )
        if moved_bytes != size_bytes:
            raise errors.CorruptedError(
                f"{where}: curl moved {moved_bytes:.0f} of {size_bytes} bytes; measure a file at rest"
            )
        return base.Transfer(size_bytes=size_bytes, seconds=total_seconds - ready_seconds, open_seconds=ready_seconds)

    def _configuration(self, path: str) -> list[str]:
        """Lines of a file for ``--config``: arguments would show the password to every user."""
        timeout_seconds = self._settings.timeout_seconds
        lines = [
            "silent",
            "show-error",
            "globoff",
            f'url = "{self._url(path)}"',
            'noproxy = "*"',
            'ftp-method = "nocwd"',
            'write-out = "%{json}"',
            f"connect-timeout = {timeout_seconds:g}",
            f"speed-time = {max(1, round(timeout_seconds))}",
            f"speed-limit = {LEAST_BYTES_PER_SECOND}",
        ]

        if self.target.abilities.has_tls:
            lines.append("ssl-reqd")
            trusted = os.environ.get("SSL_CERT_FILE")
            if trusted:  # or CURL_CA_BUNDLE would go before it
                lines.append(f'cacert = "{_quoted(trusted)}"')
        if self.target.user:
            lines.append(self._login(self.target.user))
        return lines

    def _url(self, path: str) -> str:
        target = self.target
        is_implicit = target.abilities.has_tls and target.port == IMPLICIT_PORT
        scheme = "ftps" if is_implicit else "ftp"
        host = f"[{target.host}]" if ":" in target.host else target.host
        name = quote(path, safe="", errors="surrogateescape")
        return f"{scheme}://{host}:{target.port_number}/{name}"

    def _login(self, user: str) -> str:
        password = self._secrets.password or ""
        if ":" in user or re.search(r"[\r\n]", user + password):
            raise errors.UsageError("curl takes no colon in a user name, and no line ends; measure with another client")
        return f'user = "{_quoted(user)}:{_quoted(password)}"'

    def _failure(self, outcome: ProgramOutcome, where: str) -> errors.MeasurementError:
        if outcome.code < 0:
            return errors.ConnectionLostError(f"{where}: curl was ended before it was done; measure again")
        unknown = errors.ProtocolError, "try it by hand, or measure with another client"
        kind, advice = _EXITS.get(str(outcome.code), unknown)
        message = one_line(outcome.error) or f"exit {outcome.code}"
        return kind(f"{where}: {message}; {advice}")


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
