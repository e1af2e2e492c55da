"""Credentials for a login at an SMB server, as impacket and smbclient-ng take them."""

import os
import re
from pathlib import Path

from smbclientng.types.Credentials import Credentials

from app.base import errors
from app.clients.base import Secrets
from storage import records

GUEST = "guest"
"""Whom servers take for a guest: an account of theirs, or a name that they do not know (Samba: map to guest)."""

_NT_HASH = re.compile(r"[0-9A-Fa-f]{32}")


def login_credentials(target: records.Target, secrets: Secrets) -> Credentials:
    """Raises UsageError, and LoginError where a ticket is asked for and there is none."""
    if secrets.nt_hash and not _NT_HASH.fullmatch(secrets.nt_hash):
        raise errors.UsageError("an NT hash is 32 hexadecimal digits; give those, or the password")

    domain = target.domain or ""
    user = target.user or ""
    if secrets.kerberos and "@" in user:
        # A ticket names the user and the realm apart; a login by NTLM has both in the user's name.
        user, _, domain = user.rpartition("@")

    return Credentials(
        domain=domain,
        username=user,
        password=secrets.password or "",
        hashes=f":{secrets.nt_hash}" if secrets.nt_hash else None,
        use_kerberos=secrets.kerberos,
        ccacheFile=_ticket_cache(target.host) if secrets.kerberos else None,
    )


def names_nobody(credentials: Credentials) -> bool:
    """Whether they are for a guest or an anonymous session."""
    return not (credentials.username or credentials.nt_hex or credentials.use_kerberos)


def realm_advice(user: str, *, kerberos: bool = False) -> str:
    """What else a refused USER@REALM may want; empty for another user, and where a ticket was shown."""
    if kerberos or "@" not in user:
        return ""
    return (
        f"; {user} was logged in with a password (NTLM): where a domain lets in by Kerberos alone, run `kinit {user}`"
        " and add --kerberos, and an account of this server alone is written without the @ and what follows"
    )


def _ticket_cache(host: str) -> str:
    default = f"/tmp/krb5cc_{os.getuid()}"  # noqa: S108 - MIT's own default
    cache = os.environ.get("KRB5CCNAME", default).removeprefix("FILE:")
    if not Path(cache).is_file():
        raise errors.LoginError(f"smb://{host}: no Kerberos ticket in {cache}; get one with kinit, or set KRB5CCNAME")
    return cache
