"""The protocols that can be measured, and what each of them can: the only place that knows them by name."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """One way to move bytes: one row of the table."""

    name: str
    """The scheme of its URLs."""
    label: str
    default_port: int | None = None
    """The port of a URL that names none; None for paths of this machine, which have no host."""
    has_share: bool = False
    """Whether files lie in shares, their paths are relative to one, and a login may name a domain."""
    has_login: bool = False
    guest: str = ""
    """Whom the server takes a login without a user for."""
    moves_files: bool = True
    """Whether a run moves a file; False where bytes are made up at one end and dropped at the other."""
    has_dialect: bool = False
    """Whether client and server agree on a dialect, on signing and on encryption, as SMB's do."""
    has_depth: bool = False
    """Whether several requests can be in flight on one connection."""
    has_tls: bool = False
    encrypted_as: str | None = None
    """The protocol that is the same with encryption."""
    through_samba: bool = False
    """Whether smb.conf may act on it; a path of this machine may be a mounted share."""
    is_yardstick: bool = False
    """Whether it is what SMB on the same host is held against (Using Samba, appendix B)."""
    is_held_to_yardstick: bool = False
    in_survey: bool = False
    other_client: str | None = None
    servers: tuple[str, ...] = ()
    """Beginnings of the names of its servers' processes."""
    server_command: str = ""

    @property
    def is_local(self) -> bool:
        """Whether its targets are paths of this machine; such a series is nobody's twin on the loopback."""
        return self.default_port is None


_FTP_SERVERS = ("vsftpd", "proftpd", "pure-ftpd")

PROTOCOLS: dict[str, Protocol] = {
    row.name: row
    for row in (
        Protocol(
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
        ),
        Protocol(
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
        ),
        Protocol(
            name="ftps",
            label="FTPS",
            default_port=21,
            has_login=True,
            guest="anonymous",
            has_tls=True,
            is_yardstick=True,
            other_client="curl",
            servers=_FTP_SERVERS,
        ),
        Protocol(name="file", label="local path", through_samba=True),
        Protocol(
            name="iperf3",
            label="bare TCP",
            default_port=5201,
            moves_files=False,
            in_survey=True,
            servers=("iperf3",),
            server_command="iperf3 -s",
        ),
    )
}
"""By name, in the order in which they are listed. FTPS begins on FTP's port (RFC 4217); 990 has to be given."""


def protocol_of(name: str) -> Protocol:
    """The protocol of that name; for one that only a document knows, a row that claims nothing but a network."""
    return PROTOCOLS.get(name) or Protocol(name=name, label=name, default_port=0)
