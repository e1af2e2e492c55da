"""A target as a URL, the same in forms, errors and documents."""

import re
from urllib.parse import quote

from storage.records import Target


def format_target(target: Target, *, login: bool = True, escaped: bool = True) -> str:
    """The URL for ``app.targets.parse_target``, without default ports; unescaped only for people."""
    write = _escape if escaped else _as_it_is
    if target.abilities.is_local:
        return "file://" + write(target.path)
    who = f"{write(target.domain)};" if login and target.domain else ""
    who += write(target.user, "@/:;") + "@" if login and target.user else ""
    host = f"[{target.host}]" if ":" in target.host else target.host
    port = f":{target.port}" if target.port_number != (target.abilities.default_port or 0) else ""
    where = "/".join(part for part in (target.share or "", target.path.lstrip("/")) if part)
    slash = "/" if where else ""
    return f"{target.protocol}://{who}{host}{port}{slash}{write(where)}"


def _escape(text: str, more: str = "") -> str:
    text = re.sub(r"%(?=[0-9A-Fa-f]{2})", "%25", text)
    return "".join(quote(c, safe="") if c in more or _is_hidden(c) else c for c in text)


def _is_hidden(character: str) -> bool:
    return not character.isprintable() and not "\ud800" <= character < "\ue000"  # a byte that is no UTF-8 stays


def _as_it_is(text: str, _more: str = "") -> str:
    return text
