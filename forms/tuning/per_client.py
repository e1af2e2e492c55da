"""Names of files in smb.conf that smbd makes anew for each client: which part of the client, and which file is whose.

The signs are those that smbd replaces in ``include`` and ``config file`` (smb.conf(5), VARIABLE SUBSTITUTIONS;
source3/lib/substitute.c).
"""

import glob
import re
from collections.abc import Sequence

_MEANINGS = {
    "%m": "the NetBIOS name of the client",
    "%M": "the name of the client in DNS",
    "%I": "the address of the client",
    "%J": "the address of the client",
    "%j": "the address of the client",
    "%a": "the operating system of the client",
    "%R": "the protocol that the client speaks",
    "%L": "the name by which the client calls the server",
    "%i": "the address of the server that the client reached",
    "%U": "the user",
    "%u": "the user",
    "%G": "the group of the user",
    "%g": "the group of the user",
    "%D": "the domain of the user",
    "%S": "the share",
    "%h": "the host name of this server",
    "%v": "the version of Samba",
    "%d": "the process of smbd",
    "%T": "the time",
    "%N": "the NIS server of the homes",
    "%$": "the environment of smbd",
}
_SIGN = re.compile(r"%\$\([^)]*\)|%.")
_ADDRESSES = frozenset({"%I", "%i"})
_ADDRESS = "([0-9A-Fa-f.:]+)"
_ANYTHING = "([^/]+?)"
_MOST_FILES_NAMED = 5


def pattern_of(name: str) -> str:
    """The pattern, as of a shell, for all files that the name can mean."""
    first, *others = map(glob.escape, _SIGN.split(name))
    # Two signs in a row are one: two stars would mean all folders below.
    return first + "".join(f"*{part}" for part in others if part) + ("*" if others and not others[-1] else "")


def what_decides(name: str) -> str:
    """What of the client decides which file the name means, with its signs, such as ``the user (%U)``."""
    signs = dict.fromkeys(_SIGN.findall(name))
    parts = [f"{_MEANINGS[sign[:2]]} ({sign})" for sign in signs if sign[:2] in _MEANINGS]
    return " and ".join(parts) or "the client"


def files_in_words(name: str, files: Sequence[str]) -> str:
    """The files that are there, each with the client that it is for."""
    clients_by_file = {file: client_of(name, file) for file in files}
    parts = [f"{file} for {client}" for file, client in clients_by_file.items() if client]
    if not parts:
        return "there is no such file now"

    more = len(parts) - _MOST_FILES_NAMED
    del parts[_MOST_FILES_NAMED:]
    if more > 0:
        parts.append(f"{more} more")
    return f"not read are {', '.join(parts)}; audit each with --smb-conf"


def client_of(name: str, file: str) -> str:
    """What stands in the file's name in place of the signs, such as ``laptop1``; of several, with a comma.

    Empty for a file of no client.
    """
    pattern = ""
    position = 0
    for sign in _SIGN.finditer(name):
        value = _ADDRESS if sign[0] in _ADDRESSES else _ANYTHING
        pattern += re.escape(name[position : sign.start()]) + value
        position = sign.end()
    pattern += re.escape(name[position:])

    match = re.fullmatch(pattern, file)
    return ", ".join(dict.fromkeys(match.groups())) if match else ""
