BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'sharebench','m001_series','2026-11-22 16:20:21.278652+00:00');
INSERT INTO "_sqlite_migrations" VALUES(2,'sharebench','m002_experiments','2026-11-22 16:20:21.297262+00:00');
INSERT INTO "_sqlite_migrations" VALUES(3,'sharebench','m003_evidence','2026-11-22 16:20:21.305386+00:00');
INSERT INTO "_sqlite_migrations" VALUES(4,'sharebench','m004_baselines_of_several','2026-11-22 16:20:21.320937+00:00');
CREATE TABLE baselines (
    name TEXT NOT NULL,
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    set_at TEXT NOT NULL,
    PRIMARY KEY (name, series_id)
) STRICT;
INSERT INTO "baselines" VALUES('before','000000000001','2026-11-22T16:20:21.371Z');
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
INSERT INTO "experiments" VALUES('tuning','ladder','','2026-01-02T10:00:00.000Z');
INSERT INTO "experiments" VALUES('survey nas 2026-01-04 10:00:00','survey','nas','2026-01-04T10:00:00.000Z');
CREATE TABLE facts (
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    side TEXT NOT NULL CHECK (side IN ('client', 'server', 'path')),
    name TEXT NOT NULL,
    value ANY NOT NULL,
    PRIMARY KEY (series_id, side, name)
) STRICT, WITHOUT ROWID;
INSERT INTO "facts" VALUES('000000000001','client','kernel','6.1');
INSERT INTO "facts" VALUES('000000000001','server','memory_bytes',8589934592);
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
INSERT INTO "runs" VALUES('000000000001','measured',1,'valid',NULL,'',1073741824,1.06311071683168325565e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000001','measured',2,'valid',NULL,'',1073741824,1.06311071683168325565e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000001','measured',3,'valid',NULL,'',1073741824,1.08458770101010095745e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000001','warm-up',1,'valid',NULL,'',1073741824,1.06311071683168325565e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000002','measured',1,'valid',NULL,'',1073741824,1.05268806274509802984e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000002','measured',2,'valid',NULL,'',1073741824,1.06311071683168325565e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000002','measured',3,'valid',NULL,'',1073741824,1.08458770101010095745e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000002','warm-up',1,'valid',NULL,'',1073741824,1.05268806274509802984e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000003','measured',1,'valid',NULL,'',1073741824,1.04246779029126219735e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000003','measured',2,'valid',NULL,'',1073741824,1.06311071683168325565e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000003','measured',3,'valid',NULL,'',1073741824,1.08458770101010095745e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000003','warm-up',1,'valid',NULL,'',1073741824,1.04246779029126219735e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000004','measured',1,'valid',NULL,'',1073741824,1.03244406153846153269e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000004','measured',2,'valid',NULL,'',1073741824,1.06311071683168325565e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000004','measured',3,'valid',NULL,'',1073741824,1.08458770101010095745e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000004','warm-up',1,'valid',NULL,'',1073741824,1.03244406153846153269e+01,NULL,NULL,NULL,'[]');
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
INSERT INTO "series" VALUES('000000000001','2026-01-01T10:00:00.000Z','complete',NULL,'','as delivered','the first',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'get','smb','nas',445,'data','big.bin',NULL,NULL,'sharebench','0.1.0','3.1.1','none','none',1048576,4,1000000000,NULL,'{"client":"","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"record","server_ssh":null,"smb_conf":null,"ceiling":"record"}',NULL,NULL,NULL,NULL,1);
INSERT INTO "series" VALUES('000000000002','2026-01-02T10:00:00.000Z','interrupted',NULL,'','new switch','','000000000001',NULL,'switch','new',NULL,'unconfirmed','[]',NULL,'get','smb','nas',445,'data','big.bin',NULL,NULL,'sharebench','0.1.0','3.1.1','none','none',1048576,4,1000000000,NULL,'{"client":"","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"record","server_ssh":null,"smb_conf":null,"ceiling":"record"}','.sharebench-left.bin',NULL,'tuning',NULL,2);
INSERT INTO "series" VALUES('000000000003','2026-01-03T10:00:00.000Z','complete',NULL,'','SMB get','',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'get','smb','nas',445,'data','big.bin',NULL,NULL,'sharebench','0.1.0','3.1.1','none','none',1048576,4,1000000000,NULL,'{"client":"","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"record","server_ssh":null,"smb_conf":null,"ceiling":"record"}',NULL,NULL,'survey nas 2026-01-04 10:00:00',NULL,3);
INSERT INTO "series" VALUES('000000000004','2026-01-04T10:00:00.000Z','complete',NULL,'','SMB put','',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'put','smb','nas',445,'data','big.bin',NULL,NULL,'sharebench','0.1.0','3.1.1','none','none',1048576,4,1000000000,NULL,'{"client":"","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"record","server_ssh":null,"smb_conf":null,"ceiling":"record"}',NULL,NULL,'survey nas 2026-01-04 10:00:00',NULL,4);
CREATE TABLE worksheets (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    saved_at TEXT NOT NULL,
    content TEXT NOT NULL CHECK (json_valid(content)),
    PRIMARY KEY (kind, name)
) STRICT;
INSERT INTO "worksheets" VALUES('bottleneck','nas','2026-01-03T10:00:00.000Z','{"rows": [1, 2]}');
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
