"""Finds the user and the secrets for a target: from a credentials file, the environment, or a question.

In that order; a Kerberos ticket, and a target without a user, need none of them.
"""

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from app.base import pasted_targets
from app.base.errors import LoginError, UsageError
from app.base.targets import CREDENTIALS_OPTION, HOW_TO_GIVE, holds_smbclient_password, split_domain
from app.clients.base import Secrets
from forms.layout import visible
from storage.programs import PASSWORD_VARIABLE
from storage.records import Target, host_and_port

# What a line of a credentials file may begin with, and the field that it sets.
_KEYS = {
    "username": "user",
    "user": "user",
    "password": "password",
    "pass": "password",
    "domain": "domain",
    "dom": "domain",
    "workgroup": "domain",
    "nthash": "nt_hash",
}


_QUOTES = tuple("\"'`\N{LEFT DOUBLE QUOTATION MARK}„«\N{LEFT SINGLE QUOTATION MARK}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What a credentials file says; None for what it does not."""

    user: str | None = None
    domain: str | None = None
    password: str | None = None
    nt_hash: str | None = None

    def __repr__(self) -> str:
        return f"Credentials(user={self.user!r}, …)"


def read_credentials(path: Path) -> Credentials:
    """A file as of ``smbclient -A`` or mount.cifs: lines with ``username``, ``password`` or ``nthash``, and ``domain``.

    Raises UsageError.
    """
    try:
        text = path.read_text(encoding="utf-8-sig", errors="surrogateescape")
    except OSError as error:
        raise UsageError(f"cannot read the credentials file {path}: {error.strerror}") from error

    # NUL is in no UTF-8 text, and every second byte of ASCII that Notepad saved as "Unicode".
    if "\0" in text:
        raise UsageError(
            f"the credentials file {path} is UTF-16 text: save it as UTF-8 (Notepad: Save as, Encoding: UTF-8;"
            " PowerShell: -Encoding utf8)"
        )

    values: dict[str, str] = {}
    # Only at "\n", as the programs do whose file it is: a password may have what else Unicode calls a line end.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.lstrip()[0] in "#;":
            continue
        key, separator, value = line.partition("=")
        name = _KEYS.get(key.strip().lower())
        if not separator or name is None:
            raise UsageError(
                f"line {number} of the credentials file {path} is none of username = …, password = …, domain = …"
            )
        if name == "password":
            values[name] = value[1:] if value[:1] in (" ", "\t") else value
        else:
            values[name] = value.strip().strip(pasted_targets.NOT_SEEN).strip()
            _check_quotes(path, number, values[name])
    return Credentials(
        user=values.get("user"),
        domain=values.get("domain"),
        password=values.get("password"),
        nt_hash=values.get("nt_hash"),
    )


def _check_quotes(path: Path, number: int, value: str) -> None:
    """Raises UsageError for a user or domain in quotes, which no name has, and no program takes away."""
    if value.startswith(_QUOTES):
        raise UsageError(
            f"line {number} of the credentials file {path} has quotes, which would belong to the login: take them out,"
            " there and around the password"
        )


def with_user_of(credentials: Credentials, target: Target) -> Target:
    """The target with the file's user, and its domain where the target names none.

    Raises UsageError for a password in the line of the user.
    """
    user = credentials.user or ""
    domain = ""
    if ":" in user or pasted_targets.has_password_beside(user):
        raise UsageError("the credentials file has a password beside the user: write password = … on a line of its own")
    if target.abilities.has_share:
        if holds_smbclient_password(user):
            raise UsageError("the credentials file has USER%PASSWORD as user: write password = … on a line of its own")
        domain, user = split_domain(user)
    return replace(target, user=user, domain=target.domain or credentials.domain or domain or None)


def can_be_read_by_others(path: Path) -> bool:
    """Whether every user of the machine can read it; a group may be meant to."""
    try:
        return bool(path.stat().st_mode & stat.S_IROTH)
    except OSError:
        return False


def same_login(first: Target, second: Target) -> bool:
    """Whether the password for one target may be tried at the other without a question.

    At another host it may, never by another protocol: FTP sends it in the clear.
    """
    return (first.protocol, first.user, first.domain) == (second.protocol, second.user, second.domain)


def log_in_as(
    target: Target, *, credentials: Path | None = None, kerberos: bool = False, ask: Callable[[str], str] | None = None
) -> tuple[Target, Secrets]:
    """The target with its user, and the secrets to log in there; without a user as guest or anonymous.

    ``ask`` puts a question to the user, if one can be put. Raises UsageError, and LoginError without a password.
    """
    if not target.abilities.has_login:
        return target, Secrets()
    from_file = read_credentials(credentials) if credentials else Credentials()
    if not target.user and from_file.user:
        target = with_user_of(from_file, target)
    _check_text(target, target.user, "the user")
    _check_text(target, target.domain, "the domain")
    if kerberos or from_file.nt_hash or not target.user:
        return target, Secrets(kerberos=kerberos, nt_hash=None if kerberos else from_file.nt_hash)

    whose = f"{target.user} on {host_and_port(target)}"
    password = from_file.password
    if password is None:
        password = os.environ.get(PASSWORD_VARIABLE)
    if password is None and ask:
        password = ask(visible(f"Password of {whose}: "))
    if password is None:
        raise LoginError(f"no password for {whose}: {HOW_TO_GIVE}", options=CREDENTIALS_OPTION)
    _check_text(target, password, "the password")
    return target, Secrets(password=password)


def _check_text(target: Target, text: str | None, name: str) -> None:
    """Raises UsageError for bytes that are no UTF-8, of which SMB makes no login; FTP takes them as they are."""
    if not target.abilities.has_share or not text:
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"{name} for {target.host} has bytes that are no UTF-8: save the credentials file as UTF-8, or set"
            f" {PASSWORD_VARIABLE} in a UTF-8 terminal"
        ) from error
