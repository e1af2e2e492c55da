"""The formats of a notebook and how one becomes the next, never by today's readers.

Limits of today must not decide what is kept. Each change of the schema is a new file in ``formats``, never a changed
one, and its name in ``_FORMATS``, which raises :data:`CURRENT_FORMAT`. Statements that several formats share stand once
in ``shared.sql``, each below its name, and are used as ``@name``. A notebook of an older format is copied beside itself
and migrated when it is opened; ``tests/storage`` keeps a dump of each old format to test that.
"""

import json
import re
from collections.abc import Callable, Mapping
from importlib.resources import files

from sqlite_utils import Database, Migrations

_FORMATS = {
    "0.1.0": "m001_series",
    "0.2.0": "m002_experiments m003_evidence m004_baselines_of_several m005_changes m006_isolations m007_loads"
    " m008_series_texts m009_windows_of_trials m010_owners_of_loads",
    "0.3.0": "m011_recordings",
    "0.4.0": "m012_flushed",
}
_NEEDS = {name: version for version, names in _FORMATS.items() for name in names.split()}
"""The version that each format needs; the statements are in ``formats``, frozen: a change is a new migration."""
CURRENT_FORMAT = len(_NEEDS)


def _is_whole(value: object, least: int, most: float) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and least <= value <= most and value % 1 == 0


def _is_above_zero(value: object, most: float) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and 0 < value <= most


_ENDLESS = 1e300
_SETTINGS_OF_FORMAT_3: dict[str, Callable[[object], bool]] = {
    "block_bytes": lambda value: _is_whole(value, 1, _ENDLESS),
    "in_flight": lambda value: _is_whole(value, 1, 512),
    "sign": lambda value: isinstance(value, bool),
    "encrypt": lambda value: isinstance(value, bool),
    "timeout_seconds": lambda value: _is_above_zero(value, 86_400),
    "drop_cache": lambda value: isinstance(value, bool),
}
_PLAN_OF_FORMAT_3: dict[str, Callable[[object], bool]] = {
    "runs": lambda value: _is_whole(value, 0, 100_000),
    "warmups": lambda value: _is_whole(value, 0, 1000),
    "until_percent": lambda value: _is_above_zero(value, 100),
    "max_runs": lambda value: _is_whole(value, 0, 100_000),
    "size_bytes": lambda value: _is_whole(value, 1, _ENDLESS),
    "make_file": lambda value: isinstance(value, bool),
    "verify": lambda value: isinstance(value, bool),
    "client": lambda value: isinstance(value, str),
    "settings": lambda value: _fits(value, _SETTINGS_OF_FORMAT_3),
    "quiet_time": lambda value: value in ("record", "require", "skip"),
    "server_ssh": lambda value: isinstance(value, str),
    "smb_conf": lambda value: isinstance(value, str),
    "ceiling": lambda value: value in ("record", "renew", "skip"),
}
_VERDICTS_OF_FORMAT_3 = ("quiet", "typical", "busy", "unknown", None)


def _fits(value: object, checks: Mapping[str, Callable[[object], bool]]) -> bool:
    return isinstance(value, dict) and all(value.get(name) is None or fit(value[name]) for name, fit in checks.items())


def _was_quiet(value: object) -> bool:
    if not isinstance(value, dict) or value.get("verdict") not in _VERDICTS_OF_FORMAT_3:
        return False
    reasons = value.get("reasons") or []
    if not isinstance(reasons, list) or not all(isinstance(reason, str) for reason in reasons):
        return False
    figures = (value[name] for name in value if name not in {"verdict", "reasons"})
    return all(
        one is None or (not isinstance(one, bool) and isinstance(one, int | float) and abs(one) < _ENDLESS)
        for one in figures
    )


def sql(name: str, folder: str = "statements") -> str:
    return files("storage").joinpath(folder, f"{name}.sql").read_text(encoding="utf-8")


def _migration(number: int, name: str) -> Callable[[Database], None]:
    def migrate(db: Database) -> None:
        parts = dict(part.rstrip("\n").split("\n", 1) for part in sql("shared", "formats").split("-- @")[1:])
        script = sql(name, "formats")
        while "@" in script:
            script = re.sub(r"^ *@(\w+)|@(\w+)", lambda match: parts[match[1] or match[2]], script, flags=re.MULTILINE)
        for statement in filter(str.strip, script.split(";\n")):
            db.execute(statement)  # ``executescript`` would commit the migration's transaction
        if number == 3:  # an earlier version imported them unchecked
            for series_id, *texts in db.execute('SELECT id, "plan", quiet FROM series').fetchall():
                plan, quiet = (json.loads(text or "null") for text in texts)
                if plan is not None and not _fits(plan, _PLAN_OF_FORMAT_3):
                    db.execute("UPDATE series SET \"plan\" = '{}' WHERE id = ?", (series_id,))
                if quiet is not None and not _was_quiet(quiet):
                    db.execute("UPDATE series SET quiet = NULL WHERE id = ?", (series_id,))
        db.table("notebook_formats").insert({"format": number, "needs_version": _NEEDS[name]})

    return migrate


migrations = Migrations("sharebench")
for _number, _name in enumerate(_NEEDS, start=1):
    migrations(name=_name)(_migration(_number, _name))
