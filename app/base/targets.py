"""Reads targets as the user types them: URLs, UNC paths, local paths and names of the settings file.

A password never belongs in one: what may be a password is refused, and never repeated in a message.
"""

import posixpath
import re
import unicodedata
from dataclasses import replace
from urllib.parse import unquote

from app.base import pasted_targets
from app.base.errors import PasswordInURLError, UsageError
from forms.layout import is_plain, visible
from storage.programs import PASSWORD_VARIABLE
from storage.protocols import PROTOCOLS, Protocol
from storage.records import Command, Target, format_target

_BACKSLASH = "\\"

# Texts of messages, which other modules use as well.
FORMS = (
    "smb://[DOMAIN;][USER@]HOST[:PORT]/SHARE/PATH, ftp://[USER@]HOST[:PORT]/PATH, ftps://…, "
    "file:///PATH or iperf3://HOST[:PORT]"
)

HOW_TO_GIVE = f"type it at the prompt, set {PASSWORD_VARIABLE}, or name a file of credentials"
CREDENTIALS_OPTION = "--credentials FILE"
HOW_TO_LOG_IN = f"leave it out and {HOW_TO_GIVE}"

_SCHEME = re.compile(
    r"\w+://|(?:smb|cifs|samba|ftps?)[.;]?//|(?:smb|cifs|afp|s?ftps?|ftpes|file|iperf3?|https?|nfs|ssh):[/\\]*|[/\\]+",
    re.IGNORECASE,
)
"""What a text begins with that has a scheme, also a mistyped one such as ``smb:/``; or the slashes in place of one."""
_SCHEME_WITHOUT_COLON = re.compile(r"(?:smb|cifs|samba|ftps?)[.;]?//", re.IGNORECASE)
_OTHER_SCHEMES = frozenset({"sftp", "tftp", "tcp"})
"""Schemes that look like our own, and mean another program's protocol."""
_NEIGHBOUR_SCHEMES = frozenset({"http", "https", "cifs", "samba", "afp"})
"""What is copied from a browser or a file manager; the same host and path on SMB are most likely meant."""
_PASSWORD_IN_URL = f"a password does not belong in a URL, where others can read it: {HOW_TO_LOG_IN}"
_BARE = re.compile(
    r"(?:(?:[^\s@/:\\]+\\)?[^\s@/:\\]+@)?(?:[\w-][\w.-]*|\[[0-9A-Fa-f:.]+(?:%\w+)?\])(?::\d{1,5})?(?:/[^\\]*)?"
)
"""``[[DOMAIN\\]USER@]HOST[:PORT][/SHARE…]``, as for ssh and scp."""
_EXPLORER_PATH = re.compile(r"(?:[\\/]{2}[?.]|\\\?\?)[\\/]UNC[\\/]", re.IGNORECASE)
"""What Windows puts before the server of a long UNC path."""
_WEB_DAV_PATH = re.compile(r"[\\/]{2}[^\\/@]+@(?:SSL|\d+)(?:@\d+)?(?=[\\/]|$)", re.IGNORECASE)
"""How Windows writes the server of a WebDAV folder."""
_BACKSLASHED = re.compile(r"[\w-][\w.-]*\\+[^\\:]+(?:\\.*)?")
"""``HOST\\SHARE``, of a UNC path without its beginning."""
_PORT_ONLY = re.compile(r":\d{0,5}(?=[/\\]|$)")
"""A colon with no more behind it than a port: what stands there is no password."""
_DRIVE = re.compile(r"[A-Za-z]:[/\\]")
"""The drive of a Windows path, whose colon begins no password either."""

_DOMAIN_NAME = re.compile(r"[^.:@;\[\]\\/]{1,15}")
"""A domain's short name (NetBIOS); a host that is written with dots or a port is none."""

_TARGET_WITH_LOGIN = re.compile(r"(?P<target>.*?)(?P<option>\s+--credentials(?:[\s=]+(?P<path>.*))?)?", re.DOTALL)
"""A target as typed, which may have blanks, and behind it the file with its login."""
_OTHER_OPTION = re.compile(r"\s(--(?:block|client|encrypt|flush|in-flight|like|server-ssh|sign|smb-conf))(?![\w-])")
"""What may follow a target on the command line, and not where one is typed on a screen."""

_NOT_IN_SHARES = re.compile(r"[<>\"|?*/\\]")
_IPV6 = re.compile(r"(?=[^.]*:[^.]*:)[0-9A-Fa-f:.]+(?:%\w+)?")
_LITERAL_OF_WINDOWS = re.compile(r"(?P<address>[0-9a-f-]+)(?:s(?P<zone>\w+))?\.ipv6-literal\.net", re.IGNORECASE)
"""An IPv6 address as Windows writes it in UNC paths: ``fe80--1s4.ipv6-literal.net``."""

_ESCAPE = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def parse_target(text: str) -> Target:
    """The target of a URL, a UNC path or ``/PATH``; a ``%`` that starts no escape is literal.

    Raises UsageError, PasswordInURLError.
    """
    text = _unwrapped(text)
    if _WEB_DAV_PATH.match(text):
        raise UsageError(f"{text} is a WebDAV folder: write a share of that server, as smb://HOST/SHARE")
    scheme, separator, address_and_path = _as_url(text).partition("://")
    protocol = PROTOCOLS.get(scheme.lower())
    if not separator or protocol is None:
        raise _not_a_target(text)

    # The name of a local file may have a line end, where it is written as an escape.
    forbidden = r"[\x00\r\n]|%00" if protocol.is_local else r"[\x00\r\n]|%0[0ADad]"
    if re.search(forbidden, address_and_path):
        raise UsageError("a target cannot contain line ends or NUL")

    authority, slash, raw_path = address_and_path.partition("/")
    if protocol.is_local:
        return _local_target(text, authority, slash + raw_path)

    if protocol.has_share and _is_login_with_slash(authority, raw_path):
        raise UsageError(
            f"smb://DOMAIN/USER@HOST is no target: write smb://DOMAIN;USER@HOST/SHARE/PATH, without a password"
            f" ({HOW_TO_GIVE}); an @ in the name of a share is written %40"
        )
    login, _, address = authority.rpartition("@")
    domain, user = _login(protocol, login)
    if protocol.has_share:
        _check_slashes(text, address, raw_path)
    host, port = _address(text, address, protocol)
    server = Target(protocol=protocol.name, host=host, port=port, user=user, domain=domain)

    if protocol.has_share:
        # No share or folder has an empty name: slashes in a row are one.
        share, *names = [name for name in raw_path.split("/") if name] or [""]
        _check_share(_unescape(share))
        return replace(server, share=_unescape(share) or None, path=_unescape("/".join(names)).strip("/"))
    if not protocol.moves_files:
        if raw_path.strip("/") or user:
            raise UsageError(
                f"an {protocol.name} target has no user and no path: {without_password(text)!r};"
                f" write {protocol.name}://HOST[:PORT]"
            )
        return server
    return replace(server, path="/" + _unescape(raw_path, has_byte_names=True).lstrip("/"))


def _unwrapped(text: str) -> str:
    """The text without quotes and brackets around it. Raises UsageError for a line of a command or of fstab."""
    text = pasted_targets.unwrapped(text)
    if pasted_targets.has_password_beside(text):
        raise PasswordInURLError(
            f"a password does not belong beside a target, where others can read it: {HOW_TO_LOG_IN}",
            options=CREDENTIALS_OPTION,
        )
    if pasted_targets.is_line_around_target(text):
        target = pasted_targets.target_inside(text)
        raise UsageError(f"a target is wanted, not the line of a command or of fstab: write {target}")
    if pasted_targets.is_command_line(text):
        raise UsageError(f"a target is wanted, not the line of a command: write {FORMS}")
    return text


def _is_login_with_slash(authority: str, path: str) -> bool:
    """Whether ``AUTHORITY/PATH`` begins like ``DOMAIN/USER@HOST``, as smbclient takes a login."""
    share, _, _ = path.partition("/")
    return "@" in share and bool(_DOMAIN_NAME.fullmatch(authority))


def _check_slashes(text: str, address: str, path: str) -> None:
    """Raises UsageError for backslashes in a URL, which would be a part of the host or of the share."""
    share, _, _ = path.partition("/")
    if _BACKSLASH in address + share:
        url = re.sub(r"\\+", "/", f"{address}/{path}" if path else address)
        raise UsageError(f"a URL has slashes, not {_BACKSLASH}: {without_password(text)!r}; did you mean smb://{url}?")


def _check_share(share: str) -> None:
    """Raises UsageError for a name that no share has, such as ``public>`` where a URL stood in brackets."""
    sign = _NOT_IN_SHARES.search(share)
    if sign:
        raise UsageError(f"no share is called {visible(share)[:40]!r}: the name of a share has no {sign[0]}")


def _local_target(text: str, authority: str, path: str) -> Target:
    if authority not in ("", "localhost"):
        suggestion = without_password(f"file:///{authority}{path}")
        raise UsageError(
            f"a file target has three slashes: {suggestion}, not {without_password(text)!r}; a share is smb://HOST/SHARE"
        )
    if not path:
        raise UsageError(f"no path in {without_password(text)!r}; write file:///PATH")
    unescaped_path = _unescape(path, has_byte_names=True)
    return Target(protocol="file", path=posixpath.normpath("/" + unescaped_path.lstrip("/")))


def _not_a_target(text: str) -> UsageError:
    """The error for a text without a known scheme: with what was probably meant, if that can be told."""
    if not text:
        return UsageError(f"nothing was typed; write {FORMS}")

    scheme = _SCHEME.match(text)

    # USER:PASSWORD@HOST; in HOST:445/name@x, though, the first colon begins a port.
    is_login = not scheme and "@" in text and may_hold_password(text)
    begins_port = _PORT_ONLY.match(text, text.find(":"))
    if is_login and not begins_port:
        return PasswordInURLError(_PASSWORD_IN_URL, options=CREDENTIALS_OPTION)

    typed = without_password(text)
    suggestion = f"smb://{typed}" if _BARE.fullmatch(typed) else ""
    protocol_name = _known_scheme(scheme[0]) if scheme else None
    title = pasted_targets.target_of_title(text)
    if title:
        typed = text
        suggestion = title
    elif not scheme and _BACKSLASHED.fullmatch(typed):
        path = re.sub(r"[/\\]+", "/", typed)
        suggestion = f"smb://{path}"
    if scheme and protocol_name:
        third_slash = "/" if PROTOCOLS[protocol_name].is_local else ""
        behind_scheme = typed[scheme.end() :].replace(_BACKSLASH, "/")
        suggestion = f"{protocol_name}://{third_slash}{behind_scheme}"

    if _IPV6.fullmatch(text.partition("/")[0]):
        return UsageError(f"write an IPv6 address in brackets: smb://[{text.partition('/')[0]}]/SHARE")
    quoted = repr(typed).replace(2 * _BACKSLASH, _BACKSLASH)
    advice = f"did you mean {suggestion}? Else write" if suggestion else "write"
    return UsageError(f"not a target: {quoted}; {advice} {FORMS}")


def _known_scheme(typed: str) -> str | None:
    """The protocol that a mistyped scheme may mean; None for another program's."""
    from difflib import get_close_matches

    name = typed.rstrip(":/\\.;").lower()
    if name in _OTHER_SCHEMES:
        return None
    if name in _NEIGHBOUR_SCHEMES:
        return "smb"
    return next(iter(get_close_matches(name, PROTOCOLS, 1)), None)


def parse_typed_target(text: str) -> Target:
    """As :func:`parse_target`; also ``[USER@]HOST[/SHARE…]`` (SMB) and ``@NAME``. Raises UsageError."""
    typed = by_name(_unwrapped(text))
    is_bare = _BARE.fullmatch(typed) and not _SCHEME_WITHOUT_COLON.match(typed)
    return parse_target(f"smb://{typed}" if is_bare else typed)


def parse_target_with_login(text: str) -> tuple[Target, str]:
    """The target and the path of its credentials file, of ``TARGET [--credentials FILE]``; empty without one.

    Raises UsageError.
    """
    typed = _TARGET_WITH_LOGIN.fullmatch(text.strip())
    assert typed is not None  # every text matches
    path = typed["path"] or ""
    if typed["option"] and not path:
        raise UsageError("--credentials names no file: write TARGET --credentials FILE")
    option = _OTHER_OPTION.search(typed["target"])
    if option:
        raise UsageError(
            f"only --credentials FILE may follow a target here: {option[1]} is an option of the command line, such as"
            " `sharebench run TARGET --versus 'OTHER --block 64K'`"
        )
    return parse_typed_target(typed["target"]), path


def by_name(text: str) -> str:
    """The URL of ``@NAME[/PATH]``; other texts unchanged. Raises UsageError, ConfigError."""
    if not text.startswith("@"):
        return text
    from app.base.config import profile

    name, slash, path = text[1:].partition("/")
    return profile(name).url(path if slash else None)


def _as_url(text: str) -> str:
    text = _EXPLORER_PATH.sub(lambda _: 2 * _BACKSLASH, text, count=1)
    if text.startswith(("\\\\", "//")):
        # In a UNC path, as in Explorer, % begins no escape, and @ ends no login.
        server, slash, path = text[2:].replace(_BACKSLASH, "/").partition("/")
        escaped_path = path.replace("%", "%25").replace("@", "%40")
        return f"smb://{server}{slash}{escaped_path}"
    if text.startswith("/"):
        return "file://" + text.replace("%", "%25")
    return text


def without_password(text: str) -> str:
    """Replaces what may be a password by ``…``: from the first colon after the scheme to the last ``@`` or the end."""
    scheme = _SCHEME.match(text)
    start = scheme.end() if scheme else 0
    # The colons of an IPv6 address in brackets begin no password.
    bracket = text.find("]", start) if text[start : start + 1] == "[" else start
    colon = text.find(":", max(start, bracket))

    at = text.rfind("@")
    if at > start:
        password_start = colon + 1 if 0 <= colon < at else start
        return f"{text[:password_start]}…{text[at:]}"
    if colon < 0 or _PORT_ONLY.match(text, colon) or _DRIVE.match(text):
        return text
    return text[: colon + 1] + "…"


def may_hold_password(text: str) -> bool:
    """Whether what stands before the host may be a password; without an ``@``, what stands behind a colon."""
    scheme = _SCHEME.match(text)
    login, at, _ = text[scheme.end() if scheme else 0 :].rpartition("@")
    return ":" in login if at else without_password(text) != text


def _unescape(text: str, *, has_byte_names: bool = False) -> str:
    """The text without its escapes; one that is no UTF-8 stays, or is a byte (PEP 383) where names are bytes."""

    def resolve(match: re.Match[str]) -> str:
        try:
            return unquote(match[0], errors="surrogateescape" if has_byte_names else "strict")
        except UnicodeDecodeError:
            return match[0]

    return _ESCAPE.sub(resolve, text)


def _login(protocol: Protocol, login: str) -> tuple[str | None, str | None]:
    """Domain and user. Raises PasswordInURLError."""
    # Browsers escape the colon, too; no user of Windows has one.
    if ":" in login or "%3a" in login.lower():
        raise PasswordInURLError(_PASSWORD_IN_URL, options=CREDENTIALS_OPTION)
    if not protocol.has_share:
        return None, _unescape(login) or None

    if holds_smbclient_password(_unescape(login.replace("%25", "-"))):
        raise PasswordInURLError(_PASSWORD_IN_URL, options=CREDENTIALS_OPTION)
    # Shells and browsers escape what stands between domain and user, which no user's name has.
    domain, user = split_domain(re.sub("%5c|%3b", ";", login, flags=re.IGNORECASE))
    return _unescape(domain) or None, _unescape(user) or None


def split_domain(login: str) -> tuple[str, str]:
    r"""Domain and user of ``DOMAIN;USER``, ``DOMAIN\USER`` as Windows writes it, or ``DOMAIN/USER`` as smbclient does.

    Without a domain it is empty.
    """
    separators = [sign for sign in (";", _BACKSLASH, "/") if sign in login]
    domain, _, user = login.rpartition(separators[0] if separators else ";")
    # In a script a backslash is written twice.
    return domain.rstrip(_BACKSLASH), user


def typed_user(text: str) -> tuple[str | None, str | None]:
    r"""Domain and user of a user that is typed alone, for SMB: ``USER``, ``DOMAIN;USER`` or ``DOMAIN\USER``.

    Raises UsageError for ``USER%PASSWORD`` and ``USER:PASSWORD``, without repeating it: the user is stored and printed.
    """
    login = text.strip()
    if holds_smbclient_password(login) or ":" in login:
        raise UsageError(f"a password does not belong in the name of the user, which is stored: {HOW_TO_LOG_IN}")
    domain, user = split_domain(login)
    return domain or None, user or None


def holds_smbclient_password(user: str) -> bool:
    """Whether it is ``USER%PASSWORD``, as smbclient and old mount.cifs take it; FTP servers have users with a ``%``."""
    return "%" in user


def _address(text: str, address: str, protocol: Protocol) -> tuple[str, int]:
    """Host and port; ``text`` is the whole target, for messages. Raises UsageError."""
    match = re.fullmatch(r"(\[[0-9A-Fa-f:.%a-z]+\]|[^\[\]:]*)(?::([0-9]*))?", address)
    is_ipv6 = re.fullmatch(r"[0-9A-Fa-f:.]+(?:%\w+)?", address) is not None
    if not match and address.count(":") > 1 and is_ipv6:
        raise UsageError(f"{address} is no host and port; write an IPv6 address in brackets: [{address}]")
    if not match or not match[1].strip("[]."):
        raise UsageError(f"no host in {without_password(text)!r}; write {FORMS}")
    is_printed = is_plain(match[1]) and all(sign.isprintable() and not sign.isspace() for sign in match[1])
    if not is_printed:
        raise UsageError(
            f"no host is called {visible(match[1])[:40]!r}: its name has a blank, or a character that is not printed"
        )
    strange_sign = next((sign for sign in match[1] if not _may_be_in_host(sign)), "")
    if strange_sign:
        raise UsageError(
            f"no host is called {match[1][:40]!r}: {strange_sign} is none of letters, digits, hyphens and dots; slashes"
            " stand behind it, as in smb://HOST/SHARE"
        )

    digits = match[2].lstrip("0") if match[2] else str(protocol.default_port)
    port = int(digits or "0") if len(digits) < 6 else 0
    if not 0 < port < 65536:
        raise UsageError(f"no such port on {match[1]}: ports go from 1 to 65535")
    literal = _LITERAL_OF_WINDOWS.fullmatch(match[1])
    if literal:
        zone = f"%{literal['zone']}" if literal["zone"] else ""
        return literal["address"].replace("-", ":") + zone, port

    host = match[1].strip("[]")
    # In the URL of an address with a zone, the sign before the zone is written as an escape (RFC 6874).
    return host.replace("%25", "%", 1) if match[1].startswith("[") else host, port


def _may_be_in_host(sign: str) -> bool:
    """Whether it may stand in the name or address of a host; marks are parts of letters."""
    return sign.isalnum() or sign in "-._:%[]" or unicodedata.category(sign).startswith("M")


def check_complete(target: Target, command: Command, *, make_file: bool = False) -> None:
    """Raises UsageError unless the target names what the command needs."""
    if target.abilities.has_share and not target.share:
        raise UsageError(
            f"{format_target(target)} names no share; write smb://HOST/SHARE/PATH (`sharebench check` lists them)"
        )
    needs_file = command is Command.GET and not make_file and target.abilities.moves_files
    if needs_file and not target.path.strip("/"):
        text = f"{format_target(target)} names no file; name one to read, or let one be made"
        raise UsageError(text, options="--make-file --size SIZE")


def join(target: Target, name: str) -> str:
    """The path of ``name`` in the target's folder, in the form of ``Target.path``."""
    folder = target.path.rstrip("/")
    return f"{folder}/{name}" if folder or not target.abilities.has_share else name
