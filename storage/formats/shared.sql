-- Parts that several formats share: what follows a name stands for @NAME in their statements.
-- @form_rows
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
-- @load_point
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
-- @owner
    host TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    process_id INTEGER NOT NULL,
    process_started TEXT NOT NULL,
    since TEXT NOT NULL,
    renewed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- @series_columns
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
-- @run
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    phase TEXT NOT NULL CHECK (phase IN ('warm-up', 'measured')),
    number INTEGER NOT NULL CHECK (number > 0),
    status TEXT NOT NULL CHECK (status IN ('valid', 'rejected', 'failed')),
    reason TEXT,
    started_at TEXT NOT NULL,
-- @times
    seconds REAL,
    open_seconds REAL,
    close_seconds REAL,
    error TEXT,
    progress TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(progress)),
-- @searched
printf('%s
%s
%s
%s
%s
%s
%s
%s
%s
%s', id, created_at, label, title, note, protocol || '://' || host
|| coalesce(':' || port, '') || coalesce('/' || share, '') || '/' || trim(path, '/'), command, client, experiment,
change_name)
-- @found_in
printf('%s
%s
%s
%s
%s
%s
%s
%s
%s
%s
%s
%s
%s', recordings.id, created_at, kind, label, question, note,
subject, title, protocol || '://' || host || coalesce(':' || port, '') || coalesce('/' || share, '') || '/'
|| trim(path, '/'), command, client, experiment, change_name)
FROM recordings LEFT JOIN series ON series.id = recordings.id
-- @anew
UPDATE recording_texts SET text = (SELECT 
@found_in WHERE recordings.id = new.id) WHERE recording_id = new.id
