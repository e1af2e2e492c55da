"""A copy of a notebook without the names of users, from which anything can be exported."""

import getpass
import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlite_utils import Database

USER, DOMAIN = "user", "domain"
_NAMED_BY = {USER: USER, "users": USER, DOMAIN: DOMAIN, "owner": USER, "measured.by": USER}
_NO_PERSON = {"", "root", "anonymous", "guest", USER, DOMAIN}
_WORDS = {
    "recordings": ("error", "label", "note", "question", "subject"),
    "series": ("title", "share", "path", "change_value", "change_previous", "change_remark"),
    "runs": ("reason", "error"),
    "failed_attempts": ("error",),
    "load_points": ("reason",),
    "layer_runs": ("reason",),
    "facts": ("value",),
}
_DOCUMENTS = {
    "recordings": ("content",),
    "series": ("plan", "quiet", "change_also_changed"),
    "load_points": ("figures",),
    "layer_runs": ("content",),
}


def forget_users(path: Path) -> None:
    """Remove the names of users and domains from a notebook that nobody else has open."""
    with closing(Database(path)) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        people = {
            row[0]
            for row in db.execute("SELECT user FROM series UNION SELECT value FROM facts WHERE name = 'measured.by'")
        }
        domains = {row[0] for row in db.execute("SELECT domain FROM series")}
        for (content,) in db.execute("SELECT content FROM recordings").fetchall():
            _collect(json.loads(content), people, domains)
        names = {str(one): USER for one in {*people, getpass.getuser()} if one}
        names |= {str(one): DOMAIN for one in domains if one}
        forget = _Forget({name.casefold(): said for name, said in names.items() if name.casefold() not in _NO_PERSON})
        db.conn.create_function("in_words", 1, forget.in_words)
        db.conn.create_function("in_json", 1, forget.in_json)
        with db.atomic():
            db.execute("UPDATE series SET user = iif(user IS NULL, NULL, ?), domain = NULL", (USER,))
            db.execute("DELETE FROM facts WHERE name = 'measured.by'")
            for columns, function in ((_WORDS, "in_words"), (_DOCUMENTS, "in_json")):
                for table, names_of in columns.items():
                    assignments = ", ".join(f"{name} = {function}({name})" for name in names_of)
                    db.execute(f"UPDATE {table} SET {assignments}")  # noqa: S608  our own names


def _collect(value: Any, people: set[str], domains: set[str]) -> None:
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _collect(inner, people, domains)
    if isinstance(value, dict):
        for key, inner in value.items():
            said = _NAMED_BY.get(key)
            if said and isinstance(inner, str):
                (people if said == USER else domains).add(inner)


class _Forget:
    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        longest_first = sorted(map(re.escape, names), key=len, reverse=True)
        self._pattern = (
            re.compile(rf"(?<![\w.-])(?:{'|'.join(longest_first)})(?![\w-])", re.IGNORECASE) if names else None
        )

    def in_words(self, text: Any) -> Any:
        if self._pattern is None or not isinstance(text, str):
            return text
        return self._pattern.sub(lambda found: self._names[found[0].casefold()], text)

    def in_json(self, text: str | None) -> str | None:
        return None if text is None else json.dumps(self._clean(json.loads(text)))

    def _clean(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: self._clean(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._clean(inner, key) for inner in value]
        if not isinstance(value, str) or not value:
            return value
        if key in _NAMED_BY:
            return _NAMED_BY[key]
        return value if value.casefold() in self._names else self.in_words(value)
