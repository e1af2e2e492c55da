"""FTP servers that are not vsftpd, from Debian's packages: ProFTPD, Pure-FTPd and pyftpdlib."""

from __future__ import annotations

import pwd
import shutil
import subprocess
from pathlib import Path

from storage.records import Target
from tests.servers.debian_servers import ServerRoot
from tests.servers.process import ServerProcess
from tests.servers.vsftpd import PASSWORD_HASH, UNIX_USER, Vsftpd, write_certificate


class OtherFtpServer(ServerProcess):
    """A running FTP server of a root: the user ``bench`` sees one folder as ``/`` and writes there.

    With ``tls`` logins and data are encrypted (explicit FTPS), by a self-made certificate.
    """

    name = "ftp"
    user = "bench"
    password = Vsftpd.password

    def __init__(self, root: ServerRoot, *, tls: bool = False) -> None:
        super().__init__()
        self.server_root = root
        self.tls = tls
        self.folder = self.root / "files"
        self.folder.mkdir()
        shutil.chown(self.folder, UNIX_USER, pwd.getpwnam(UNIX_USER).pw_gid)
        self.certificate = self.root / "certificate.pem"
        if tls:
            write_certificate(self.certificate, self.host)

    def make_file(self, name: str, content: bytes) -> Path:
        """A file that the user may read and write."""
        path = self.folder / name
        path.write_bytes(content)
        shutil.chown(path, UNIX_USER)
        return path

    def target(self, path: str = "/") -> Target:
        """A target on this server; paths begin with a slash."""
        return Target(protocol="ftps" if self.tls else "ftp", host=self.host, port=self.port, path=path, user=self.user)


class Proftpd(OtherFtpServer):
    """ProFTPD."""

    name = "proftpd"

    def configure(self) -> None:
        owner = pwd.getpwnam(UNIX_USER)
        accounts = self.root / "accounts"
        accounts.write_text(f"{self.user}:{PASSWORD_HASH}:{owner.pw_uid}:{owner.pw_gid}::{self.folder}:/bin/sh\n")
        accounts.chmod(0o600)
        lines = [
            "ModulePath /usr/lib/proftpd",
            *(["LoadModule mod_tls.c"] if self.tls else []),
            "ServerType standalone",
            f"DefaultAddress {self.host}",
            f"Port {self.port}",
            "UseIPv6 off",
            "UseReverseDNS off",
            f"User {UNIX_USER}",
            f"Group {UNIX_USER}",
            f"PidFile {self.root}/pid",
            f"ScoreboardFile {self.root}/scoreboard",
            f"SystemLog {self.root}/log",
            "TransferLog none",
            "WtmpLog off",
            "AuthOrder mod_auth_file.c",
            f"AuthUserFile {accounts}",
            "RequireValidShell off",
            "DefaultRoot ~",
            "AllowOverwrite on",
        ]
        if self.tls:
            lines += [
                "TLSEngine on",
                "TLSRequired on",
                f"TLSRSACertificateFile {self.certificate}",
                f"TLSRSACertificateKeyFile {self.certificate}",
            ]
        (self.root / "proftpd.conf").write_text("\n".join(lines) + "\n")

    def command(self) -> list[str]:
        return self.server_root.command("/usr/sbin/proftpd", "--nodaemon", "--config", f"{self.root}/proftpd.conf")


class PureFtpd(OtherFtpServer):
    """Pure-FTPd."""

    name = "pure-ftpd"

    def configure(self) -> None:
        owner = pwd.getpwnam(UNIX_USER)
        accounts = self.root / "accounts"
        database = self.root / "accounts.pdb"
        # The hash that pure-pw makes takes half a second of a processor at each login: users of a load time out.
        fields = [self.user, PASSWORD_HASH, str(owner.pw_uid), str(owner.pw_gid), "", f"{self.folder}/./"]
        accounts.write_text(":".join(fields) + ":" * 12 + "\n")
        subprocess.run(
            self.server_root.command("/usr/bin/pure-pw", "mkdb", str(database), "-f", str(accounts)),
            check=True,
            capture_output=True,
        )

    def command(self) -> list[str]:
        words = ["--bind", f"{self.host},{self.port}", "--login", f"puredb:{self.root}/accounts.pdb"]
        words += ["--chrooteveryone", "--dontresolve", "--minuid", "1", "--maxclientsperip", "100"]
        if self.tls:
            words += ["--tls", "2", "--certfile", str(self.certificate)]
        return self.server_root.command("/usr/sbin/pure-ftpd", *words)


class Pyftpdlib(OtherFtpServer):
    """A server made of pyftpdlib, as its documentation shows it."""

    name = "pyftpdlib"

    def configure(self) -> None:
        handler = "TLS_FTPHandler" if self.tls else "FTPHandler"
        lines = [
            "from pyftpdlib.authorizers import DummyAuthorizer",
            f"from pyftpdlib.handlers import {handler} as Handler",
            "from pyftpdlib.servers import FTPServer",
            "authorizer = DummyAuthorizer()",
            f"authorizer.add_user({self.user!r}, {self.password!r}, {str(self.folder)!r}, perm='elradfmwMT')",
            "Handler.authorizer = authorizer",
        ]
        if self.tls:
            lines += [
                f"Handler.certfile = {str(self.certificate)!r}",
                "Handler.tls_control_required = Handler.tls_data_required = True",
            ]
        lines.append(f"FTPServer(({self.host!r}, {self.port}), Handler).serve_forever()")
        (self.root / "server.py").write_text("\n".join(lines) + "\n")

    def command(self) -> list[str]:
        return self.server_root.command("/usr/bin/python3", f"{self.root}/server.py")


OTHER_FTP_SERVERS: dict[str, type[OtherFtpServer]] = {"proftpd": Proftpd, "pure-ftpd": PureFtpd, "pyftpdlib": Pyftpdlib}
"""By the name of their pinned packages."""
