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
    @load_point
CREATE TABLE load_names (
    name TEXT PRIMARY KEY,
    load_id TEXT NOT NULL REFERENCES loads (id) ON DELETE CASCADE,
    set_at TEXT NOT NULL
) STRICT;
