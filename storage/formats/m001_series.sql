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
