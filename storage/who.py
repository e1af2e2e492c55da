"""The record of a look at who uses a server: each session of its smbd, and what the whole machine did meanwhile.

A *session* here is what one process of smbd does for one client: Samba starts a process for each connection. Several
users of one machine, as on a terminal server, may share one. It is stored whole in the ``content`` of its recording.
"""

from dataclasses import dataclass

from storage import records
from storage.json_reader import AboveZero, Count, Moment, NotNegative
from storage.recordings import Recording, to_recording

WHO = "who"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSession:
    """A session, and what it did during the look."""

    process: Count
    """The number of its process on the server."""
    users: tuple[str, ...]
    """As smbstatus names them, in most cases one; a name may have its domain in front of it."""
    client: str
    """The address of the client."""
    machine: str = ""
    """What smbstatus calls the client's machine; empty where that is the address."""
    connected_at: Moment
    dialect: str = ""
    """Of SMB, in smbstatus' word, such as ``SMB3_11``."""

    cpu_percent: NotNegative
    """Of one processor."""
    sent_bytes: int | None = None
    """To the client, on its connections: what it read, and all answers. None where it is unknown; so is the next."""
    received_bytes: int | None = None
    disk_bytes: int = 0
    """That its process read from disks, and wrote to files on them."""
    requests: int | None = None
    """SMB requests; None unless smbd counts them for each session."""
    open_files: int = 0
    """Open files and folders at the end of the look; so is the next."""
    locks: int = 0
    """Locked ranges of bytes."""

    @property
    def moved_bytes(self) -> int:
        return (self.sent_bytes or 0) + (self.received_bytes or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineUse:
    """How busy a server's machine was; None is what is unknown."""

    processors: Count
    cpu_percent: NotNegative
    """Of all processors together."""
    card: str = ""
    """The network card that was used most, by its share of the link; empty where there is none."""
    card_bits_per_second: NotNegative | None = None
    """In its busier direction."""
    link_bits_per_second: Count | None = None
    """The card's speed."""
    disk: str = ""
    """The disk that was busy longest; empty where there is none."""
    disk_percent: NotNegative | None = None
    """In what share of the time it was busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Who(records.Head):
    """A look at a server's sessions."""

    # What was asked for.
    target: records.Target
    server_ssh: str | None = None
    """The way to the server (ssh); None on the server itself."""
    smb_conf: str | None = None
    """Its path on the server; None for the one that the smbd on the port was started with."""

    # What was seen.
    seconds: AboveZero
    """How long the look took, by the server's clock."""
    machine: MachineUse
    sessions: tuple[ServerSession, ...] = ()
    """Those at the end of the look, the busiest first."""
    ended: int = 0
    """Number of smbd's processes that ended during the look."""
    requests: int | None = None
    """Of all sessions together; None unless smbd counts them."""
    look_cpu_seconds: NotNegative = 0.0
    """Processor time that the look itself took on the server, without that of ssh."""


def recording_of_who(who: Who) -> Recording:
    """The look as the notebook stores it."""
    subject = records.format_target(who.target, login=False)
    return to_recording(who, WHO, subject=subject, status=records.SeriesStatus.COMPLETE)
