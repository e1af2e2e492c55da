"""Names of facts (dotted words, the unit last; ``smb.conf/share/strict sync`` is the value in effect there), and what a
session shows of the server's settings: dialect, signing, encryption.
"""

import operator
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from forms.tuning.smb_conf import tidy_value, toml_data
from storage.records import ClientFacts, Facts

PARAMETER_PREFIX = "smb.conf/"
CONF_STATE, CONF_WARNINGS = "smb.conf.state", "smb.conf.warnings"
_BETWEEN = "; "


class ConfState(StrEnum):
    LOADS = "loads"
    WARNS = "loads with warnings"
    LOADS_NOT = "does not load"
    UNREADABLE = "not readable"


def in_one_fact(lines: Iterable[str]) -> str:
    """A list as a fact, for :func:`lines_of_fact`."""
    return _BETWEEN.join(line.replace(_BETWEEN, ", ") for line in dict.fromkeys(lines))


def lines_of_fact(facts: Facts, name: str) -> list[str]:
    return [line for line in str(facts.get(name, "")).split(_BETWEEN) if line]


_UNITS = ("_bits_per_second", "_bytes_per_second", "_bytes", "_seconds", "_percent")
_CAPITALS = {"tcp": "TCP", "cpu": "CPU", "mtu": "MTU", "smb": "SMB", "ip": "IP", "crc": "CRC", "rx": "received"}
_CAPITALS["tx"] = "sent"


@cache
def _facts_data() -> dict[str, Any]:
    return toml_data("facts.toml")


def is_volatile(name: str) -> bool:
    """Whether a fact varies by itself; a parameter of smb.conf never does."""
    return not name.startswith(PARAMETER_PREFIX) and any(
        fnmatchcase(name, pattern) for pattern in _facts_data()["volatile"]
    )


def human_name(name: str) -> str:
    """A fact's name on a form: *duplex* for ``link.duplex``; parameters keep theirs."""
    if name.startswith(PARAMETER_PREFIX):
        _, scope, parameter = name.split("/", 2)
        return f"{parameter} (smb.conf)" if scope == "global" else f"{parameter} (smb.conf, this share)"
    if known := _facts_data()["names"].get(name):
        return str(known)
    for unit in _UNITS:
        name = name.removesuffix(unit)
    words = name.replace(".", " ").replace("_", " ").split()
    return " ".join(_CAPITALS.get(word, word) for word in words)


_DIALECTS = ("2.0.2", "2.1", "3.0", "3.0.2", "3.1.1")
_PROTOCOL_DIALECTS = {"smb2_02": "2.0.2", "smb2": "2.1", "smb3_00": "3.0", "smb3_02": "3.0.2", "smb3": "3.1.1"}
_SMB3 = _DIALECTS[2:]


def dialect_rank(dialect: str) -> int:
    """A dialect's place, the oldest first; -1 if unknown."""
    return _DIALECTS.index(dialect) if dialect in _DIALECTS else -1


def follows(difference: str, parameter: str) -> bool:
    return any(fnmatchcase(difference, pattern) for pattern in _facts_data()["follow"].get(parameter, ()))


def contradiction(parameter: str, value: str, client: ClientFacts) -> str | None:
    """Why the session contradicts that value (smb.conf(5) of Samba 4.17, MS-SMB2 3.1.4.1), or None."""
    check = _CHECKS.get(parameter)
    return check(tidy_value(parameter, value), client) if check and client.dialect else None


def agreement(parameter: str, value: str, before: ClientFacts, after: ClientFacts) -> str | None:
    if contradiction(parameter, value, after):
        return None
    shown = [
        f"{part} {getattr(before, part) or 'unknown'} -> {getattr(after, part)}"
        for part in ("dialect", "signing", "encryption")
        if follows(f"client.{part}", parameter) and getattr(before, part) != getattr(after, part)
    ]
    return ", ".join(shown) or None


def _encryption(value: str, client: ClientFacts) -> str | None:
    encrypted = client.is_encrypted
    if value == "required" and not encrypted:
        return "the session is not encrypted"
    if value == "desired" and not encrypted and client.dialect in _SMB3:
        return "the session is not encrypted, although its dialect could be"
    if value == "no" and encrypted:
        return f"the session is encrypted ({client.encryption})"
    return None


def _signing(value: str, client: ClientFacts) -> str | None:
    unsigned = not client.is_signed and not client.is_encrypted
    return "the session is not signed" if value == "required" and unsigned else None


def _listed(value: str, negotiated: str | None, words: str) -> str | None:
    if negotiated in (None, "none") or any(item[:1] in "+-" for item in value.split()):
        return None
    return None if negotiated in value.split() else f"the session is {words} {negotiated}"


def _bounded(value: str, client: ClientFacts, within: Callable[[int, int], bool]) -> str | None:
    limit = _PROTOCOL_DIALECTS.get(value)
    if limit is None or client.dialect not in _DIALECTS:
        return None
    told = within(_DIALECTS.index(client.dialect), _DIALECTS.index(limit))
    return None if told else f"the session speaks SMB {client.dialect}"


_CHECKS: Mapping[str, Callable[[str, ClientFacts], str | None]] = {
    "server smb encrypt": _encryption,
    "server signing": _signing,
    "server smb3 encryption algorithms": lambda value, client: _listed(value, client.encryption, "encrypted with"),
    "server smb3 signing algorithms": lambda value, client: _listed(
        value.replace("aes-128-", "aes-"), client.signing, "signed with"
    ),
    "server max protocol": lambda value, client: _bounded(value, client, operator.le),
    "server min protocol": lambda value, client: _bounded(value, client, operator.ge),
}
