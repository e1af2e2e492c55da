"""The names of facts: those about smb.conf, which facts vary by themselves, and what people read in their place.

A fact's name is dotted words, ``link.duplex``, or that of a parameter in effect, ``smb.conf/share/strict sync``.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from fnmatch import translate
from functools import cache, lru_cache, partial

from forms.tuning.samba_parameters import Version, version_numbers
from forms.tuning.smb_conf import toml_data
from storage.records import Facts

PARAMETER_PREFIX = "smb.conf/"
CONF_STATE = "smb.conf.state"
"""One of `ConfState`."""
CONF_WARNINGS = "smb.conf.warnings"
"""testparm's warnings and our own, for `lines_of_fact`."""
CONF_SET = "smb.conf.set"
"""The names of the parameters that smb.conf sets for the share, for `lines_of_fact`."""
SAMBA_VERSION = "samba.version"
"""As the server says it, such as ``4.17.12-Debian``."""
FOLDER_MISSING = "filesystem.folder_missing"
"""The fact that there is no such folder as the share's path; its value is the path."""
FOLDER_IS = "filesystem.folder_is"
"""What stands in the place of that folder, as a clause: *a file, not a folder*; absent where nothing does."""
FOLDER_RIGHTS = "filesystem.folder_rights"
"""The mode of the share's folder as ``ls`` writes it, where not everybody may do everything in it."""
FOLDER_CLOSED_ABOVE = "filesystem.folder_closed_above"
"""Mode and path of the first folder above the share's that does not let everybody through."""
ACCOUNTS_MISSING = "accounts.missing"
"""Lines of smb.conf that name accounts, or files of them, which the server does not have, for `lines_of_fact`."""
INTERFACES_MISSING = "interfaces.missing"
"""Entries of ``interfaces`` that the server does not have, where smbd listens on those alone, for `lines_of_fact`."""
FACTS_UNKNOWN = "facts.unknown"
"""The fact that says why the facts of a server could not be read."""
HOOK_PREPARE = "hook.prepare"
"""The command that was run before each run; so are the next two, after it and on the server. They are never run again
from here."""
HOOK_CONCLUDE = "hook.conclude"
HOOK_SERVER_PREPARE = "hook.server_prepare"
SIGNING_PRICE = "signing.price_percent"
"""What signing costs of the rate, by an earlier diagnosis of the server."""
SIGNING_PRICE_MEASURED_AT = "signing.price_measured_at"
HOOKS = (HOOK_PREPARE, HOOK_CONCLUDE, HOOK_SERVER_PREPARE)
"""Held against each other as settings are: a series without them had none."""
_BETWEEN = "; "


class ConfState(StrEnum):
    """What testparm says of an smb.conf."""

    LOADS = "loads"
    WARNS = "loads with warnings"
    LOADS_NOT = "does not load"
    UNREADABLE = "not readable"


def samba_version(facts: Facts) -> Version | None:
    """The version of the server's Samba; None if unknown."""
    return version_numbers(str(facts.get(SAMBA_VERSION, ""))) or None


def in_one_fact(lines: Iterable[str]) -> str:
    """A list as a fact, for :func:`lines_of_fact`."""
    return _BETWEEN.join(line.replace(_BETWEEN, ", ") for line in dict.fromkeys(lines))


def lines_of_fact(facts: Facts, name: str) -> list[str]:
    """The list that `in_one_fact` made a fact of; empty where there is no such fact."""
    return [line for line in str(facts.get(name, "")).split(_BETWEEN) if line]


_UNITS = ("_bits_per_second", "_bytes_per_second", "_bytes", "_seconds", "_percent")
_WORDS = {
    "tcp": "TCP",
    "cpu": "CPU",
    "mtu": "MTU",
    "smb": "SMB",
    "ip": "IP",
    "crc": "CRC",
    "rx": "received",
    "tx": "sent",
}
"""Words of a fact's name, and what stands for them on a form."""
facts_data = partial(toml_data, "facts.toml")


@lru_cache(maxsize=4096)
def is_volatile(name: str) -> bool:
    """Whether a fact changes by itself from one recording to the next."""
    if name.startswith(PARAMETER_PREFIX):
        return False
    return _any_pattern_of("volatile").match(name) is not None


def is_replaced(name: str) -> bool:
    """Whether a fact of another value means that something was replaced, so that nobody goes back to it."""
    return _any_pattern_of("replaced").match(name) is not None


@cache
def _any_pattern_of(key: str) -> re.Pattern[str]:
    """What matches a name as any pattern of that list of ``facts.toml`` does."""
    return re.compile("|".join(map(translate, facts_data()[key])))


def human_name(name: str) -> str:
    """A fact's name on a form: *duplex* for ``link.duplex``; parameters keep theirs."""
    if name.startswith(PARAMETER_PREFIX):
        _, scope, parameter = name.split("/", 2)
        return f"{parameter} (smb.conf)" if scope == "global" else f"{parameter} (smb.conf, this share)"

    listed_name = facts_data()["names"].get(name)
    if listed_name:
        return str(listed_name)

    for unit in _UNITS:
        name = name.removesuffix(unit)
    words = name.replace(".", " ").replace("_", " ").split()
    return " ".join(_WORDS.get(word, word) for word in words)
