"""The protocols and what each can do: the only place that knows them by name."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    name: str
    label: str
    default_port: int | None = None
    has_share: bool = False
    has_login: bool = False
    guest: str = ""
    moves_files: bool = True
    """False where bytes are generated at one end and dropped at the other."""
    has_dialect: bool = False
    has_depth: bool = False
    has_tls: bool = False
    encrypted_as: str | None = None
    through_samba: bool = False
    is_yardstick: bool = False
    is_held_to_yardstick: bool = False
    in_survey: bool = False
    can_flush: bool = False
    """Whether a client can ask for a file to be written to the disk."""
    other_client: str | None = None
    servers: tuple[str, ...] = ()
    server_command: str = ""

    @property
    def is_local(self) -> bool:
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
_LOCAL = Protocol(name="file", label="local path", through_samba=True, can_flush=True)
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
    """The protocol of that name; for an unknown one a row that only claims a network."""
    return PROTOCOLS.get(name) or Protocol(name=name, label=name, default_port=0)
