"""Names of facts: dotted words, the unit last; ``smb.conf/share/strict sync`` is the value in effect there."""

from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from forms.tuning.smb_conf import toml_data

PARAMETER_PREFIX = "smb.conf/"

_UNITS = ("_bits_per_second", "_bytes_per_second", "_bytes", "_seconds", "_percent")
_CAPITALS = {"tcp": "TCP", "cpu": "CPU", "mtu": "MTU", "smb": "SMB", "ip": "IP", "crc": "CRC", "rx": "received"}
_CAPITALS["tx"] = "sent"


@cache
def facts_data() -> dict[str, Any]:
    """The tables of ``data/facts.toml``."""
    return toml_data("facts.toml")


def is_volatile(name: str) -> bool:
    """Whether a fact varies by itself; a parameter of smb.conf never does."""
    return not name.startswith(PARAMETER_PREFIX) and any(
        fnmatchcase(name, pattern) for pattern in facts_data()["volatile"]
    )


def human_name(name: str) -> str:
    """A fact's name on a form: *duplex* for ``link.duplex``; parameters keep theirs."""
    if name.startswith(PARAMETER_PREFIX):
        _, scope, parameter = name.split("/", 2)
        return f"{parameter} (smb.conf)" if scope == "global" else f"{parameter} (smb.conf, this share)"
    if known := facts_data()["names"].get(name):
        return str(known)
    for unit in _UNITS:
        name = name.removesuffix(unit)
    words = name.replace(".", " ").replace("_", " ").split()
    return " ".join(_CAPITALS.get(word, word) for word in words)
