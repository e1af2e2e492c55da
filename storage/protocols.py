"""The protocols that sharebench measures over, and what each of them can do.

Other modules ask a protocol what it can do (``target.abilities.has_depth``) and never compare its name. A target's URL
names its protocol, as in ``smb://server/share``.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """What one protocol can do, and what is told about it. The defaults are those of a protocol that can do nothing."""

    name: str
    """As a URL names it: ``smb``."""
    label: str
    """As people read it: ``SMB``."""
    default_port: int | None = None
    """The TCP port of its servers; None for a path of this machine."""

    # What a target of it consists of.
    has_share: bool = False
    """Whether the first name of a target's path is that of a share."""
    has_login: bool = False
    """Whether a user may be named, with a password."""
    guest: str = ""
    """The user that its servers take where none is named; empty without a login."""
    has_tls: bool = False
    """Whether the connection is encrypted by TLS."""
    encrypted_as: str | None = None
    """The name of the protocol that is this one with encryption; None where there is none."""

    # What a transfer can be asked for.
    moves_files: bool = True
    """False where bytes are generated at one end and dropped at the other."""
    has_dialect: bool = False
    """Whether client and server negotiate a version of it, signing and encryption."""
    has_depth: bool = False
    """Whether a client can have several requests in flight on one connection."""
    can_ask_at_random: bool = False
    """Whether our own client can read and write at random places of a file."""
    can_flush: bool = False
    """Whether a client can ask for a file to be written to the disk."""

    # How its results are compared, and with what.
    through_samba: bool = False
    """Whether the Samba settings of its server apply to it. True of a local path, too: it may be a share's folder."""
    is_yardstick: bool = False
    """Whether the rate over it shows what the same server can do at best (FTP), for other protocols to be held to."""
    is_held_to_yardstick: bool = False
    """Whether its rate is compared with that of a yardstick on the same server (SMB)."""
    in_survey: bool = False
    """Whether a survey of a server measures over it."""

    # Programs that speak it.
    other_client: str | None = None
    """The usual client beside our own, to measure with instead; None where there is none."""
    servers: tuple[str, ...] = ()
    """Names of the processes that serve it, whose use of processors and memory is watched."""
    server_command: str = ""
    """What to type to start a server of it, for advice; empty where no single command does."""

    @property
    def is_local(self) -> bool:
        """Whether its targets are paths of this machine, without a server."""
        return self.default_port is None


_FTP_SERVERS = ("vsftpd", "proftpd", "pure-ftpd")

_SMB = Protocol(
    name="smb",
    label="SMB",
    default_port=445,
    has_share=True,
    has_login=True,
    guest="guest",
    has_dialect=True,
    has_depth=True,
    through_samba=True,
    is_held_to_yardstick=True,
    in_survey=True,
    other_client="smbclient",
    servers=("smbd",),
    can_ask_at_random=True,
    can_flush=True,
)
_FTP = Protocol(
    name="ftp",
    label="FTP",
    default_port=21,
    has_login=True,
    guest="anonymous",
    encrypted_as="ftps",
    is_yardstick=True,
    in_survey=True,
    other_client="curl",
    servers=_FTP_SERVERS,
)
_FTPS = Protocol(
    name="ftps",
    label="FTPS",
    default_port=21,
    has_login=True,
    guest="anonymous",
    has_tls=True,
    is_yardstick=True,
    other_client="curl",
    servers=_FTP_SERVERS,
)
_LOCAL = Protocol(name="file", label="local path", through_samba=True, can_ask_at_random=True, can_flush=True)
_TCP = Protocol(
    name="iperf3",
    label="bare TCP",
    default_port=5201,
    moves_files=False,
    in_survey=True,
    servers=("iperf3",),
    server_command="iperf3 -s",
)

PROTOCOLS: dict[str, Protocol] = {protocol.name: protocol for protocol in (_SMB, _FTP, _FTPS, _LOCAL, _TCP)}
"""In listing order. FTPS begins on FTP's port (RFC 4217); 990 must be given."""


def protocol_of(name: str) -> Protocol:
    """The protocol of that name; for an unknown one, as of a newer version's document, one that can do nothing.

    Its port is 0 and not None, so that it is not taken for a path of this machine.
    """
    return PROTOCOLS.get(name) or Protocol(name=name, label=name, default_port=0)
