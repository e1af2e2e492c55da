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

CREATE TABLE recording_texts (
    recording_id TEXT PRIMARY KEY REFERENCES recordings (id) ON DELETE CASCADE,
    text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO recording_texts (recording_id, text) SELECT recordings.id, 
@found_in;
CREATE TRIGGER text_of_added_recording AFTER INSERT ON recordings
BEGIN INSERT INTO recording_texts (recording_id, text) SELECT new.id, 
@found_in WHERE recordings.id = new.id; END;
CREATE TRIGGER text_of_changed_recording AFTER UPDATE OF created_at, label, note, question, subject ON recordings
BEGIN 
@anew
; END;
CREATE TRIGGER text_of_added_series AFTER INSERT ON series BEGIN 
@anew
; END;
CREATE TRIGGER text_of_changed_series AFTER UPDATE ON series BEGIN 
@anew
; END;
