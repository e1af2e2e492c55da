BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'sharebench','m001_series','2026-11-21 13:58:27.507815+00:00');
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
CREATE TABLE facts (
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    side TEXT NOT NULL CHECK (side IN ('client', 'server', 'path')),
    name TEXT NOT NULL,
    value ANY NOT NULL,
    PRIMARY KEY (series_id, side, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE notebook_formats (
    format INTEGER PRIMARY KEY,
    needs_version TEXT NOT NULL
) STRICT;
INSERT INTO "notebook_formats" VALUES(1,'0.1.0');
CREATE TABLE remembered (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT;
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
INSERT INTO "runs" VALUES('0099fbafd503','measured',1,'valid',NULL,'2026-11-21T13:58:43.089Z',1000000,7.32690000404545571655e-05,9.2239999958110274747e-06,4.4369999159243889153e-06,NULL,'[]');
INSERT INTO "runs" VALUES('0099fbafd503','measured',2,'valid',NULL,'2026-11-21T13:58:43.089Z',1000000,6.18410001607117e-05,7.54199982111458666622e-06,4.21599997935118153691e-06,NULL,'[]');
INSERT INTO "runs" VALUES('0099fbafd503','warm-up',1,'valid',NULL,'2026-11-21T13:58:43.089Z',1000000,2.37963000017771264538e-04,3.71359999462583800777e-05,9.80400000116787850856e-06,NULL,'[]');
INSERT INTO "runs" VALUES('17a1c81524ee','measured',1,'valid',NULL,'2026-11-21T13:58:30.947Z',0,0.000547,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('17a1c81524ee','measured',2,'valid',NULL,'2026-11-21T13:58:31.104Z',0,0.023446,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('17a1c81524ee','warm-up',1,'valid',NULL,'2026-11-21T13:58:29.143Z',0,0.011422,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('363d960c4e4e','measured',1,'valid',NULL,'2026-11-21T13:58:37.478Z',1000000,3.16200000042954343371e-04,4.32339998042152728885e-05,1.2489000027926522307e-05,NULL,'[]');
INSERT INTO "runs" VALUES('363d960c4e4e','measured',2,'valid',NULL,'2026-11-21T13:58:37.502Z',1000000,3.11623000015970319509e-04,4.1401999851586879231e-05,1.55129998802294721826e-05,NULL,'[]');
INSERT INTO "runs" VALUES('363d960c4e4e','warm-up',1,'valid',NULL,'2026-11-21T13:58:37.456Z',1000000,2.75538999858326860703e-04,3.48020000728865852579e-05,9.05299998521513771265e-06,NULL,'[]');
INSERT INTO "runs" VALUES('509d36701ccd','measured',1,'valid',NULL,'2026-11-21T13:58:30.822Z',0,0.00093,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('509d36701ccd','measured',2,'valid',NULL,'2026-11-21T13:58:31.219Z',0,0.011461,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('509d36701ccd','warm-up',1,'valid',NULL,'2026-11-21T13:58:30.742Z',0,0.003473,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('520f6068b784','measured',1,'valid',NULL,'2026-11-21T13:58:40.102Z',1000000,9.46109998949396e-05,1.04260000171052524819e-05,4.34600019616482313722e-06,NULL,'[]');
INSERT INTO "runs" VALUES('520f6068b784','measured',2,'valid',NULL,'2026-11-21T13:58:40.103Z',1000000,5.78660001337993890047e-05,7.68099994274962227791e-06,4.71700013804365880787e-06,NULL,'[]');
INSERT INTO "runs" VALUES('520f6068b784','warm-up',1,'valid',NULL,'2026-11-21T13:58:40.081Z',1000000,3.03770999835251132026e-04,4.78920001114602200686e-05,1.35799998588481685146e-05,NULL,'[]');
INSERT INTO "runs" VALUES('53264b56c241','measured',1,'valid',NULL,'2026-11-21T13:58:30.898Z',1048576,0.000559,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('53264b56c241','measured',2,'valid',NULL,'2026-11-21T13:58:31.186Z',1048576,0.000213,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('53264b56c241','warm-up',1,'valid',NULL,'2026-11-21T13:58:29.855Z',1048576,0.003476,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('6aeaaa707834','measured',1,'valid',NULL,'2026-11-21T13:58:37.486Z',1000000,2.84632999864697922021e-04,4.24439999733294826e-05,1.04360001387249212712e-05,NULL,'[]');
INSERT INTO "runs" VALUES('6aeaaa707834','measured',2,'valid',NULL,'2026-11-21T13:58:37.494Z',1000000,2.85424999901806586422e-04,4.144100012126727961e-05,1.51529998220212291926e-05,NULL,'[]');
INSERT INTO "runs" VALUES('6aeaaa707834','warm-up',1,'valid',NULL,'2026-11-21T13:58:37.158Z',1000000,2.37443000060011399909e-04,2.3634999934074585326e-05,8.39200015434471424669e-06,NULL,'[]');
INSERT INTO "runs" VALUES('76a6ced0e127','measured',1,'valid',NULL,'2026-11-21T13:58:33.726Z',1000000,3.56639999836261267773e-04,4.05810001211648341268e-05,1.33999999434308847412e-05,NULL,'[]');
INSERT INTO "runs" VALUES('76a6ced0e127','measured',2,'valid',NULL,'2026-11-21T13:58:33.732Z',1000000,2.8771799998139613308e-04,3.07660000089526874944e-05,1.10059997950884280726e-05,NULL,'[]');
INSERT INTO "runs" VALUES('76a6ced0e127','warm-up',1,'valid',NULL,'2026-11-21T13:58:33.376Z',1000000,2.51364000178000424057e-04,2.84119998923415550962e-05,8.62299998516391497105e-06,NULL,'[]');
INSERT INTO "runs" VALUES('a2c41936e1a2','measured',1,'valid',NULL,'2026-11-21T13:58:30.995Z',1048576,0.00021,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('a2c41936e1a2','measured',2,'valid',NULL,'2026-11-21T13:58:31.040Z',1048576,0.000239,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('a2c41936e1a2','warm-up',1,'valid',NULL,'2026-11-21T13:58:28.222Z',1048576,0.00021,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('e5e371a5fd54','measured',1,'valid',NULL,'2026-11-21T13:58:33.714Z',1000000,2.74027000159549061208e-04,3.37409999247029190883e-05,1.1847999985548085533e-05,NULL,'[]');
INSERT INTO "runs" VALUES('e5e371a5fd54','measured',2,'valid',NULL,'2026-11-21T13:58:33.738Z',1000000,2.67027000063535524532e-04,2.98739998925157124176e-05,1.12669999907666351646e-05,NULL,'[]');
INSERT INTO "runs" VALUES('e5e371a5fd54','warm-up',1,'valid',NULL,'2026-11-21T13:58:33.707Z',1000000,3.09078999862322234548e-04,4.44160000370175112038e-05,1.43909999223978957161e-05,NULL,'[]');
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
INSERT INTO "series" VALUES('a2c41936e1a2','2026-11-21T13:58:27.574Z','complete',NULL,'IPERF3 get: iperf3://127.0.0.1:45231','loopback bare TCP get','','survey 127.0.0.1 2026-11-21 13:58:27',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'get','iperf3','127.0.0.1',45231,NULL,'',NULL,NULL,'iperf3','3.12',NULL,NULL,NULL,131072,1,NULL,NULL,'{"client":"iperf3","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":1048576,"make_file":false,"verify":false,"quiet_time":"skip","server_ssh":null,"smb_conf":null,"ceiling":"skip"}',NULL,NULL);
INSERT INTO "series" VALUES('17a1c81524ee','2026-11-21T13:58:28.305Z','complete',NULL,'IPERF3 put: iperf3://127.0.0.1:45231','loopback bare TCP put','','survey 127.0.0.1 2026-11-21 13:58:27',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'put','iperf3','127.0.0.1',45231,NULL,'',NULL,NULL,'iperf3','3.12',NULL,NULL,NULL,131072,1,NULL,NULL,'{"client":"iperf3","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":1048576,"make_file":false,"verify":false,"quiet_time":"skip","server_ssh":null,"smb_conf":null,"ceiling":"skip"}',NULL,NULL);
INSERT INTO "series" VALUES('53264b56c241','2026-11-21T13:58:29.222Z','complete',NULL,'IPERF3 get: iperf3://192.0.2.2:45231','own address bare TCP get','','survey 127.0.0.1 2026-11-21 13:58:27',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'get','iperf3','192.0.2.2',45231,NULL,'',NULL,NULL,'iperf3','3.12',NULL,NULL,NULL,131072,1,NULL,NULL,'{"client":"iperf3","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":1048576,"make_file":false,"verify":false,"quiet_time":"skip","server_ssh":null,"smb_conf":null,"ceiling":"skip"}',NULL,NULL);
INSERT INTO "series" VALUES('509d36701ccd','2026-11-21T13:58:29.919Z','complete',NULL,'IPERF3 put: iperf3://192.0.2.2:45231','own address bare TCP put','','survey 127.0.0.1 2026-11-21 13:58:27',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'put','iperf3','192.0.2.2',45231,NULL,'',NULL,NULL,'iperf3','3.12',NULL,NULL,NULL,131072,1,NULL,NULL,'{"client":"iperf3","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":1048576,"make_file":false,"verify":false,"quiet_time":"skip","server_ssh":null,"smb_conf":null,"ceiling":"skip"}',NULL,NULL);
INSERT INTO "series" VALUES('76a6ced0e127','2026-11-21T13:58:33.026Z','complete',NULL,'Self-test of get: file:///srv/file.bin','self-test, first','',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'get','file','',NULL,NULL,'/srv/file.bin',NULL,NULL,'sharebench','0.1.0',NULL,NULL,NULL,1048576,1,NULL,NULL,'{"client":"sharebench","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"skip","server_ssh":null,"smb_conf":null,"ceiling":"skip"}',NULL,NULL);
INSERT INTO "series" VALUES('e5e371a5fd54','2026-11-21T13:58:33.384Z','complete',NULL,'Self-test of get: file:///srv/file.bin','self-test, second','',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'get','file','',NULL,NULL,'/srv/file.bin',NULL,NULL,'sharebench','0.1.0',NULL,NULL,NULL,1048576,1,NULL,NULL,'{"client":"sharebench","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"skip","server_ssh":null,"smb_conf":null,"ceiling":"skip"}',NULL,NULL);
INSERT INTO "series" VALUES('6aeaaa707834','2026-11-21T13:58:36.730Z','complete',NULL,'Self-test of get: file:///srv/file.bin','self-test, first','',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'get','file','',NULL,NULL,'/srv/file.bin',NULL,NULL,'sharebench','0.1.0',NULL,NULL,NULL,1048576,1,NULL,NULL,'{"client":"sharebench","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"skip","server_ssh":null,"smb_conf":null,"ceiling":"skip"}',NULL,NULL);
INSERT INTO "series" VALUES('363d960c4e4e','2026-11-21T13:58:37.188Z','complete',NULL,'Self-test of get: file:///srv/file.bin','self-test, second','',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'get','file','',NULL,NULL,'/srv/file.bin',NULL,NULL,'sharebench','0.1.0',NULL,NULL,NULL,1048576,1,NULL,NULL,'{"client":"sharebench","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"skip","server_ssh":null,"smb_conf":null,"ceiling":"skip"}',NULL,NULL);
INSERT INTO "series" VALUES('520f6068b784','2026-11-21T13:58:39.431Z','complete',NULL,'FILE get: file:///srv/file.bin','','','tuning',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'get','file','',NULL,NULL,'/srv/file.bin',NULL,NULL,'sharebench','0.1.0',NULL,NULL,NULL,1048576,1,NULL,NULL,'{"client":"sharebench","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"skip","server_ssh":null,"smb_conf":null,"ceiling":"skip"}',NULL,NULL);
INSERT INTO "series" VALUES('0099fbafd503','2026-11-21T13:58:42.724Z','complete',NULL,'FILE get: file:///srv/file.bin','','','tuning','520f6068b784',NULL,'block','64K','1048576','confirmed','[]','block changed from 1048576 to 65536.','get','file','',NULL,NULL,'/srv/file.bin',NULL,NULL,'sharebench','0.1.0',NULL,NULL,NULL,65536,1,NULL,NULL,'{"client":"sharebench","settings":{"block_bytes":65536,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"skip","server_ssh":null,"smb_conf":null,"ceiling":"skip"}',NULL,NULL);
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
CREATE INDEX series_by_experiment ON series (experiment) WHERE experiment IS NOT NULL;
CREATE INDEX series_by_base ON series (base_id) WHERE base_id IS NOT NULL;
CREATE INDEX runs_by_rate ON runs (series_id, phase, status, size_bytes, seconds);
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
COMMIT;
