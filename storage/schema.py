"""The migrations' statements, frozen: a change of the schema is a new migration."""

SHARED = {
    "@form_rows": """CREATE VIEW form_rows AS
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
FROM runs JOIN series ON series.id = runs.series_id""",
    "    @load_point": """    number INTEGER NOT NULL,
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
) STRICT;""",
    "    @owner": """    host TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    process_id INTEGER NOT NULL,
    process_started TEXT NOT NULL,
    since TEXT NOT NULL,
    renewed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;""",
    "    @series_columns\n": """    decision TEXT CHECK (decision IN ('kept', 'reverted')),
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
""",
    "    @run\n": """    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    phase TEXT NOT NULL CHECK (phase IN ('warm-up', 'measured')),
    number INTEGER NOT NULL CHECK (number > 0),
    status TEXT NOT NULL CHECK (status IN ('valid', 'rejected', 'failed')),
    reason TEXT,
    started_at TEXT NOT NULL,
""",
    "    @times\n": """    seconds REAL,
    open_seconds REAL,
    close_seconds REAL,
    error TEXT,
    progress TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(progress)),
""",
}
"""Parts that several migrations share, by their placeholders."""
SERIES_TABLES = """
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
    @series_columns
    scratch_path TEXT,
    quiet TEXT CHECK (quiet IS NULL OR json_valid(quiet))
) STRICT;
CREATE INDEX series_by_time ON series (created_at);
CREATE INDEX series_by_experiment ON series (experiment) WHERE experiment IS NOT NULL;
CREATE INDEX series_by_base ON series (base_id) WHERE base_id IS NOT NULL;

CREATE TABLE runs (
    @run
    size_bytes INTEGER NOT NULL,
    @times
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

@form_rows
ORDER BY series.created_at, series.id, runs.phase DESC, runs.number;
"""


EXPERIMENTS = """
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


EVIDENCE = """
DROP VIEW form_rows;
ALTER TABLE runs RENAME TO old_runs;
DROP INDEX runs_by_rate;
CREATE TABLE runs (
    @run
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    @times
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
    @times
    PRIMARY KEY (series_id, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE resumptions (
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    resumed_at TEXT NOT NULL,
    PRIMARY KEY (series_id, resumed_at)
) STRICT, WITHOUT ROWID;
CREATE TABLE owners (
    series_id TEXT PRIMARY KEY REFERENCES series (id) ON DELETE CASCADE,
    @owner
ALTER TABLE series ADD COLUMN imported_at TEXT;
ALTER TABLE series ADD COLUMN stored_order INTEGER NOT NULL DEFAULT 0;
UPDATE series SET stored_order = rowid;
CREATE INDEX series_by_order ON series (stored_order);

@form_rows
ORDER BY series.stored_order, series.id, runs.phase DESC, runs.number;
"""


BASELINES_OF_SEVERAL = """
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


CHANGES = """
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
    @load_point
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

RECORDING_TABLES = """
CREATE TABLE recordings (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    created_at TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('complete', 'interrupted', 'failed')),
    error TEXT,
    label TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    question TEXT NOT NULL DEFAULT '',
    subject TEXT NOT NULL DEFAULT '',
    part_of TEXT REFERENCES recordings (id) ON DELETE CASCADE,
    imported_at TEXT,
    leftovers TEXT CHECK (leftovers IS NULL OR json_valid(leftovers)),
    content TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(content)),
    stored_order INTEGER NOT NULL
) STRICT;
CREATE INDEX recordings_by_time ON recordings (created_at, stored_order, id, kind, part_of);
CREATE INDEX recordings_by_order ON recordings (stored_order, id, kind, part_of);
CREATE INDEX recordings_by_whole ON recordings (part_of) WHERE part_of IS NOT NULL;
CREATE INDEX recordings_by_leftovers ON recordings (created_at) WHERE leftovers IS NOT NULL;
CREATE TABLE leases (
    recording_id TEXT PRIMARY KEY REFERENCES recordings (id) ON DELETE CASCADE,
    @owner
ALTER TABLE experiments ADD COLUMN recording_id TEXT REFERENCES recordings (id) ON DELETE CASCADE;
CREATE INDEX experiments_by_recording ON experiments (recording_id) WHERE recording_id IS NOT NULL;
CREATE TEMP TABLE old_orders AS
    SELECT id, stored_order AS place, 0 AS later FROM series
    UNION ALL SELECT id, coalesce((SELECT max(stored_order) FROM series
        WHERE coalesce(series.imported_at, series.created_at) <= coalesce(loads.imported_at, loads.created_at)), 0), 1
        FROM loads
    UNION ALL SELECT id, coalesce((SELECT max(stored_order) FROM series
        WHERE coalesce(series.imported_at, series.created_at) <= coalesce(isolations.imported_at, isolations.created_at)
        ), 0), 2 FROM isolations;
UPDATE experiments SET recording_id = lower(hex(randomblob(6)))
WHERE kind != 'ladder' AND EXISTS (SELECT 1 FROM series WHERE series.experiment = experiments.name);
INSERT INTO old_orders
SELECT recording_id, (SELECT max(stored_order) FROM series WHERE experiment = experiments.name), 3
FROM experiments WHERE recording_id IS NOT NULL;
CREATE TEMP TABLE new_orders AS
    SELECT id, later, row_number() OVER (ORDER BY place, later, id) AS stored_order FROM old_orders;
INSERT INTO recordings (id, kind, created_at, status, subject, imported_at, content, stored_order)
SELECT recording_id, kind, experiments.created_at,
    CASE WHEN max(series.status = 'interrupted') THEN 'interrupted'
        WHEN min(series.status = 'failed') THEN 'failed' ELSE 'complete' END,
    experiments.name,
    CASE WHEN min(series.imported_at IS NOT NULL) THEN max(series.imported_at) END,
    coalesce((SELECT "plan" FROM trials WHERE trials.experiment = experiments.name), '{}'),
    (SELECT stored_order FROM new_orders WHERE new_orders.id = recording_id AND later = 3)
FROM experiments JOIN series ON series.experiment = experiments.name
WHERE recording_id IS NOT NULL GROUP BY experiments.name;
INSERT INTO recordings (id, kind, created_at, status, error, label, note, part_of, imported_at, leftovers, stored_order)
SELECT series.id, 'series', series.created_at, status, error, label, note, recording_id, imported_at,
    CASE WHEN scratch_path IS NOT NULL THEN json_object('scratch_path', scratch_path) END,
    (SELECT stored_order FROM new_orders WHERE new_orders.id = series.id AND later = 0)
FROM series LEFT JOIN experiments ON experiments.name = series.experiment;
INSERT INTO leases SELECT series_id, host, boot_id, process_id, process_started, since, renewed_at FROM owners;
DROP TABLE owners;
DROP VIEW form_rows;
DROP TABLE series_texts;
DROP TRIGGER series_text_of_added;
DROP TRIGGER series_text_of_changed;
CREATE TABLE new_series (
    id TEXT PRIMARY KEY REFERENCES recordings (id) ON DELETE CASCADE,
    title TEXT NOT NULL DEFAULT '',
    experiment TEXT REFERENCES experiments (name) ON UPDATE CASCADE,
    base_id TEXT REFERENCES new_series (id) ON DELETE SET NULL,
    @series_columns
    quiet TEXT CHECK (quiet IS NULL OR json_valid(quiet))
) STRICT;
INSERT INTO new_series SELECT id, title, experiment, base_id, decision, change_name, change_value, change_previous,
    change_evidence, change_also_changed, change_remark, command, protocol, host, port, share, path, user, domain,
    client, client_version, dialect, signing, encryption, block_bytes, in_flight, link_bits_per_second,
    ceiling_bytes_per_second, "plan", quiet FROM series ORDER BY stored_order;
DROP TABLE series;
ALTER TABLE new_series RENAME TO series;
CREATE INDEX series_by_experiment ON series (experiment) WHERE experiment IS NOT NULL;
CREATE INDEX series_by_base ON series (base_id) WHERE base_id IS NOT NULL;
@form_rows JOIN recordings ON recordings.id = series.id
ORDER BY recordings.stored_order, series.id, runs.phase DESC, runs.number;
ALTER TABLE baselines RENAME TO old_baselines;
DROP INDEX baselines_by_series;
CREATE TABLE baselines (
    name TEXT NOT NULL,
    recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
    set_at TEXT NOT NULL,
    PRIMARY KEY (name, recording_id)
) STRICT;
INSERT INTO baselines SELECT name, series_id, set_at FROM old_baselines;
DROP TABLE old_baselines;
CREATE INDEX baselines_by_recording ON baselines (recording_id, name);
CREATE TEMP TABLE new_ids AS
    SELECT id, 'load' AS kind, CASE WHEN id IN (SELECT id FROM recordings) THEN lower(hex(randomblob(6))) ELSE id END
        AS new_id FROM loads
    UNION ALL SELECT id, 'isolation', CASE WHEN id IN (SELECT id FROM recordings UNION ALL SELECT id FROM loads)
        THEN lower(hex(randomblob(6))) ELSE id END FROM isolations;
INSERT INTO recordings
    (id, kind, created_at, status, error, label, note, subject, imported_at, leftovers, content, stored_order)
SELECT new_id, 'load', created_at, status, error, label, note,
    scenario || ' ' || json_extract(targets, '$[0].protocol') || '://' || json_extract(targets, '$[0].host')
        || coalesce('/' || json_extract(targets, '$[0].share'), ''),
    imported_at,
    CASE WHEN scratch_folder IS NOT NULL THEN json_object('scratch_folder', scratch_folder) END,
    json_object('targets', json(targets), 'scenario', json("plan" -> '$.scenario'),
        'choices', json("plan" -> '$.choices'), 'link_bits_per_second', link_bits_per_second,
        'file_set_bytes', file_set_bytes, 'server_memory_bytes', server_memory_bytes, 'workers', json(workers),
        'environment', json(environment), 'capacity', json(capacity)),
    (SELECT stored_order FROM new_orders WHERE new_orders.id = loads.id AND later = 1)
FROM loads JOIN new_ids ON new_ids.id = loads.id AND new_ids.kind = 'load';
INSERT INTO leases SELECT new_id, owner ->> '$.host', owner ->> '$.boot_id', owner ->> '$.process_id',
    owner ->> '$.process_started', owner ->> '$.since', owner ->> '$.renewed_at'
FROM loads JOIN new_ids ON new_ids.id = loads.id AND new_ids.kind = 'load'
WHERE owner ->> '$.renewed_at' IS NOT NULL AND owner ->> '$.since' IS NOT NULL;
INSERT INTO baselines SELECT
    CASE WHEN name IN (SELECT name FROM baselines) THEN name || ' (load)' ELSE name END, new_id, set_at
FROM load_names JOIN new_ids ON new_ids.id = load_id AND new_ids.kind = 'load';
ALTER TABLE load_points RENAME TO old_points;
CREATE TABLE load_points (
    load_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
    @load_point
INSERT INTO load_points SELECT new_id, number, users, connected, status, reason, seconds, requests, requests_per_second,
    read_bytes_per_second, write_bytes_per_second, response_p95_seconds, figures
FROM old_points JOIN new_ids ON new_ids.id = load_id AND new_ids.kind = 'load';
DROP TABLE old_points;
DROP TABLE load_names;
DROP TABLE loads;
INSERT INTO recordings
    (id, kind, created_at, status, error, label, subject, imported_at, leftovers, content, stored_order)
SELECT new_id, 'isolation', created_at, status, error, label,
    'smb://' || coalesce(content ->> '$.target.host', '') || coalesce('/' || (content ->> '$.target.share'), ''),
    imported_at, left_behind, content,
    (SELECT stored_order FROM new_orders WHERE new_orders.id = isolations.id AND later = 2)
FROM isolations JOIN new_ids ON new_ids.id = isolations.id AND new_ids.kind = 'isolation';
INSERT INTO leases SELECT new_id, owner ->> '$.host', owner ->> '$.boot_id', owner ->> '$.process_id',
    owner ->> '$.process_started', owner ->> '$.since', owner ->> '$.renewed_at'
FROM isolations JOIN new_ids ON new_ids.id = isolations.id AND new_ids.kind = 'isolation'
WHERE owner ->> '$.renewed_at' IS NOT NULL AND owner ->> '$.since' IS NOT NULL;
ALTER TABLE layer_runs RENAME TO old_layer_runs;
CREATE TABLE layer_runs (
    isolation_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
    round INTEGER NOT NULL CHECK (round > 0),
    layer TEXT NOT NULL,
    clients INTEGER NOT NULL CHECK (clients > 0),
    status TEXT NOT NULL CHECK (status IN ('valid', 'rejected', 'failed')),
    reason TEXT,
    seconds REAL NOT NULL,
    bytes_per_second REAL NOT NULL,
    content TEXT NOT NULL CHECK (json_valid(content)),
    PRIMARY KEY (isolation_id, round, layer, clients)
) STRICT, WITHOUT ROWID;
INSERT INTO layer_runs SELECT new_id, round, layer, clients, status, NULL, seconds, bytes_per_second, content
FROM old_layer_runs JOIN new_ids ON new_ids.id = isolation_id AND new_ids.kind = 'isolation';
DROP TABLE old_layer_runs;
DROP TABLE isolations;
DROP TABLE trials;
DROP TABLE new_ids;
DROP TABLE old_orders;
DROP TABLE new_orders;
"""

_FOUND_IN = """
printf('%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s', recordings.id, created_at, kind, label, question, note,
subject, title, protocol || '://' || host || coalesce(':' || port, '') || coalesce('/' || share, '') || '/'
|| trim(path, '/'), command, client, experiment, change_name)
FROM recordings LEFT JOIN series ON series.id = recordings.id"""
_ANEW = f"""
UPDATE recording_texts SET text = (SELECT {_FOUND_IN} WHERE recordings.id = new.id) WHERE recording_id = new.id
"""  # noqa: S608  our own expression

RECORDING_TEXTS = f"""
CREATE TABLE recording_texts (
    recording_id TEXT PRIMARY KEY REFERENCES recordings (id) ON DELETE CASCADE,
    text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO recording_texts (recording_id, text) SELECT recordings.id, {_FOUND_IN};
CREATE TRIGGER text_of_added_recording AFTER INSERT ON recordings
BEGIN INSERT INTO recording_texts (recording_id, text) SELECT new.id, {_FOUND_IN} WHERE recordings.id = new.id; END;
CREATE TRIGGER text_of_changed_recording AFTER UPDATE OF created_at, label, note, question, subject ON recordings
BEGIN {_ANEW}; END;
CREATE TRIGGER text_of_added_series AFTER INSERT ON series BEGIN {_ANEW}; END;
CREATE TRIGGER text_of_changed_series AFTER UPDATE ON series BEGIN {_ANEW}; END;
"""
