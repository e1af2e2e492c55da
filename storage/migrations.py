"""The notebook's schema, one migration after the other; a notebook says itself which version of us it needs."""

import json
from collections.abc import Callable, Mapping

from sqlite_utils import Database, Migrations

from storage.schema import (
    ISOLATION_TABLES,
    LOAD_TABLES,
    OWNERS_OF_LOADS,
    RECORDING_TABLES,
    RECORDING_TEXTS,
    SERIES_TEXTS,
    WINDOWS_OF_TRIALS,
)

migrations = Migrations("sharebench")

_SERIES_TABLES = """
CREATE TABLE notebook_formats (
    format INTEGER PRIMARY KEY,
    needs_version TEXT NOT NULL
) STRICT;

CREATE TABLE series (
    id TEXT PRIMARY KEY,
    created_at TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('complete', 'interrupted', 'failed')),
    error TEXT,
    title TEXT NOT NULL DEFAULT '',
    label TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    experiment TEXT,
    base_id TEXT REFERENCES series (id) ON DELETE SET NULL,
    decision TEXT CHECK (decision IN ('kept', 'reverted')),
    change_name TEXT,
    change_value TEXT,
    change_previous TEXT,
    change_evidence TEXT CHECK (change_evidence IN ('confirmed', 'unconfirmed', 'contradicted')),
    change_also_changed TEXT CHECK (change_also_changed IS NULL OR json_valid(change_also_changed)),
    change_remark TEXT,
    command TEXT NOT NULL CHECK (command IN ('get', 'put')),
    protocol TEXT NOT NULL,
    host TEXT NOT NULL DEFAULT '',
    port INTEGER,
    share TEXT,
    path TEXT NOT NULL DEFAULT '',
    user TEXT,
    domain TEXT,
    client TEXT NOT NULL,
    client_version TEXT NOT NULL DEFAULT '',
    dialect TEXT,
    signing TEXT,
    encryption TEXT,
    block_bytes INTEGER,
    in_flight INTEGER,
    link_bits_per_second INTEGER,
    ceiling_bytes_per_second REAL,
    "plan" TEXT NOT NULL DEFAULT '{}' CHECK (json_valid("plan")),
    scratch_path TEXT,
    quiet TEXT CHECK (quiet IS NULL OR json_valid(quiet))
) STRICT;
CREATE INDEX series_by_time ON series (created_at);
CREATE INDEX series_by_experiment ON series (experiment) WHERE experiment IS NOT NULL;
CREATE INDEX series_by_base ON series (base_id) WHERE base_id IS NOT NULL;

CREATE TABLE runs (
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    phase TEXT NOT NULL CHECK (phase IN ('warm-up', 'measured')),
    number INTEGER NOT NULL CHECK (number > 0),
    status TEXT NOT NULL CHECK (status IN ('valid', 'rejected', 'failed')),
    reason TEXT,
    started_at TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    seconds REAL,
    open_seconds REAL,
    close_seconds REAL,
    error TEXT,
    progress TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(progress)),
    PRIMARY KEY (series_id, phase, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_rate ON runs (series_id, phase, status, size_bytes, seconds);

CREATE TABLE facts (
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    side TEXT NOT NULL CHECK (side IN ('client', 'server', 'path')),
    name TEXT NOT NULL,
    value ANY NOT NULL,
    PRIMARY KEY (series_id, side, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE baselines (
    name TEXT PRIMARY KEY,
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    set_at TEXT NOT NULL
) STRICT;

CREATE TABLE ceilings (
    key TEXT PRIMARY KEY,
    bytes_per_second REAL NOT NULL,
    measured_at TEXT NOT NULL
) STRICT;

CREATE TABLE worksheets (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    saved_at TEXT NOT NULL,
    content TEXT NOT NULL CHECK (json_valid(content)),
    PRIMARY KEY (kind, name)
) STRICT;

CREATE TABLE remembered (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT;

CREATE VIEW form_rows AS
SELECT
    series.id AS series_id,
    runs.phase,
    runs.number AS run_number,
    runs.size_bytes,
    runs.seconds,
    runs.size_bytes / runs.seconds AS bytes_per_second,
    8 * runs.size_bytes / runs.seconds AS bits_per_second,
    800 * runs.size_bytes / runs.seconds / series.link_bits_per_second AS percent_of_link,
    runs.status,
    runs.reason
FROM runs JOIN series ON series.id = runs.series_id
ORDER BY series.created_at, series.id, runs.phase DESC, runs.number;
"""


_EXPERIMENTS = """
CREATE TABLE experiments (
    name TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL DEFAULT '',
    created_at TEXT NOT NULL
) STRICT;

ALTER TABLE series RENAME COLUMN experiment TO old_experiment;
ALTER TABLE series ADD COLUMN experiment TEXT REFERENCES experiments (name) ON UPDATE CASCADE;

UPDATE series SET old_experiment = 'selftest ' || coalesce(nullif(host, ''), path)
    || ' ' || replace(substr(created_at, 1, 19), 'T', ' ')
WHERE label = 'self-test, first' AND old_experiment IS NULL AND EXISTS (
    SELECT 1 FROM series AS second
    WHERE second.rowid = series.rowid + 1 AND second.label = 'self-test, second' AND second.old_experiment IS NULL
    AND second.title = series.title AND second.command = series.command
);
UPDATE series SET old_experiment = (SELECT old_experiment FROM series AS first WHERE first.rowid = series.rowid - 1)
WHERE label = 'self-test, second' AND old_experiment IS NULL AND EXISTS (
    SELECT 1 FROM series AS first
    WHERE first.rowid = series.rowid - 1 AND first.label = 'self-test, first' AND first.old_experiment GLOB 'selftest *'
    AND first.title = series.title AND first.command = series.command
);

INSERT INTO experiments (name, kind, subject, created_at)
SELECT old_experiment,
    CASE
        WHEN old_experiment GLOB 'survey *' THEN 'survey'
        WHEN max(label GLOB 'self-test, *') AND old_experiment GLOB 'selftest *' THEN 'selftest'
        ELSE 'ladder'
    END,
    CASE
        WHEN old_experiment GLOB 'survey ?* 2???-??-?? ??:??:??'
            THEN substr(old_experiment, 8, length(old_experiment) - 27)
        WHEN max(label GLOB 'self-test, *') AND old_experiment GLOB 'selftest ?* 2???-??-?? ??:??:??'
            THEN substr(old_experiment, 10, length(old_experiment) - 29)
        ELSE ''
    END,
    min(created_at)
FROM series WHERE old_experiment IS NOT NULL GROUP BY old_experiment;

UPDATE series SET experiment = old_experiment;
DROP INDEX series_by_experiment;
ALTER TABLE series DROP COLUMN old_experiment;
CREATE INDEX series_by_experiment ON series (experiment) WHERE experiment IS NOT NULL;
CREATE INDEX experiments_by_kind ON experiments (kind, subject);
"""


_EVIDENCE = """
DROP VIEW form_rows;
ALTER TABLE runs RENAME TO old_runs;
DROP INDEX runs_by_rate;
CREATE TABLE runs (
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    phase TEXT NOT NULL CHECK (phase IN ('warm-up', 'measured')),
    number INTEGER NOT NULL CHECK (number > 0),
    status TEXT NOT NULL CHECK (status IN ('valid', 'rejected', 'failed')),
    reason TEXT,
    started_at TEXT NOT NULL,
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    seconds REAL,
    open_seconds REAL,
    close_seconds REAL,
    error TEXT,
    progress TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(progress)),
    PRIMARY KEY (series_id, phase, number),
    CHECK (status = 'failed' OR (size_bytes > 0 AND seconds IS NOT NULL AND seconds > 0 AND seconds < 1e300))
) STRICT, WITHOUT ROWID;
INSERT INTO runs SELECT series_id, phase, number, status, reason, started_at, size_bytes, seconds, open_seconds,
    close_seconds, error, progress
FROM old_runs WHERE size_bytes > 0 AND seconds > 0 AND seconds < 1e300;
INSERT INTO runs SELECT series_id, phase, number, 'failed', NULL, started_at, max(size_bytes, 0), NULL, NULL, NULL,
    coalesce(error, 'this cannot have been: ' || size_bytes || ' bytes in ' || coalesce(seconds, 'no') || ' seconds'),
    progress
FROM old_runs WHERE NOT coalesce(size_bytes > 0 AND seconds > 0 AND seconds < 1e300, 0);
DROP TABLE old_runs;
CREATE INDEX runs_by_rate ON runs (series_id, phase, status, size_bytes, seconds);
CREATE TABLE failed_attempts (
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL CHECK (attempt > 0),
    phase TEXT NOT NULL CHECK (phase IN ('warm-up', 'measured')),
    number INTEGER NOT NULL CHECK (number > 0),
    started_at TEXT NOT NULL,
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    seconds REAL,
    open_seconds REAL,
    close_seconds REAL,
    error TEXT,
    progress TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(progress)),
    PRIMARY KEY (series_id, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE resumptions (
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    resumed_at TEXT NOT NULL,
    PRIMARY KEY (series_id, resumed_at)
) STRICT, WITHOUT ROWID;
CREATE TABLE owners (
    series_id TEXT PRIMARY KEY REFERENCES series (id) ON DELETE CASCADE,
    host TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    process_id INTEGER NOT NULL,
    process_started TEXT NOT NULL,
    since TEXT NOT NULL,
    renewed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
ALTER TABLE series ADD COLUMN imported_at TEXT;
ALTER TABLE series ADD COLUMN stored_order INTEGER NOT NULL DEFAULT 0;
UPDATE series SET stored_order = rowid;
CREATE INDEX series_by_order ON series (stored_order);

CREATE VIEW form_rows AS
SELECT
    series.id AS series_id,
    runs.phase,
    runs.number AS run_number,
    runs.size_bytes,
    runs.seconds,
    runs.size_bytes / runs.seconds AS bytes_per_second,
    8 * runs.size_bytes / runs.seconds AS bits_per_second,
    800 * runs.size_bytes / runs.seconds / series.link_bits_per_second AS percent_of_link,
    runs.status,
    runs.reason
FROM runs JOIN series ON series.id = runs.series_id
ORDER BY series.stored_order, series.id, runs.phase DESC, runs.number;
"""


_BASELINES_OF_SEVERAL = """
ALTER TABLE baselines RENAME TO old_baselines;
CREATE TABLE baselines (
    name TEXT NOT NULL,
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    set_at TEXT NOT NULL,
    PRIMARY KEY (name, series_id)
) STRICT;
INSERT INTO baselines (name, series_id, set_at) SELECT name, series_id, set_at FROM old_baselines;
DROP TABLE old_baselines;
CREATE INDEX baselines_by_series ON baselines (series_id);
"""


_CHANGES = """
CREATE TABLE changes (
    id TEXT PRIMARY KEY,
    created_at TEXT NOT NULL,
    experiment TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    machine TEXT NOT NULL,
    ssh TEXT,
    undo_path TEXT NOT NULL,
    undo_script TEXT NOT NULL,
    effective_before TEXT,
    configuration_before TEXT NOT NULL,
    owner TEXT NOT NULL CHECK (json_valid(owner)),
    state TEXT NOT NULL CHECK (state IN ('open', 'undone')),
    ended_at TEXT
) STRICT;
CREATE TABLE trials (
    experiment TEXT PRIMARY KEY REFERENCES experiments (name) ON DELETE CASCADE,
    plan TEXT NOT NULL CHECK (json_valid(plan))
) STRICT, WITHOUT ROWID;
CREATE TABLE trial_slots (
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number > 0),
    position INTEGER NOT NULL CHECK (position >= 0),
    control_seconds REAL NOT NULL,
    PRIMARY KEY (series_id, number)
) STRICT, WITHOUT ROWID;
"""


def _declare(db: Database, format_number: int, needs_version: str) -> None:
    db.table("notebook_formats").insert({"format": format_number, "needs_version": needs_version})


def _run_script(db: Database, script: str) -> None:
    """Each statement by itself: ``executescript`` would commit the migration's transaction."""
    for statement in script.split(";\n"):
        if statement.strip():
            db.execute(statement)


@migrations()
def m001_series(db: Database) -> None:
    """Series with their runs and facts, baselines, ceilings, worksheets, what the guide remembers."""
    _run_script(db, _SERIES_TABLES)
    _declare(db, 1, "0.1.0")


@migrations()
def m002_experiments(db: Database) -> None:
    """Experiments with their kind, in place of names that begin with "survey " and labels of self-tests."""
    _run_script(db, _EXPERIMENTS)
    _declare(db, 2, "0.2.0")


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
    """Forget plans and quiet times that are none: an earlier version imported them as they stood."""
    for series_id, *texts in db.execute('SELECT id, "plan", quiet FROM series').fetchall():
        plan, quiet = (json.loads(text or "null") for text in texts)
        if plan is not None and not _fits(plan, _PLAN_OF_FORMAT_3):
            db.execute("UPDATE series SET \"plan\" = '{}' WHERE id = ?", (series_id,))
        if quiet is not None and not _was_quiet(quiet):
            db.execute("UPDATE series SET quiet = NULL WHERE id = ?", (series_id,))


@migrations()
def m003_evidence(db: Database) -> None:
    """Valid runs that are possible; owners, attempts, resumptions, and the order in which series were stored."""
    _run_script(db, _EVIDENCE)
    _forget_unreadable(db)
    _declare(db, 3, "0.2.0")


@migrations()
def m004_baselines_of_several(db: Database) -> None:
    """Baselines that name several series of the same settings, so that their variation is known."""
    _run_script(db, _BASELINES_OF_SEVERAL)
    _declare(db, 4, "0.2.0")


@migrations()
def m005_changes(db: Database) -> None:
    """Settings that sharebench changes itself: the journal of changes, plans of trials, the order of their runs."""
    _run_script(db, _CHANGES)
    _declare(db, 5, "0.2.0")


@migrations()
def m006_isolations(db: Database) -> None:
    """Isolations and the runs of their layers."""
    _run_script(db, ISOLATION_TABLES)
    _declare(db, 6, "0.2.0")


@migrations()
def m007_loads(db: Database) -> None:
    """Loads with their points: many users at once."""
    _run_script(db, LOAD_TABLES)
    _declare(db, 7, "0.2.0")


@migrations()
def m008_series_texts(db: Database) -> None:
    """What a filter looks through, made once for each series; an index that lists all series by itself."""
    _run_script(db, SERIES_TEXTS)
    _declare(db, 8, "0.2.0")


@migrations()
def m009_windows_of_trials(db: Database) -> None:
    """Requests a second of a trial's runs, where they are windows of a load."""
    _run_script(db, WINDOWS_OF_TRIALS)
    _declare(db, 9, "0.2.0")


@migrations()
def m010_owners_of_loads(db: Database) -> None:
    """Who measures a load, as of series and isolations: it is not gone on with meanwhile."""
    _run_script(db, OWNERS_OF_LOADS)
    _declare(db, 10, "0.2.0")


@migrations()
def m011_recordings(db: Database) -> None:
    """One table for what every kind of measurement has; trials, surveys and self-tests become recordings too."""
    _run_script(db, RECORDING_TABLES)
    _run_script(db, RECORDING_TEXTS)
    _declare(db, 11, "0.3.0")


CURRENT_FORMAT = 11
