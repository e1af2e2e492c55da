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
