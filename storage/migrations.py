"""The formats of a notebook's tables, and how one becomes the next.

Each change of the tables is a new file in ``formats``, never a changed one, and its name in ``_FORMATS``, which raises
:data:`CURRENT_FORMAT`. Statements that several formats share stand once in ``shared.sql``, each below its name, and are
used as ``@name``. A notebook of an older format is copied beside itself and migrated when it is opened;
``tests/storage`` keeps a dump of each old format to test that.

A migration uses nothing of today's records and readers: what they allow changes, and must not decide what is kept of
an old notebook. So the checks of format 3 are written out here.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    from storage.sqlite_library import Database, Migrations

_FORMATS = {
    "0.1.0": "m001_series",
    "0.2.0": "m002_experiments m003_evidence m004_baselines_of_several m005_changes m006_isolations m007_loads"
    " m008_series_texts m009_windows_of_trials m010_owners_of_loads",
    "0.3.0": "m011_recordings",
    "0.4.0": "m012_flushed m013_requests",
}
"""The formats in order, by the first version of sharebench that had them."""


def _versions_by_format() -> dict[str, str]:
    versions: dict[str, str] = {}
    for version, names in _FORMATS.items():
        versions |= dict.fromkeys(names.split(), version)
    return versions


_NEEDS = _versions_by_format()
"""The version that each format needs, by the format's name."""
CURRENT_FORMAT = len(_NEEDS)
"""The number of the newest format; the first is 1."""


# The checks of values that format 3 stored, frozen.


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: object, least: int, most: float) -> bool:
    return _is_number(value) and least <= value <= most and value % 1 == 0


def _is_above_zero(value: object, most: float) -> bool:
    return _is_number(value) and 0 < value <= most


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


_ENDLESS = 1e300
_SETTINGS_OF_FORMAT_3: dict[str, Callable[[object], bool]] = {
    "block_bytes": partial(_is_whole, least=1, most=_ENDLESS),
    "in_flight": partial(_is_whole, least=1, most=512),
    "sign": _is_flag,
    "encrypt": _is_flag,
    "timeout_seconds": partial(_is_above_zero, most=86_400),
    "drop_cache": _is_flag,
}


def _fits(value: object, checks: Mapping[str, Callable[[object], bool]]) -> bool:
    """Whether it is an object whose members, as far as they are there, are what they must be."""
    if not isinstance(value, dict):
        return False
    return all(value.get(name) is None or is_fit(value[name]) for name, is_fit in checks.items())


_PLAN_OF_FORMAT_3: dict[str, Callable[[object], bool]] = {
    "runs": partial(_is_whole, least=0, most=100_000),
    "warmups": partial(_is_whole, least=0, most=1000),
    "until_percent": partial(_is_above_zero, most=100),
    "max_runs": partial(_is_whole, least=0, most=100_000),
    "size_bytes": partial(_is_whole, least=1, most=_ENDLESS),
    "make_file": _is_flag,
    "verify": _is_flag,
    "client": _is_text,
    "settings": partial(_fits, checks=_SETTINGS_OF_FORMAT_3),
    "quiet_time": ("record", "require", "skip").__contains__,
    "server_ssh": _is_text,
    "smb_conf": _is_text,
    "ceiling": ("record", "renew", "skip").__contains__,
}
_VERDICTS_OF_FORMAT_3 = ("quiet", "typical", "busy", "unknown", None)


def _was_quiet(value: object) -> bool:
    if not isinstance(value, dict) or value.get("verdict") not in _VERDICTS_OF_FORMAT_3:
        return False
    reasons = value.get("reasons") or []
    if not isinstance(reasons, list) or not all(isinstance(reason, str) for reason in reasons):
        return False

    figures = [value[name] for name in value if name not in {"verdict", "reasons"}]
    return all(figure is None or (_is_number(figure) and abs(figure) < _ENDLESS) for figure in figures)


def sql(name: str, folder: str = "statements") -> str:
    """The text of a file of SQL."""
    return Path(__file__).with_name(folder).joinpath(f"{name}.sql").read_text(encoding="utf-8")


def _script(name: str) -> str:
    """The statements of a format, with those that several formats share in place of their names."""
    shared_parts = sql("shared", "formats").split("-- @")[1:]
    statements_by_name = dict(part.rstrip("\n").split("\n", 1) for part in shared_parts)

    def shared_statements(match: re.Match[str]) -> str:
        return statements_by_name[match[1] or match[2]]

    script = sql(name, "formats")
    while "@" in script:  # shared statements name others
        script = re.sub(r"^ *@(\w+)|@(\w+)", shared_statements, script, flags=re.MULTILINE)
    return script


def _drop_unfit_plans(db: "Database") -> None:
    """Before format 3 plans and verdicts of quiet were imported unchecked."""
    rows = db.execute('SELECT id, "plan", quiet FROM series').fetchall()
    for series_id, plan_text, quiet_text in rows:
        plan = json.loads(plan_text or "null")
        if plan is not None and not _fits(plan, _PLAN_OF_FORMAT_3):
            db.execute("UPDATE series SET \"plan\" = '{}' WHERE id = ?", (series_id,))

        quiet = json.loads(quiet_text or "null")
        if quiet is not None and not _was_quiet(quiet):
            db.execute("UPDATE series SET quiet = NULL WHERE id = ?", (series_id,))


def _migration(number: int, name: str) -> "Callable[[Database], None]":
    """The function that makes a notebook of the format before into one of this."""

    def migrate(db: "Database") -> None:
        for statement in _script(name).split(";\n"):
            if statement.strip():
                db.execute(statement)  # ``executescript`` would commit the migration's transaction
        if number == 3:
            _drop_unfit_plans(db)
        db.table("notebook_formats").insert({"format": number, "needs_version": _NEEDS[name]})

    return migrate


@cache
def migrations() -> "Migrations":
    """All of them, in order. A notebook of the newest format needs none, and sqlite-utils is not loaded for it."""
    from storage.sqlite_library import Migrations

    in_order = Migrations("sharebench")
    for number, name in enumerate(_NEEDS, start=1):
        in_order(name=name)(_migration(number, name))
    return in_order
