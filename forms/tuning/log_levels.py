"""Levels of ``log level`` by class of messages: which is the highest that costs something, and which to keep."""

from collections.abc import Mapping

from forms.tuning import smb_values, vfs_modules

_LOGIN_CLASSES = frozenset({"auth", "passdb", "sam", "winbind", "idmap", "kerberos", "dns", "ldb", "rpc_srv"})
"""Classes of log messages that write nothing about files: 15 KB a login, and no byte for 300 files (auth:10, passdb:10,
sam:10, winbind:10 and idmap:10 on Samba 4.17.12).
"""
_QUIET_CLASSES = frozenset(
    {
        "tdb",
        "printdrivers",
        "lanman",
        "rpc_parse",
        "rpc_cli",
        "quota",
        "msdfs",
        "dmapi",
        "registry",
        "scavenger",
        "tevent",
        "drs_repl",
    }
)
"""Classes that wrote no byte more for 300 files at level 10 (Samba 4.17.12)."""
_BUSY_CLASSES = frozenset({"all", "smb", "vfs", "acls", "locking", "smb2", "smb2_credits", "fileio", "cluster"})
"""Classes that may write something with every request."""
_MOST_OF_LOGINS = 4
"""Up to this level a log is only called raised."""


def log_levels(value: str) -> Mapping[str, int]:
    """The log level of each class that is named; ``all`` is that of the others."""
    levels = {"all": 0}
    for place, word in enumerate(smb_values.entries_of_list(value)):
        name, colon, level = word.partition(":")
        if place == 0 and name[:1].isdigit():
            levels["all"] = smb_values.read_by_atoi(word)
        elif colon:
            levels[name.lower()] = smb_values.read_by_atoi(level)
    return levels


def highest_log_level(value: str) -> int:
    """The highest of all classes, but that those that write at logins alone are called raised at most, and audits are
    left out.
    """
    highest = 0
    for name, level in log_levels(value).items():
        if _is_audit_class(name) or name in _QUIET_CLASSES or not is_log_class(name):
            continue
        highest = max(highest, min(level, _MOST_OF_LOGINS) if name in _LOGIN_CLASSES else level)
    return highest


def is_log_class(name: str) -> bool:
    """Whether Samba has log messages of that class; its modules have classes of their own."""
    key = name.lower()
    is_own = key in _QUIET_CLASSES | _LOGIN_CLASSES | _BUSY_CLASSES or _is_audit_class(key)
    return is_own or key == "shadow_copy" or key in vfs_modules.modules()


def levels_to_keep(value: str) -> list[str]:
    """The words of a log level that record who logs in and what is done with accounts, such as ``auth_audit:3``."""
    words = [(word, word.partition(":")[0].lower()) for word in smb_values.entries_of_list(value)]
    return [word for word, name in words if _is_audit_class(name) or name in _LOGIN_CLASSES]


def _is_audit_class(name: str) -> bool:
    return name.endswith("_audit")
