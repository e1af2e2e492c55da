"""The notebook's migrations, never by today's readers: limits of today must not decide what is kept."""

import json
import re
from collections.abc import Callable, Mapping
from importlib.resources import files

from sqlite_utils import Database, Migrations

_NEEDS = {
    "m001_series": "0.1.0",
    "m002_experiments": "0.2.0",
    "m003_evidence": "0.2.0",
    "m004_baselines_of_several": "0.2.0",
    "m005_changes": "0.2.0",
    "m006_isolations": "0.2.0",
    "m007_loads": "0.2.0",
    "m008_series_texts": "0.2.0",
    "m009_windows_of_trials": "0.2.0",
    "m010_owners_of_loads": "0.2.0",
    "m011_recordings": "0.3.0",
}
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
    return isinstance(value, dict) and all(
        value.get(name) is None or fits(value[name]) for name, fits in checks.items()
    )


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


def _forget_unreadable(db: Database) -> None:
    """An earlier version imported them unchecked."""
    for series_id, *texts in db.execute('SELECT id, "plan", quiet FROM series').fetchall():
        plan, quiet = (json.loads(text or "null") for text in texts)
        if plan is not None and not _fits(plan, _PLAN_OF_FORMAT_3):
            db.execute("UPDATE series SET \"plan\" = '{}' WHERE id = ?", (series_id,))
        if quiet is not None and not _was_quiet(quiet):
            db.execute("UPDATE series SET quiet = NULL WHERE id = ?", (series_id,))


def _sql(name: str) -> str:
    return files("storage").joinpath("formats", f"{name}.sql").read_text(encoding="utf-8")


def _statements(name: str) -> list[str]:
    """The statements of a format, with what it shares with others in place of ``@NAME``."""
    parts = dict(part.rstrip("\n").split("\n", 1) for part in _sql("shared").split("-- @")[1:])
    script = _sql(name)
    while "@" in script:
        script = re.sub(r"^ *@(\w+)|@(\w+)", lambda match: parts[match[1] or match[2]], script, flags=re.MULTILINE)
    return [statement for statement in script.split(";\n") if statement.strip()]


def _migration(number: int, name: str) -> Callable[[Database], None]:
    def migrate(db: Database) -> None:
        for statement in _statements(name):  # ``executescript`` would commit the migration's transaction
            db.execute(statement)
        if number == 3:
            _forget_unreadable(db)
        db.table("notebook_formats").insert({"format": number, "needs_version": _NEEDS[name]})

    return migrate


migrations = Migrations("sharebench")
for _number, _name in enumerate(_NEEDS, start=1):
    migrations(name=_name)(_migration(_number, _name))
