"""Takes the names of users and domains out of a copy of a notebook, from which anything can then be exported.

Names are found where a user or domain is stored as such, and replaced by ``user`` and ``domain`` wherever they stand:
in texts, paths, errors and facts. What has another meaning stays: ids, times, and our own words, which a user may have
for a name.
"""

import getpass
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from storage.notebook_file import NotebookDatabase
from storage.records import BUSIEST_USER, MEASURED_FROM

USER = "user"
DOMAIN = "domain"
_NAMED_BY = {USER: USER, "users": USER, DOMAIN: DOMAIN, "owner": USER, "measured.by": USER, BUSIEST_USER: USER}
"""Members of stored JSON whose value is a name, and what replaces it."""
_SSH_ADDRESSES = frozenset({"server_ssh", "from_host"})
"""Members of stored JSON that are [USER@]HOST: the machine stays, its user does not."""
_NO_PERSON = {"", "root", "anonymous", "guest", USER, DOMAIN}
_LEAST_INSIDE = 4
"""Characters of a name that is found inside longer words too: a shorter one is in too many that mean something else."""
_OUR_WORDS = frozenset(
    {
        "auto",
        "bytes",
        "client",
        "clients",
        "command",
        "disk",
        "encryption",
        "experiment",
        "file",
        "files",
        "folder",
        "ftp",
        "ftps",
        "get",
        "guest",
        "idle",
        "iperf3",
        "isolation",
        "large",
        "link",
        "linux",
        "load",
        "local",
        "login",
        "measured",
        "mixed",
        "network",
        "none",
        "office",
        "path",
        "port",
        "print",
        "printing",
        "put",
        "quiet",
        "random",
        "read",
        "root",
        "run",
        "runs",
        "samba",
        "sequential",
        "series",
        "server",
        "service",
        "session",
        "settings",
        "share",
        "sharebench",
        "signing",
        "small",
        "smb",
        "smbclient",
        "smbd",
        "sweep",
        "target",
        "tcp",
        "trial",
        "tune",
        "user",
        "users",
        "warm-up",
        "watch",
        "write",
    }
)
"""What stored errors and findings say, and values mean. A user of such a name is left out where only a user can be."""
_OUR_MEMBERS = frozenset(
    {
        "base",
        "base_id",
        "certainty",
        "client",
        "command",
        "cost",
        "created_at",
        "dialect",
        "encryption",
        "first",
        "id",
        "key",
        "kind",
        "layer",
        "limit",
        "name",
        "option",
        "phase",
        "protocol",
        "schema",
        "scope",
        "second",
        "series",
        "series_id",
        "severity",
        "signing",
        "since",
        "started_at",
        "state",
        "status",
        "verdict",
        "version",
    }
)
"""Members of stored JSON whose values are ids, times or our own words."""
_ID_OR_TIME = re.compile(r"[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?")
_TEXT_COLUMNS = {
    "recordings": ("error", "label", "note", "question", "subject"),
    "series": ("title", "share", "path", "change_value", "change_previous", "change_remark"),
    "runs": ("reason", "error"),
    "failed_attempts": ("error",),
    "load_points": ("reason",),
    "layer_runs": ("reason",),
    "facts": ("value",),
}
_JSON_COLUMNS = {
    "recordings": ("content",),
    "series": ("plan", "quiet", "change_also_changed"),
    "load_points": ("figures",),
    "layer_runs": ("content",),
}
_NAME_COLUMNS = {"experiments": "name", "baselines": "name", "worksheets": "name"}
"""Names that people gave to things, by which commands find them: no two may become the same."""


def forget_users(db: NotebookDatabase) -> dict[str, str]:
    """Take the names out of a database that nobody else has open.

    Returns the new names, by the old ones, of experiments, baselines and worksheets that were called by such a name.
    """
    db.execute("PRAGMA foreign_keys = OFF")
    forget = _Forget(_names_in(db))

    renamed: dict[str, str] = {}
    for table, column in _NAME_COLUMNS.items():
        rows = db.execute(f"SELECT DISTINCT {column} FROM {table}")
        renamed |= forget.without_clashes(row[0] for row in rows)

    def rename(name: Any) -> Any:
        return renamed.get(name, name)

    def clean_words(text: Any) -> Any:
        return renamed.get(text) or forget.in_words(text)

    db.conn.create_function("renamed", 1, rename)
    db.conn.create_function("without_user", 1, _without_user)
    db.conn.create_function("in_words", 1, clean_words)
    db.conn.create_function("in_json", 1, forget.in_json)
    db.conn.create_function("in_worksheet", 1, forget.in_worksheet)
    _rewrite(db)
    return renamed


def _names_in(db: NotebookDatabase) -> dict[str, str]:
    """The names of people and domains in the database, and of whoever exports it; with what replaces each."""
    users = db.execute("SELECT user FROM series UNION SELECT value FROM facts WHERE name = 'measured.by'")
    people = {row[0] for row in users if row[0]}
    domains = {row[0] for row in db.execute("SELECT domain FROM series")}
    for (name,) in db.execute("SELECT value FROM facts WHERE name = ?", (BUSIEST_USER,)).fetchall():
        _add_user(str(name), people, domains)
    for (address,) in db.execute("SELECT value FROM facts WHERE name = ?", (MEASURED_FROM,)).fetchall():
        people.add(_user_of(str(address)))
    for (content,) in db.execute("SELECT content FROM recordings UNION SELECT plan FROM series").fetchall():
        _collect_names(json.loads(content or "null"), people, domains)

    people.add(getpass.getuser())
    replacements = {str(name).casefold(): USER for name in people if name}
    replacements |= {str(name).casefold(): DOMAIN for name in domains if name}
    return {name: replacement for name, replacement in replacements.items() if name not in _NO_PERSON}


def _rewrite(db: NotebookDatabase) -> None:
    """Rewrite all columns, by the functions ``renamed``, ``in_words`` … that the connection was given for it."""
    with db.atomic():
        db.execute("UPDATE series SET user = iif(user IS NULL, NULL, ?), domain = NULL", (USER,))
        db.execute("DELETE FROM facts WHERE name = 'measured.by'")
        db.execute("UPDATE facts SET value = ? WHERE name = ?", (USER, BUSIEST_USER))
        db.execute("UPDATE facts SET value = without_user(value) WHERE name = ?", (MEASURED_FROM,))
        db.execute("UPDATE series SET experiment = renamed(experiment)")
        for table, column in _NAME_COLUMNS.items():
            db.execute(f"UPDATE {table} SET {column} = renamed({column})")
        db.execute("UPDATE worksheets SET content = in_worksheet(content)")
        _rewrite_columns(db, _TEXT_COLUMNS, "in_words")
        _rewrite_columns(db, _JSON_COLUMNS, "in_json")


def _rewrite_columns(db: NotebookDatabase, columns_by_table: Mapping[str, Iterable[str]], function: str) -> None:
    for table, columns in columns_by_table.items():
        assignments = ", ".join(f"{column} = {function}({column})" for column in columns)
        db.execute(f"UPDATE {table} SET {assignments}")


def _collect_names(value: Any, people: set[str], domains: set[str]) -> None:
    """Add the names in a value of stored JSON to the people and domains."""
    if isinstance(value, list):
        for item in value:
            _collect_names(item, people, domains)
    if not isinstance(value, dict):
        return

    for key, item in value.items():
        _collect_names(item, people, domains)
        if key in _SSH_ADDRESSES and isinstance(item, str) and "@" in item:
            people.add(_user_of(item))
        kind = _NAMED_BY.get(key)
        for name in item if isinstance(item, list) else [item]:
            if kind == DOMAIN and isinstance(name, str):
                domains.add(name)
            elif kind and isinstance(name, str):
                _add_user(name, people, domains)


def _user_of(ssh_address: str) -> str:
    return ssh_address.rpartition("@")[0]


def _without_user(ssh_address: Any) -> str:
    """``user@HOST`` for ``alice@HOST``; an address without a user, or of root, as it is."""
    user, _, host = str(ssh_address).rpartition("@")
    return str(ssh_address) if user in _NO_PERSON else f"{USER}@{host}"


def _add_user(name: str, people: set[str], domains: set[str]) -> None:
    r"""Add a user's name, which a server may tell as ``DOMAIN\alice``."""
    people.add(name)
    domain, separator, user = name.partition("\\")
    if separator:
        people.add(user)
        domains.add(domain)


class _Forget:
    """Replaces names in texts, in stored JSON, and in the names of things."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        longest_first = sorted(names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_pattern_of, longest_first)), re.IGNORECASE) if names else None

    def in_words(self, text: Any) -> Any:
        if self._pattern is None or not isinstance(text, str):
            return text
        return self._pattern.sub(self._replacement, text)

    def _replacement(self, match: re.Match[str]) -> str:
        return self._names[match[0].casefold()]

    def in_json(self, text: str | None) -> str | None:
        return None if text is None else json.dumps(self._clean(json.loads(text), _OUR_MEMBERS))

    def in_worksheet(self, text: str) -> str:
        """As ``in_json``, but also in members called ``name``: in worksheets those are people's own words."""
        return json.dumps(self._clean(json.loads(text), _OUR_MEMBERS - {"name"}))

    def without_clashes(self, names: Iterable[str]) -> dict[str, str]:
        """The new names of things, by the old ones that held a user's name; no two become the same."""
        used_names = set(names)
        renamed: dict[str, str] = {}
        for name in sorted(used_names):
            cleaned = str(self.in_words(name))
            if cleaned == name:
                continue

            unique = cleaned
            number = 1
            while unique in used_names or unique in renamed.values():
                number += 1
                unique = f"{cleaned} {number}"
            renamed[name] = unique
        return renamed

    def _clean(self, value: Any, ours: frozenset[str], member: str = "") -> Any:
        """A value of stored JSON without names; values of the members ``ours`` stay. ``member``: which one it is of."""
        if isinstance(value, dict):
            return {name: self._clean(inner, ours, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._clean(inner, ours, member) for inner in value]

        if not isinstance(value, str) or not value:
            return value
        if member in _SSH_ADDRESSES and "@" in value:
            return _without_user(value)
        if member in _NAMED_BY:
            return _NAMED_BY[member]
        return value if member in ours or _ID_OR_TIME.fullmatch(value) else self.in_words(value)


def _pattern_of(name: str) -> str:
    """The pattern of a name in text. One of our words counts only before a host, after a domain and as a home."""
    word = re.escape(name)
    if name in _OUR_WORDS:
        return (
            rf"(?<=//){word}(?=@)|(?<=[\\;]){word}(?![\w-])|(?<=/home/){word}(?![\w.-])|(?<=username=){word}(?![\w-])"
        )
    if len(name) >= _LEAST_INSIDE and not name.isdecimal():
        return word
    return rf"(?<![\w.-]){word}(?![\w-])"
