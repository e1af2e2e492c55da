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
