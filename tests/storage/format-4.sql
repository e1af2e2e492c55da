BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'sharebench','m001_series','2026-11-21 20:21:38.419821+00:00');
INSERT INTO "_sqlite_migrations" VALUES(2,'sharebench','m002_experiments','2026-11-21 20:21:38.424001+00:00');
INSERT INTO "_sqlite_migrations" VALUES(3,'sharebench','m003_evidence','2026-11-21 20:21:38.425751+00:00');
INSERT INTO "_sqlite_migrations" VALUES(4,'sharebench','m004_baselines_of_several','2026-11-21 20:21:38.430986+00:00');
CREATE TABLE baselines (
    name TEXT NOT NULL,
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    set_at TEXT NOT NULL,
    PRIMARY KEY (name, series_id)
) STRICT;
INSERT INTO "baselines" VALUES('as delivered','116f4ac1b599','2026-11-21T20:21:47.600Z');
INSERT INTO "baselines" VALUES('as delivered','134a399d86a5','2026-11-21T20:21:47.600Z');
CREATE TABLE ceilings (
    key TEXT PRIMARY KEY,
    bytes_per_second REAL NOT NULL,
    measured_at TEXT NOT NULL
) STRICT;
CREATE TABLE experiments (
    name TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL DEFAULT '',
    created_at TEXT NOT NULL
) STRICT;
CREATE TABLE facts (
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    side TEXT NOT NULL CHECK (side IN ('client', 'server', 'path')),
    name TEXT NOT NULL,
    value ANY NOT NULL,
    PRIMARY KEY (series_id, side, name)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE notebook_formats (
    format INTEGER PRIMARY KEY,
    needs_version TEXT NOT NULL
) STRICT;
INSERT INTO "notebook_formats" VALUES(1,'0.1.0');
INSERT INTO "notebook_formats" VALUES(2,'0.2.0');
INSERT INTO "notebook_formats" VALUES(3,'0.2.0');
INSERT INTO "notebook_formats" VALUES(4,'0.2.0');
CREATE TABLE owners (
    series_id TEXT PRIMARY KEY REFERENCES series (id) ON DELETE CASCADE,
    host TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    process_id INTEGER NOT NULL,
    process_started TEXT NOT NULL,
    since TEXT NOT NULL,
    renewed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE remembered (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT;
CREATE TABLE resumptions (
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    resumed_at TEXT NOT NULL,
    PRIMARY KEY (series_id, resumed_at)
) STRICT, WITHOUT ROWID;
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
INSERT INTO "runs" VALUES('116f4ac1b599','measured',1,'valid',NULL,'2026-11-21T20:21:43.742Z',3000000,6.61644000501837581396e-04,2.11920014407951384782e-05,9.50399771681986749172e-06,NULL,'[]');
INSERT INTO "runs" VALUES('116f4ac1b599','measured',2,'valid',NULL,'2026-11-21T20:21:43.743Z',3000000,2.88068000372732058167e-04,1.12269990495406091213e-05,5.56899976800195872783e-06,NULL,'[]');
INSERT INTO "runs" VALUES('116f4ac1b599','warm-up',1,'valid',NULL,'2026-11-21T20:21:43.732Z',3000000,6.60873000015271827578e-04,2.94940000458154827356e-05,1.03749989648349583148e-05,NULL,'[]');
INSERT INTO "runs" VALUES('134a399d86a5','measured',1,'valid',NULL,'2026-11-21T20:21:41.379Z',3000000,6.83186000969726592302e-04,2.76110004051588475704e-05,1.01249970612116158008e-05,NULL,'[]');
INSERT INTO "runs" VALUES('134a399d86a5','measured',2,'valid',NULL,'2026-11-21T20:21:41.380Z',3000000,2.6617499679559841752e-04,1.06760016933549195528e-05,5.42799898539669811725e-06,NULL,'[]');
INSERT INTO "runs" VALUES('134a399d86a5','warm-up',1,'valid',NULL,'2026-11-21T20:21:41.370Z',3000000,6.48174001980805769562e-04,3.89179986086674034595e-05,1.09159991552587598562e-05,NULL,'[]');
INSERT INTO "runs" VALUES('863367dbe966','measured',1,'valid',NULL,'2026-11-21T20:21:38.773Z',3000000,8.54253099896595813333e-03,1.04560022009536623954e-05,1.69859995367005467414e-05,NULL,'[]');
INSERT INTO "runs" VALUES('863367dbe966','measured',2,'rejected','somebody copied','2026-11-21T20:21:38.782Z',3000000,5.20022997079649940133e-04,2.37350031966343522071e-05,5.43900023330934345722e-06,NULL,'[]');
INSERT INTO "runs" VALUES('863367dbe966','warm-up',1,'valid',NULL,'2026-11-21T20:21:38.772Z',3000000,0.000680272001773119,2.57779975072480738162e-05,9.47399894357659e-06,NULL,'[]');
CREATE TABLE series (
    id TEXT PRIMARY KEY,
    created_at TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('complete', 'interrupted', 'failed')),
    error TEXT,
    title TEXT NOT NULL DEFAULT '',
    label TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
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
, experiment TEXT REFERENCES experiments (name) ON UPDATE CASCADE, imported_at TEXT, stored_order INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "series" VALUES('863367dbe966','2026-11-21T20:21:38.446Z','complete',NULL,'FILE get: file:///srv/data.bin','as delivered 1','',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'get','file','',NULL,NULL,'/srv/data.bin',NULL,NULL,'sharebench','0.2.0',NULL,NULL,NULL,1048576,1,NULL,NULL,'{"client":"sharebench","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":2,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"skip","server_ssh":null,"smb_conf":null,"ceiling":"skip"}',NULL,NULL,NULL,NULL,1);
INSERT INTO "series" VALUES('134a399d86a5','2026-11-21T20:21:40.864Z','complete',NULL,'FILE get: file:///srv/data.bin','as delivered 2','',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'get','file','',NULL,NULL,'/srv/data.bin',NULL,NULL,'sharebench','0.2.0',NULL,NULL,NULL,1048576,1,NULL,NULL,'{"client":"sharebench","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":2,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"skip","server_ssh":null,"smb_conf":null,"ceiling":"skip"}',NULL,NULL,NULL,NULL,2);
INSERT INTO "series" VALUES('116f4ac1b599','2026-11-21T20:21:43.311Z','complete',NULL,'FILE get: file:///srv/data.bin','as delivered 3','',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'get','file','',NULL,NULL,'/srv/data.bin',NULL,NULL,'sharebench','0.2.0',NULL,NULL,NULL,1048576,1,NULL,NULL,'{"client":"sharebench","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":2,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"skip","server_ssh":null,"smb_conf":null,"ceiling":"skip"}',NULL,NULL,NULL,NULL,3);
CREATE TABLE worksheets (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    saved_at TEXT NOT NULL,
    content TEXT NOT NULL CHECK (json_valid(content)),
    PRIMARY KEY (kind, name)
) STRICT;
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE INDEX series_by_time ON series (created_at);
CREATE INDEX series_by_base ON series (base_id) WHERE base_id IS NOT NULL;
CREATE INDEX series_by_experiment ON series (experiment) WHERE experiment IS NOT NULL;
CREATE INDEX experiments_by_kind ON experiments (kind, subject);
CREATE INDEX runs_by_rate ON runs (series_id, phase, status, size_bytes, seconds);
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
CREATE INDEX baselines_by_series ON baselines (series_id);
COMMIT;
