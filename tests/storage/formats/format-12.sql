BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'sharebench','m001_series','2026-11-22 16:20:36.356264+00:00');
INSERT INTO "_sqlite_migrations" VALUES(2,'sharebench','m002_experiments','2026-11-22 16:20:36.376283+00:00');
INSERT INTO "_sqlite_migrations" VALUES(3,'sharebench','m003_evidence','2026-11-22 16:20:36.378401+00:00');
INSERT INTO "_sqlite_migrations" VALUES(4,'sharebench','m004_baselines_of_several','2026-11-22 16:20:36.396593+00:00');
INSERT INTO "_sqlite_migrations" VALUES(5,'sharebench','m005_changes','2026-11-22 16:20:36.397053+00:00');
INSERT INTO "_sqlite_migrations" VALUES(6,'sharebench','m006_isolations','2026-11-22 16:20:36.397420+00:00');
INSERT INTO "_sqlite_migrations" VALUES(7,'sharebench','m007_loads','2026-11-22 16:20:36.397839+00:00');
INSERT INTO "_sqlite_migrations" VALUES(8,'sharebench','m008_series_texts','2026-11-22 16:20:36.398433+00:00');
INSERT INTO "_sqlite_migrations" VALUES(9,'sharebench','m009_windows_of_trials','2026-11-22 16:20:36.407413+00:00');
INSERT INTO "_sqlite_migrations" VALUES(10,'sharebench','m010_owners_of_loads','2026-11-22 16:20:36.419299+00:00');
INSERT INTO "_sqlite_migrations" VALUES(11,'sharebench','m011_recordings','2026-11-28 15:05:31.639228+00:00');
INSERT INTO "_sqlite_migrations" VALUES(12,'sharebench','m012_flushed','2026-11-29 10:15:54.402536+00:00');
CREATE TABLE baselines (
    name TEXT NOT NULL,
    recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
    set_at TEXT NOT NULL,
    PRIMARY KEY (name, recording_id)
) STRICT;
INSERT INTO "baselines" VALUES('before','000000000001','2026-11-22T16:20:36.453Z');
INSERT INTO "baselines" VALUES('usual day','0123456789ab','2026-11-22T16:20:36.673Z');
CREATE TABLE ceilings (
    key TEXT PRIMARY KEY,
    bytes_per_second REAL NOT NULL,
    measured_at TEXT NOT NULL
) STRICT;
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
CREATE TABLE experiments (
    name TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL DEFAULT '',
    created_at TEXT NOT NULL
, recording_id TEXT REFERENCES recordings (id) ON DELETE CASCADE) STRICT;
INSERT INTO "experiments" VALUES('tuning','ladder','','2026-01-02T10:00:00.000Z',NULL);
INSERT INTO "experiments" VALUES('survey nas 2026-01-04 10:00:00','survey','nas','2026-01-04T10:00:00.000Z','4175b98464c7');
INSERT INTO "experiments" VALUES('trial strict sync nas 2026-01-05 10:00:00','trial','strict sync nas','2026-01-05T10:00:00.000Z','86b5b9504bad');
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
INSERT INTO "layer_runs" VALUES('aa11',1,'server',4,'valid',NULL,5.0,1000000.0,'{"error": null, "started_at": "", "passes": 0.0, "operations": {"readx": 3}, "requests": {"read": 3}, "window_requests": 0, "unexpected": 0, "wait_seconds": 0.0, "longest_seconds": 0.0, "client_cpu_seconds": 0.0, "client_held_seconds": 0.0, "server_cpu": {"user": {"mean": 1.5, "median": 1.0, "deviation": 0.25}, "system": {"mean": 1.5, "median": 1.0, "deviation": 0.25}, "total": {"mean": 1.5, "median": 1.0, "deviation": 0.25}, "samples": 5}, "client_cpu": null, "processes": {"server": 40.0}, "disk_busy_percent": null, "in_bytes_per_second": null, "out_bytes_per_second": null, "throttled_percent": null, "profile": {"smb2_read": {"calls": 3, "microseconds": 20, "idle_microseconds": 0, "moved_bytes": 0, "in_bytes": 0, "out_bytes": 0}}}');
CREATE TABLE leases (
    recording_id TEXT PRIMARY KEY REFERENCES recordings (id) ON DELETE CASCADE,
    host TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    process_id INTEGER NOT NULL,
    process_started TEXT NOT NULL,
    since TEXT NOT NULL,
    renewed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE load_points (
    load_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
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
INSERT INTO "load_points" VALUES('0123456789ab',1,10,10,'valid',NULL,20.0,1900,95.0,2000000.0,500000.0,0.005,'{"number": 1, "users": 10, "size_bytes": null, "connected": 10, "status": "valid", "reason": null, "started_at": "2026-01-31T10:00:00.000Z", "ramp_seconds": 0.5, "seconds": 20.0, "offered_per_second": 100.0, "requests": 1900, "reads": 1520, "writes": 380, "read_bytes": 40000000, "write_bytes": 10000000, "late_starts": 0, "errors": {}, "first_error": null, "think_seconds": 0.1, "little_percent": 0.1, "limit": null, "print_queue": null, "histogram": {"response": {"counts": [[1000, 1], [2000, 1], [4992, 1]], "total_microseconds": 8000, "max_microseconds": 5000}, "service": {"counts": [[1000, 1], [2000, 1], [4000, 1]], "total_microseconds": 7000, "max_microseconds": 4000}, "logins": {"counts": [[29952, 1]], "total_microseconds": 30000, "max_microseconds": 30000}, "lateness": {"counts": [[200, 1]], "total_microseconds": 200, "max_microseconds": 200}, "operations": {"read": {"counts": [[1000, 1], [2000, 1]], "total_microseconds": 3000, "max_microseconds": 2000}, "write": {"counts": [[4000, 1]], "total_microseconds": 4000, "max_microseconds": 4000}}}, "generator": {"cpu_percent": [12.5, 11.0], "interfaces": {"eth0": {"in": 90000.0, "out": 1000.0}}}, "server": {"samples": 18, "processors": 2, "cpu_percent": {"user": {"mean": 20.0, "median": 20.0, "deviation": 1.0}, "system": {"mean": 30.0, "median": 30.0, "deviation": 1.0}, "total": {"mean": 50.0, "median": 50.0, "deviation": 1.0}, "smbd": {"mean": 40.0, "median": 40.0, "deviation": 1.0}}, "sessions": 13, "smbd_uss_bytes": 9000000, "smbd_pss_bytes": 12000000, "interfaces": {"eth0": {"in": 1000.0, "out": 90000.0}}, "disk_busy_percent": {"vda": 12.5}, "throttled_percent": 0.0}}');
INSERT INTO "load_points" VALUES('0123456789ab',2,20,20,'valid',NULL,20.0,3800,190.0,2000000.0,500000.0,0.005,'{"number": 2, "users": 20, "size_bytes": null, "connected": 20, "status": "valid", "reason": null, "started_at": "2026-01-31T10:00:00.000Z", "ramp_seconds": 0.5, "seconds": 20.0, "offered_per_second": 200.0, "requests": 3800, "reads": 3040, "writes": 760, "read_bytes": 40000000, "write_bytes": 10000000, "late_starts": 0, "errors": {}, "first_error": null, "think_seconds": 0.1, "little_percent": 0.1, "limit": null, "print_queue": null, "histogram": {"response": {"counts": [[1000, 1], [2000, 1], [4992, 1]], "total_microseconds": 8000, "max_microseconds": 5000}, "service": {"counts": [[1000, 1], [2000, 1], [4000, 1]], "total_microseconds": 7000, "max_microseconds": 4000}, "logins": {"counts": [[29952, 1]], "total_microseconds": 30000, "max_microseconds": 30000}, "lateness": {"counts": [[200, 1]], "total_microseconds": 200, "max_microseconds": 200}, "operations": {"read": {"counts": [[1000, 1], [2000, 1]], "total_microseconds": 3000, "max_microseconds": 2000}, "write": {"counts": [[4000, 1]], "total_microseconds": 4000, "max_microseconds": 4000}}}, "generator": {"cpu_percent": [12.5, 11.0], "interfaces": {"eth0": {"in": 90000.0, "out": 1000.0}}}, "server": {"samples": 18, "processors": 2, "cpu_percent": {"user": {"mean": 20.0, "median": 20.0, "deviation": 1.0}, "system": {"mean": 30.0, "median": 30.0, "deviation": 1.0}, "total": {"mean": 50.0, "median": 50.0, "deviation": 1.0}, "smbd": {"mean": 40.0, "median": 40.0, "deviation": 1.0}}, "sessions": 13, "smbd_uss_bytes": 9000000, "smbd_pss_bytes": 12000000, "interfaces": {"eth0": {"in": 1000.0, "out": 90000.0}}, "disk_busy_percent": {"vda": 12.5}, "throttled_percent": 0.0}}');
INSERT INTO "load_points" VALUES('0123456789ab',3,40,12,'failed','12 of 40 users had a session: the server refused the login',20.0,4000,200.0,2000000.0,500000.0,0.005,'{"number": 3, "users": 40, "size_bytes": null, "connected": 12, "status": "failed", "reason": "12 of 40 users had a session: the server refused the login", "started_at": "2026-01-31T10:00:00.000Z", "ramp_seconds": 0.5, "seconds": 20.0, "offered_per_second": 400.0, "requests": 4000, "reads": 3200, "writes": 800, "read_bytes": 40000000, "write_bytes": 10000000, "late_starts": 0, "errors": {"login refused": 28}, "first_error": "the server refused the login", "think_seconds": 0.1, "little_percent": 0.1, "limit": "errors", "print_queue": null, "histogram": {"response": {"counts": [[1000, 1], [2000, 1], [4992, 1]], "total_microseconds": 8000, "max_microseconds": 5000}, "service": {"counts": [[1000, 1], [2000, 1], [4000, 1]], "total_microseconds": 7000, "max_microseconds": 4000}, "logins": {"counts": [[29952, 1]], "total_microseconds": 30000, "max_microseconds": 30000}, "lateness": {"counts": [[200, 1]], "total_microseconds": 200, "max_microseconds": 200}, "operations": {"read": {"counts": [[1000, 1], [2000, 1]], "total_microseconds": 3000, "max_microseconds": 2000}, "write": {"counts": [[4000, 1]], "total_microseconds": 4000, "max_microseconds": 4000}}}, "generator": {"cpu_percent": [12.5, 11.0], "interfaces": {"eth0": {"in": 90000.0, "out": 1000.0}}}, "server": null}');
CREATE TABLE notebook_formats (
    format INTEGER PRIMARY KEY,
    needs_version TEXT NOT NULL
) STRICT;
INSERT INTO "notebook_formats" VALUES(1,'0.1.0');
INSERT INTO "notebook_formats" VALUES(2,'0.2.0');
INSERT INTO "notebook_formats" VALUES(3,'0.2.0');
INSERT INTO "notebook_formats" VALUES(4,'0.2.0');
INSERT INTO "notebook_formats" VALUES(5,'0.2.0');
INSERT INTO "notebook_formats" VALUES(6,'0.2.0');
INSERT INTO "notebook_formats" VALUES(7,'0.2.0');
INSERT INTO "notebook_formats" VALUES(8,'0.2.0');
INSERT INTO "notebook_formats" VALUES(9,'0.2.0');
INSERT INTO "notebook_formats" VALUES(10,'0.2.0');
INSERT INTO "notebook_formats" VALUES(11,'0.3.0');
INSERT INTO "notebook_formats" VALUES(12,'0.4.0');
CREATE TABLE recording_texts (
    recording_id TEXT PRIMARY KEY REFERENCES recordings (id) ON DELETE CASCADE,
    text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "recording_texts" VALUES('000000000001','000000000001
2026-01-01T10:00:00.000Z
series
as delivered

the first


smb://nas:445/data/big.bin
get
sharebench

');
INSERT INTO "recording_texts" VALUES('000000000002','000000000002
2026-01-02T10:00:00.000Z
series
new switch




smb://nas:445/data/big.bin
get
sharebench
tuning
switch');
INSERT INTO "recording_texts" VALUES('000000000003','000000000003
2026-01-03T10:00:00.000Z
series
SMB get




smb://nas:445/data/big.bin
get
sharebench
survey nas 2026-01-04 10:00:00
');
INSERT INTO "recording_texts" VALUES('000000000004','000000000004
2026-01-04T10:00:00.000Z
series
SMB put




smb://nas:445/data/big.bin
put
sharebench
survey nas 2026-01-04 10:00:00
');
INSERT INTO "recording_texts" VALUES('000000000005','000000000005
2026-01-05T10:00:00.000Z
series
strict sync as it is




smb://nas:445/data/big.bin
get
sharebench
trial strict sync nas 2026-01-05 10:00:00
');
INSERT INTO "recording_texts" VALUES('000000000006','000000000006
2026-01-06T10:00:00.000Z
series
strict sync = no




smb://nas:445/data/big.bin
get
sharebench
trial strict sync nas 2026-01-05 10:00:00
strict sync');
INSERT INTO "recording_texts" VALUES('0123456789ab','0123456789ab
2026-01-31T10:00:00.000Z
load
before

office day
redpaper smb://nas/data





');
INSERT INTO "recording_texts" VALUES('4175b98464c7','4175b98464c7
2026-01-04T10:00:00.000Z
survey



survey nas 2026-01-04 10:00:00





');
INSERT INTO "recording_texts" VALUES('86b5b9504bad','86b5b9504bad
2026-01-05T10:00:00.000Z
trial



trial strict sync nas 2026-01-05 10:00:00





');
INSERT INTO "recording_texts" VALUES('aa11','aa11
2026-01-31T10:00:00.000Z
isolation
after tuning


smb://h/s





');
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
INSERT INTO "recordings" VALUES('4175b98464c7','survey','2026-01-04T10:00:00.000Z','complete',NULL,'','','','survey nas 2026-01-04 10:00:00',NULL,NULL,NULL,'{}',5);
INSERT INTO "recordings" VALUES('86b5b9504bad','trial','2026-01-05T10:00:00.000Z','complete',NULL,'','','','trial strict sync nas 2026-01-05 10:00:00',NULL,NULL,NULL,'{"kind": "smb.conf", "name": "strict sync", "section": "[global]", "previous": "yes", "values": ["no"], "axes": [], "cells": [], "looks": [3, 5], "noise_percent": 1.0, "margin_percent": 5.0, "seed": 7, "server_ssh": null, "smb_conf": null, "accepted_risks": [], "allow_restart": false, "load": null, "apply": null, "revert": null, "proofs": []}',10);
INSERT INTO "recordings" VALUES('000000000001','series','2026-01-01T10:00:00.000Z','complete',NULL,'as delivered','the first','','',NULL,NULL,NULL,'{}',1);
INSERT INTO "recordings" VALUES('000000000002','series','2026-01-02T10:00:00.000Z','interrupted',NULL,'new switch','','','',NULL,NULL,'{"scratch_path":".sharebench-left.bin"}','{}',2);
INSERT INTO "recordings" VALUES('000000000003','series','2026-01-03T10:00:00.000Z','complete',NULL,'SMB get','','','','4175b98464c7',NULL,NULL,'{}',3);
INSERT INTO "recordings" VALUES('000000000004','series','2026-01-04T10:00:00.000Z','complete',NULL,'SMB put','','','','4175b98464c7',NULL,NULL,'{}',4);
INSERT INTO "recordings" VALUES('000000000005','series','2026-01-05T10:00:00.000Z','complete',NULL,'strict sync as it is','','','','86b5b9504bad',NULL,NULL,'{}',6);
INSERT INTO "recordings" VALUES('000000000006','series','2026-01-06T10:00:00.000Z','complete',NULL,'strict sync = no','','','','86b5b9504bad',NULL,NULL,'{}',7);
INSERT INTO "recordings" VALUES('0123456789ab','load','2026-01-31T10:00:00.000Z','complete',NULL,'before','office day','','redpaper smb://nas/data',NULL,NULL,NULL,'{"targets":[{"protocol":"smb","host":"nas","port":null,"share":"data","path":"in","user":"alice","domain":null}],"scenario":{"name":"redpaper","about":"IBM''s","files":12,"sizes":[{"size_bytes":4096,"share":2},{"size_bytes":65536,"share":1}],"requests":{"read":80.0,"write":20.0},"think_seconds":0.1,"think_exponential":false,"pace_seconds":null,"duration_seconds":20.0,"settle_seconds":10.0,"seed":1},"choices":{"users":[10,20,40],"find_capacity":false,"by_size":false,"limit_seconds":0.5,"ramp_per_second":20.0,"processes":2,"hosts":[],"keep_files":false},"link_bits_per_second":1000000000,"file_set_bytes":294912,"server_memory_bytes":17179869184,"workers":[{"host":"this machine","processes":2,"version":"0.2.0"}],"environment":{"server":{"cpu.count":2}},"capacity":{"carried":20,"not_carried":40,"reason":"12 of 40 users had a session","limit":"errors"}}',8);
INSERT INTO "recordings" VALUES('aa11','isolation','2026-01-31T10:00:00.000Z','interrupted',NULL,'after tuning','','','smb://h/s',NULL,NULL,NULL,'{"target": {"protocol": "smb", "host": "h", "port": null, "share": "s", "path": "", "user": null, "domain": null}, "script": "office", "script_sha256": "", "pass_bytes": 0, "pass_operations": {}, "without": ["find_first"], "clients": [1, 4], "rounds": 2, "seconds": 5, "script_path": null, "settings": {"block_bytes": null, "in_flight": null, "sign": true, "encrypt": false, "timeout_seconds": 30.0, "drop_cache": false}, "server_ssh": null, "smb_conf": null, "expose_tbench": false, "link_bits_per_second": null, "loopback": false, "same_machine": false, "processors": null, "processor_quota": null, "client": {"name": "sharebench", "version": "", "dialect": "3.1.1", "signing": null, "encryption": null, "block_bytes": null, "in_flight": null}, "environment": {}, "ceilings": {"4": 9000.5}, "problems": ["no dbench"]}',9);
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
INSERT INTO "runs" VALUES('000000000005','measured',1,'valid',NULL,'',1073741824,1.02261126095238097377e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000005','measured',2,'valid',NULL,'',1073741824,1.06311071683168325565e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000005','measured',3,'valid',NULL,'',1073741824,1.08458770101010095745e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000005','warm-up',1,'valid',NULL,'',1073741824,1.02261126095238097377e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000006','measured',1,'valid',NULL,'',1073741824,1.01296398490566037504e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000006','measured',2,'valid',NULL,'',1073741824,1.06311071683168325565e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000006','measured',3,'valid',NULL,'',1073741824,1.08458770101010095745e+01,NULL,NULL,NULL,'[]');
INSERT INTO "runs" VALUES('000000000006','warm-up',1,'valid',NULL,'',1073741824,1.01296398490566037504e+01,NULL,NULL,NULL,'[]');
CREATE TABLE "series" (
    id TEXT PRIMARY KEY REFERENCES recordings (id) ON DELETE CASCADE,
    title TEXT NOT NULL DEFAULT '',
    experiment TEXT REFERENCES experiments (name) ON UPDATE CASCADE,
    base_id TEXT REFERENCES "series" (id) ON DELETE SET NULL,
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
    quiet TEXT CHECK (quiet IS NULL OR json_valid(quiet))
, flushed INTEGER NOT NULL DEFAULT 0 CHECK (flushed IN (0, 1))) STRICT;
INSERT INTO "series" VALUES('000000000001','',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'get','smb','nas',445,'data','big.bin',NULL,NULL,'sharebench','0.1.0','3.1.1','none','none',1048576,4,1000000000,NULL,'{"client":"","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"record","server_ssh":null,"smb_conf":null,"ceiling":"record"}',NULL,0);
INSERT INTO "series" VALUES('000000000002','','tuning','000000000001',NULL,'switch','new',NULL,'unconfirmed','[]',NULL,'get','smb','nas',445,'data','big.bin',NULL,NULL,'sharebench','0.1.0','3.1.1','none','none',1048576,4,1000000000,NULL,'{"client":"","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"record","server_ssh":null,"smb_conf":null,"ceiling":"record"}',NULL,0);
INSERT INTO "series" VALUES('000000000003','','survey nas 2026-01-04 10:00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'get','smb','nas',445,'data','big.bin',NULL,NULL,'sharebench','0.1.0','3.1.1','none','none',1048576,4,1000000000,NULL,'{"client":"","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"record","server_ssh":null,"smb_conf":null,"ceiling":"record"}',NULL,0);
INSERT INTO "series" VALUES('000000000004','','survey nas 2026-01-04 10:00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'put','smb','nas',445,'data','big.bin',NULL,NULL,'sharebench','0.1.0','3.1.1','none','none',1048576,4,1000000000,NULL,'{"client":"","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"record","server_ssh":null,"smb_conf":null,"ceiling":"record"}',NULL,0);
INSERT INTO "series" VALUES('000000000005','','trial strict sync nas 2026-01-05 10:00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'get','smb','nas',445,'data','big.bin',NULL,NULL,'sharebench','0.1.0','3.1.1','none','none',1048576,4,1000000000,NULL,'{"client":"","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"record","server_ssh":null,"smb_conf":null,"ceiling":"record"}',NULL,0);
INSERT INTO "series" VALUES('000000000006','','trial strict sync nas 2026-01-05 10:00:00','000000000005',NULL,'strict sync','no','yes','unconfirmed','[]',NULL,'get','smb','nas',445,'data','big.bin',NULL,NULL,'sharebench','0.1.0','3.1.1','none','none',1048576,4,1000000000,NULL,'{"client":"","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":3,"warmups":1,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"record","server_ssh":null,"smb_conf":null,"ceiling":"record"}',NULL,0);
CREATE TABLE trial_slots (
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number > 0),
    position INTEGER NOT NULL CHECK (position >= 0),
    control_seconds REAL NOT NULL, requests_per_second REAL CHECK (requests_per_second >= 0), generator_limited INTEGER NOT NULL DEFAULT 0 CHECK (generator_limited IN (0, 1)),
    PRIMARY KEY (series_id, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "trial_slots" VALUES('000000000005',1,0,0.01,NULL,0);
INSERT INTO "trial_slots" VALUES('000000000005',2,2,0.01,NULL,0);
INSERT INTO "trial_slots" VALUES('000000000005',3,4,0.01,NULL,0);
INSERT INTO "trial_slots" VALUES('000000000006',1,1,0.01,NULL,0);
INSERT INTO "trial_slots" VALUES('000000000006',2,3,0.01,NULL,0);
INSERT INTO "trial_slots" VALUES('000000000006',3,5,0.01,NULL,0);
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
CREATE INDEX experiments_by_kind ON experiments (kind, subject);
CREATE INDEX runs_by_rate ON runs (series_id, phase, status, size_bytes, seconds);
CREATE INDEX recordings_by_time ON recordings (created_at, stored_order, id, kind, part_of);
CREATE INDEX recordings_by_order ON recordings (stored_order, id, kind, part_of);
CREATE INDEX recordings_by_whole ON recordings (part_of) WHERE part_of IS NOT NULL;
CREATE INDEX recordings_by_leftovers ON recordings (created_at) WHERE leftovers IS NOT NULL;
CREATE INDEX experiments_by_recording ON experiments (recording_id) WHERE recording_id IS NOT NULL;
CREATE INDEX series_by_experiment ON series (experiment) WHERE experiment IS NOT NULL;
CREATE INDEX series_by_base ON series (base_id) WHERE base_id IS NOT NULL;
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
FROM runs JOIN series ON series.id = runs.series_id JOIN recordings ON recordings.id = series.id
ORDER BY recordings.stored_order, series.id, runs.phase DESC, runs.number;
CREATE INDEX baselines_by_recording ON baselines (recording_id, name);
CREATE TRIGGER text_of_added_recording AFTER INSERT ON recordings
BEGIN INSERT INTO recording_texts (recording_id, text) SELECT new.id, 
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
FROM recordings LEFT JOIN series ON series.id = recordings.id WHERE recordings.id = new.id; END;
CREATE TRIGGER text_of_changed_recording AFTER UPDATE OF created_at, label, note, question, subject ON recordings
BEGIN 
UPDATE recording_texts SET text = (SELECT 
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
FROM recordings LEFT JOIN series ON series.id = recordings.id WHERE recordings.id = new.id) WHERE recording_id = new.id
; END;
CREATE TRIGGER text_of_added_series AFTER INSERT ON series BEGIN 
UPDATE recording_texts SET text = (SELECT 
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
FROM recordings LEFT JOIN series ON series.id = recordings.id WHERE recordings.id = new.id) WHERE recording_id = new.id
; END;
CREATE TRIGGER text_of_changed_series AFTER UPDATE ON series BEGIN 
UPDATE recording_texts SET text = (SELECT 
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
FROM recordings LEFT JOIN series ON series.id = recordings.id WHERE recordings.id = new.id) WHERE recording_id = new.id
; END;
COMMIT;
