"""What somebody asked a survey to measure; made by the command ``survey`` and by the survey's form."""

from dataclasses import dataclass, field

from app.base.errors import UsageError
from app.recording.spec import SeriesSpec
from storage.protocols import protocol_of
from storage.records import Command

ANONYMOUS = "anonymous"
"""In place of an FTP user: log in without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyChoices:
    """What is to be surveyed, before anybody has looked whether it is there."""

    hosts: tuple[str, ...]
    """Names or addresses of the server, as typed."""

    # By which protocols
    smb: str | None = None
    """``SHARE`` or ``SHARE/FOLDER``; None to skip SMB."""
    ftp: str | None = None
    """The folder; None to skip FTP."""
    iperf3: bool = True
    """Whether bare TCP is measured, with an iperf3 server."""
    ports: dict[str, int] = field(default_factory=dict)
    """By protocol, where it is not the usual one."""

    # As which user
    user: str | None = None
    """None for guest and anonymous."""
    domain: str | None = None
    ftp_user: str | None = None
    """Where FTP has another user; ``anonymous`` for none."""

    # What is done there
    commands: tuple[Command, ...] = (Command.GET, Command.PUT)
    file: str | None = None
    """The file in these folders that a get reads; None to have one made."""
    spec: SeriesSpec = field(default_factory=SeriesSpec)
    """For each series; without a size in it, the speed of the link decides the size."""


_PORTS_END = 65536


def parse_ports(text: str) -> dict[str, int]:
    """The port of each protocol named, of a text such as ``smb 4450, ftp 2121``. Raises UsageError."""
    ports: dict[str, int] = {}
    for part in text.replace(",", ";").split(";"):
        port_words = part.strip()
        if not port_words:
            continue

        protocol, _, number = port_words.partition(" ")
        is_number = number.strip().isdecimal()
        if not protocol_of(protocol).in_survey or not is_number or not 0 < int(number) < _PORTS_END:
            raise UsageError(f"not a port: {port_words!r}; write smb 4450, ftp 2121, iperf3 5301")
        ports[protocol] = int(number)
    return ports
