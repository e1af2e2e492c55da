"""Debian's vsftpd with a configuration and a password of its own."""

from __future__ import annotations

import datetime as dt
import ipaddress
import pwd
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from app.clients.base import Secrets
from storage.records import Target
from tests.servers.netns import Link
from tests.servers.process import ServerProcess, program, require, unavailable

UNIX_USER = "daemon"
"""Owns the files; a user of every Linux system, whose number ``bench`` has."""
PASSWORD_HASH = "$6$sharebench$LAF1ENeEM4H0pYFxsmOElwXYI3.kqW4gvn4kgGTTsTgAa8g/MtgOw34m809KghomluJkvuJWhsuXRGWmpY3M1."
_ANONYMOUS = "sharebench-anonymous"
"""Whom anonymous users act as; vsftpd wants a home that exists and a root folder that this user cannot write."""


class Vsftpd(ServerProcess):
    """A running vsftpd: all see one folder as ``/``; the user ``bench`` writes anywhere, others in ``/upload``.

    The user and the password exist in this server's own mount namespace alone. With ``tls``
    (``explicit`` or ``implicit``) logins and data must be encrypted, by a self-made certificate, and data
    connections must continue the control connection's TLS session.
    """

    name = "vsftpd"
    user = "bench"
    password = "Correct-Horse 9"

    def __init__(
        self, options: Mapping[str, str] | None = None, tls: str | None = None, link: Link | None = None
    ) -> None:
        require("vsftpd", "unshare", "mount")
        if subprocess.run([program("unshare"), "--mount", "true"], check=False, capture_output=True).returncode:
            unavailable("vsftpd needs a mount namespace for its private user, which is not permitted here")
        super().__init__(link)
        self.options = dict(options or {})
        self.tls = tls
        self.conf = self.root / "vsftpd.conf"
        self.folder = self.root / "files"
        self.folder.mkdir()
        shutil.chown(self.folder, UNIX_USER)
        self.upload_folder = self.folder / "upload"
        self.upload_folder.mkdir()
        self.upload_folder.chmod(0o777)
        (self.root / "empty").mkdir()
        self._write_accounts()

    def _write_accounts(self) -> None:
        """Private account files: two users before those of the system, by the numbers of users it has."""
        owner, anyone = pwd.getpwnam(UNIX_USER), pwd.getpwnam("nobody")
        (self.root / "passwd").write_text(
            f"{self.user}:x:{owner.pw_uid}:{owner.pw_gid}::{self.folder}:/bin/sh\n"
            f"{_ANONYMOUS}:x:{anyone.pw_uid}:{anyone.pw_gid}::{self.folder}:/bin/sh\n" + Path("/etc/passwd").read_text()
        )
        shadow = self.root / "shadow"
        shadow.touch(mode=0o600)
        shadow.write_text(f"{self.user}:{PASSWORD_HASH}:20000:0:99999:7:::\n")
        (self.root / "pam").write_text("auth required pam_unix.so nodelay\naccount required pam_unix.so\n")

    def command(self) -> list[str]:
        script = (
            'mount --bind "$1/pam" /etc/pam.d/vsftpd && mount --bind "$1/passwd" /etc/passwd'
            ' && mount --bind "$1/shadow" /etc/shadow && exec "$2" "$3"'
        )
        return [
            program("unshare"), "--mount", "--propagation", "private",
            "sh", "-c", script, "sh", str(self.root), program("vsftpd"), str(self.conf),
        ]  # fmt: skip

    def configure(self) -> None:
        options = {
            "listen": "YES",
            "listen_address": self.host,
            "listen_port": str(self.port),
            "background": "NO",
            "anonymous_enable": "YES",
            "no_anon_password": "YES",
            "anon_root": str(self.folder),
            "anon_upload_enable": "YES",
            "anon_mkdir_write_enable": "YES",
            "anon_other_write_enable": "YES",
            "anon_umask": "022",
            "ftp_username": _ANONYMOUS,
            "local_enable": "YES",
            "local_root": str(self.folder),
            "local_umask": "022",
            "chroot_local_user": "YES",
            "allow_writeable_chroot": "YES",
            "write_enable": "YES",
            "secure_chroot_dir": str(self.root / "empty"),
            "pam_service_name": "vsftpd",
            "session_support": "NO",
            "use_localtime": "NO",
            "xferlog_enable": "NO",
            "delay_failed_login": "0",
            "delay_successful_login": "0",
        }
        if self.tls:
            options |= self._tls_options()
        options |= self.options
        self.conf.write_text("".join(f"{name}={value}\n" for name, value in options.items()))

    def _tls_options(self) -> dict[str, str]:
        certificate = self.root / "certificate.pem"
        if not certificate.exists():
            write_certificate(certificate, self.host)
        return {
            "ssl_enable": "YES",
            "allow_anon_ssl": "YES",
            "force_anon_logins_ssl": "YES",
            "force_anon_data_ssl": "YES",
            "force_local_logins_ssl": "YES",
            "force_local_data_ssl": "YES",
            "require_ssl_reuse": "YES",
            "ssl_ciphers": "HIGH",
            "rsa_cert_file": str(certificate),
            "rsa_private_key_file": str(certificate),
            "implicit_ssl": "YES" if self.tls == "implicit" else "NO",
        }

    def make_file(self, name: str, content: bytes) -> Path:
        """A file that everyone may read and the server's users may write."""
        path = self.folder / name
        path.write_bytes(content)
        shutil.chown(path, UNIX_USER)
        return path

    def target(self, path: str = "/", *, anonymous: bool = False) -> Target:
        """A target on this server; paths begin with a slash."""
        return Target(
            protocol="ftps" if self.tls else "ftp",
            host=self.host,
            port=self.port,
            path=path,
            user=None if anonymous else self.user,
        )

    def secrets(self) -> Secrets:
        """The user's password."""
        return Secrets(password=self.password)


def write_certificate(path: Path, *hosts: str) -> None:
    """A key and a self-signed certificate for the addresses, in one PEM file."""
    addresses = [x509.IPAddress(ipaddress.ip_address(host)) for host in hosts]
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0])])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(secret + certificate.public_bytes(serialization.Encoding.PEM))
    path.chmod(0o600)
