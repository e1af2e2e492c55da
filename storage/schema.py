"""The tables of isolations and loads, the text that is searched and columns since, as their migrations made them."""

ISOLATION_TABLES = """
CREATE TABLE isolations (
    id TEXT PRIMARY KEY,
    created_at TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('complete', 'interrupted', 'failed')),
    error TEXT,
    label TEXT NOT NULL DEFAULT '',
    content TEXT NOT NULL CHECK (json_valid(content)),
    left_behind TEXT CHECK (left_behind IS NULL OR json_valid(left_behind)),
    owner TEXT CHECK (owner IS NULL OR json_valid(owner)),
    imported_at TEXT
) STRICT;
CREATE TABLE layer_runs (
    isolation_id TEXT NOT NULL REFERENCES isolations (id) ON DELETE CASCADE,
    round INTEGER NOT NULL CHECK (round > 0),
    layer TEXT NOT NULL,
    clients INTEGER NOT NULL CHECK (clients > 0),
    status TEXT NOT NULL CHECK (status IN ('valid', 'rejected', 'failed')),
    seconds REAL NOT NULL,
    bytes_per_second REAL NOT NULL,
    content TEXT NOT NULL CHECK (json_valid(content)),
    PRIMARY KEY (isolation_id, round, layer, clients)
) STRICT, WITHOUT ROWID;
"""

LOAD_TABLES = """
CREATE TABLE loads (
    id TEXT PRIMARY KEY,
    created_at TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('complete', 'interrupted', 'failed')),
    error TEXT,
    label TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    scenario TEXT NOT NULL,
    targets TEXT NOT NULL,
    "plan" TEXT NOT NULL,
    link_bits_per_second INTEGER,
    file_set_bytes INTEGER NOT NULL DEFAULT 0,
    server_memory_bytes INTEGER,
    workers TEXT NOT NULL DEFAULT '[]',
    environment TEXT NOT NULL DEFAULT '{}',
    capacity TEXT NOT NULL DEFAULT 'null',
    scratch_folder TEXT,
    imported_at TEXT,
    stored_order INTEGER NOT NULL
) STRICT;
CREATE TABLE load_points (
    load_id TEXT NOT NULL REFERENCES loads (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    users INTEGER NOT NULL,
    connected INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('valid', 'rejected', 'failed', 'generator')),
    reason TEXT,
    seconds REAL NOT NULL,
    requests INTEGER NOT NULL,
    requests_per_second REAL,
    read_bytes_per_second REAL,
    write_bytes_per_second REAL,
    response_p95_seconds REAL,
    figures TEXT NOT NULL,
    PRIMARY KEY (load_id, number)
) STRICT;
CREATE TABLE load_names (
    name TEXT PRIMARY KEY,
    load_id TEXT NOT NULL REFERENCES loads (id) ON DELETE CASCADE,
    set_at TEXT NOT NULL
) STRICT;
"""

_SEARCHED = """
printf('%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s', id, created_at, label, title, note, protocol || '://' || host
|| coalesce(':' || port, '') || coalesce('/' || share, '') || '/' || trim(path, '/'), command, client, experiment,
change_name)
"""

SERIES_TEXTS = f"""
DROP INDEX series_by_time;
CREATE INDEX series_by_time ON series (created_at, stored_order, id, experiment);
CREATE TABLE series_texts (
    series_id TEXT PRIMARY KEY REFERENCES series (id) ON DELETE CASCADE,
    text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO series_texts (series_id, text) SELECT id, {_SEARCHED} FROM series;
CREATE TRIGGER series_text_of_added AFTER INSERT ON series
BEGIN INSERT INTO series_texts (series_id, text) SELECT id, {_SEARCHED} FROM series WHERE id = new.id; END;
CREATE TRIGGER series_text_of_changed AFTER UPDATE ON series
BEGIN UPDATE series_texts SET text = (SELECT {_SEARCHED} FROM series WHERE id = new.id) WHERE series_id = new.id; END;
"""  # noqa: S608  our own expression

WINDOWS_OF_TRIALS = """
ALTER TABLE trial_slots ADD COLUMN requests_per_second REAL CHECK (requests_per_second >= 0);
ALTER TABLE trial_slots ADD COLUMN generator_limited INTEGER NOT NULL DEFAULT 0 CHECK (generator_limited IN (0, 1));
"""

OWNERS_OF_LOADS = """
ALTER TABLE loads ADD COLUMN owner TEXT CHECK (owner IS NULL OR json_valid(owner));
"""
