BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'sharebench','m001_series','2026-11-21 20:21:53.717125+00:00');
INSERT INTO "_sqlite_migrations" VALUES(2,'sharebench','m002_experiments','2026-11-21 20:21:53.720129+00:00');
INSERT INTO "_sqlite_migrations" VALUES(3,'sharebench','m003_evidence','2026-11-21 20:21:53.721722+00:00');
INSERT INTO "_sqlite_migrations" VALUES(4,'sharebench','m004_baselines_of_several','2026-11-21 20:21:53.731272+00:00');
INSERT INTO "_sqlite_migrations" VALUES(5,'sharebench','m005_changes','2026-11-21 20:21:53.731658+00:00');
INSERT INTO "_sqlite_migrations" VALUES(6,'sharebench','m006_isolations','2026-11-21 20:21:53.731956+00:00');
INSERT INTO "_sqlite_migrations" VALUES(7,'sharebench','m007_loads','2026-11-21 20:21:53.732343+00:00');
INSERT INTO "_sqlite_migrations" VALUES(8,'sharebench','m008_series_texts','2026-11-21 20:21:53.732795+00:00');
CREATE TABLE baselines (
    name TEXT NOT NULL,
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    set_at TEXT NOT NULL,
    PRIMARY KEY (name, series_id)
) STRICT;
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
INSERT INTO "changes" VALUES('49f06b6d7ece','2026-11-21T20:21:53.778Z','trial stripe /srv/data.bin 2026-11-21 20:21:52','hook','stripe','nas 1234',NULL,'/var/lib/sharebench/sharebench-undo.sh','#!/bin/sh','as it was','','{"host":"nas","boot_id":"cc2d5f41-a8df-4113-b8b7-101cdce765c8","process_id":26088,"process_started":"2495203","since":"2026-11-21T20:21:53.779Z","renewed_at":"2026-11-21T20:21:53.779Z"}','undone','2026-11-21T20:22:05.581Z');
CREATE TABLE experiments (
    name TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL DEFAULT '',
    created_at TEXT NOT NULL
) STRICT;
INSERT INTO "experiments" VALUES('trial stripe /srv/data.bin 2026-11-21 20:21:52','trial','stripe /srv/data.bin','2026-11-21T20:21:52.993Z');
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
CREATE TABLE load_names (
    name TEXT PRIMARY KEY,
    load_id TEXT NOT NULL REFERENCES loads (id) ON DELETE CASCADE,
    set_at TEXT NOT NULL
) STRICT;
CREATE TABLE load_points (
    load_id TEXT NOT NULL REFERENCES loads (id) ON DELETE CASCADE,
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
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',1,'valid',NULL,'2026-11-21T20:21:54.415Z',3000000,4.29990002885460853576e-04,1.3529999705497175455e-05,5.49800097360275685787e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',2,'valid',NULL,'2026-11-21T20:21:55.465Z',3000000,4.56517800193978473544e-03,1.46409984154161065816e-05,1.98990019271150231361e-05,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',3,'valid',NULL,'2026-11-21T20:21:56.036Z',3000000,4.15406997490208595991e-04,1.09470020106527954339e-05,4.91700120619498193264e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',4,'valid',NULL,'2026-11-21T20:21:57.251Z',3000000,4.27135000791167840361e-04,1.08960011857561767101e-05,5.29699900653213262557e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',5,'valid',NULL,'2026-11-21T20:21:57.515Z',3000000,5.72530996578279882669e-04,2.25540024985093623399e-05,9.32400143938139e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',6,'valid',NULL,'2026-11-21T20:21:58.262Z',3000000,4.20554999436717480421e-04,1.24790021800436079502e-05,5.51799894310534e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',7,'valid',NULL,'2026-11-21T20:21:58.489Z',3000000,4.43078999524004757404e-04,1.18770003609824925661e-05,4.75699926028028130531e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',8,'valid',NULL,'2026-11-21T20:21:59.385Z',3000000,4.35287998698186129331e-04,1.12260022433474659919e-05,5.22799746249802410602e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',9,'valid',NULL,'2026-11-21T20:21:59.627Z',3000000,7.35683999664615839719e-04,4.26930018875282257795e-05,7.97200118540786206722e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',10,'valid',NULL,'2026-11-21T20:22:00.415Z',3000000,4.8517100003664381802e-04,1.3190001482143998146e-05,5.82900247536599636077e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',11,'valid',NULL,'2026-11-21T20:22:00.641Z',3000000,4.25892998464405536651e-04,1.0276002285536378622e-05,5.21800029673613607883e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',12,'valid',NULL,'2026-11-21T20:22:01.343Z',3000000,4.26004000473767518997e-04,1.04549981188029050827e-05,5.62800050829537212848e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',13,'valid',NULL,'2026-11-21T20:22:01.632Z',3000000,2.70852000539889559149e-04,1.11070003185886889696e-05,4.82700124848634e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',14,'valid',NULL,'2026-11-21T20:22:02.362Z',3000000,6.42705999780446290969e-04,4.9112997658085078001e-05,7.22100230632349848747e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',15,'valid',NULL,'2026-11-21T20:22:02.551Z',3000000,4.97819997690385207533e-04,1.65240016940515488386e-05,5.69899930269457399845e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',16,'valid',NULL,'2026-11-21T20:22:03.355Z',3000000,4.26134000008460134267e-04,1.21680022857617586851e-05,5.58799729333259165287e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',17,'valid',NULL,'2026-11-21T20:22:03.572Z',3000000,4.29036997957155108451e-04,9.08400033949874341487e-06,5.05699790664948523044e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',18,'valid',NULL,'2026-11-21T20:22:04.350Z',3000000,6.73771999572636559605e-04,2.47070020122919231653e-05,1.08860003820154815912e-05,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',19,'valid',NULL,'2026-11-21T20:22:04.651Z',3000000,4.21255997935077175498e-04,1.04350001493003219366e-05,5.37799860467203e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','measured',20,'valid',NULL,'2026-11-21T20:22:05.538Z',3000000,4.4482100202003493905e-04,1.40109987114556133747e-05,4.95700078317895531654e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',1,'valid',NULL,'2026-11-21T20:21:54.405Z',3000000,7.9261800055974163115e-04,5.18870001542381942272e-05,1.50329979078378528356e-05,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',2,'valid',NULL,'2026-11-21T20:21:55.453Z',3000000,7.55253000534139573574e-04,5.32189988007303327322e-05,1.60840027092490345239e-05,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',3,'valid',NULL,'2026-11-21T20:21:56.035Z',3000000,6.69195000227773562073e-04,3.46009983331896364688e-05,9.79399919742718338966e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',4,'valid',NULL,'2026-11-21T20:21:57.250Z',3000000,6.74954000714933499693e-04,3.02250009553972631692e-05,8.60300133354030549526e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',5,'valid',NULL,'2026-11-21T20:21:57.505Z',3000000,8.10164001450175419449e-04,6.36849981674458831548e-05,1.84170021384488791227e-05,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',6,'valid',NULL,'2026-11-21T20:21:58.261Z',3000000,0.000716765000106534,2.78320003417320549488e-05,9.75399962044321e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',7,'valid',NULL,'2026-11-21T20:21:58.486Z',3000000,7.00471999152796342968e-04,3.48819994542282074689e-05,1.14369977382011711597e-05,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',8,'valid',NULL,'2026-11-21T20:21:59.383Z',3000000,0.000772477997088572,3.85080020350869745016e-05,1.11360022856388241052e-05,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',9,'valid',NULL,'2026-11-21T20:21:59.621Z',3000000,4.98949800021364353597e-03,3.69549998140428215265e-05,2.62689973169472068548e-05,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',10,'valid',NULL,'2026-11-21T20:22:00.409Z',3000000,0.000847549999889452,5.09759993292391300201e-05,1.45319972943980246782e-05,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',11,'valid',NULL,'2026-11-21T20:22:00.639Z',3000000,6.68183998641325160861e-04,3.17470003210473805665e-05,1.04459977592341601848e-05,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',12,'valid',NULL,'2026-11-21T20:22:01.342Z',3000000,6.94903999828966334462e-04,2.82919972960371524095e-05,8.89299917616881430149e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',13,'valid',NULL,'2026-11-21T20:22:01.631Z',3000000,6.45809999696211889386e-04,2.21230002352967858314e-05,8.70300209498964250087e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',14,'valid',NULL,'2026-11-21T20:22:02.357Z',3000000,4.05921499987016431987e-03,3.92690017179120332002e-05,1.80569986696355044841e-05,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',15,'valid',NULL,'2026-11-21T20:22:02.549Z',3000000,7.43305001378757879137e-04,2.93240009341388940811e-05,1.11869994725566357374e-05,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',16,'valid',NULL,'2026-11-21T20:22:03.354Z',3000000,0.000680081000609789,5.0093996833311393857e-05,1.33499997900798916816e-05,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',17,'valid',NULL,'2026-11-21T20:22:03.570Z',3000000,6.94873000611551105976e-04,2.58489999396260827779e-05,8.52299854159355163574e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',18,'valid',NULL,'2026-11-21T20:22:04.346Z',3000000,7.23815999663202092051e-04,4.09710009989794343709e-05,1.48719991557300090789e-05,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',19,'valid',NULL,'2026-11-21T20:22:04.650Z',3000000,6.7037600092589855194e-04,3.38809986715205e-05,9.032999514602124691e-06,NULL,'[]');
INSERT INTO "runs" VALUES('3a16ab0f2aff','warm-up',20,'valid',NULL,'2026-11-21T20:22:05.537Z',3000000,7.95993000792805105447e-04,2.79119994957000017166e-05,1.12969973997678607702e-05,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',1,'valid',NULL,'2026-11-21T20:21:54.745Z',3000000,6.73071001074276864528e-04,1.73160005942918360233e-05,7.8020020737312734127e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',2,'valid',NULL,'2026-11-21T20:21:55.054Z',3000000,5.01676000567385926842e-04,1.35699992824811488389e-05,5.85900124860927462577e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',3,'valid',NULL,'2026-11-21T20:21:56.746Z',3000000,6.58258999465033411979e-04,2.2573000023839995265e-05,9.2939990281593054533e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',4,'valid',NULL,'2026-11-21T20:21:56.940Z',3000000,5.69297000765800476074e-04,1.6424000932602211833e-05,6.08899790677242e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',5,'valid',NULL,'2026-11-21T20:21:57.725Z',3000000,4.19553998654009774327e-04,1.05450017144903540611e-05,5.53900099475868046283e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',6,'valid',NULL,'2026-11-21T20:21:58.004Z',3000000,6.01134001044556498527e-04,1.9398998119868338108e-05,9.38300217967480421066e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',7,'valid',NULL,'2026-11-21T20:21:58.847Z',3000000,4.09950000175740569829e-04,1.09159991552587598562e-05,5.16799991601146757602e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',8,'valid',NULL,'2026-11-21T20:21:59.096Z',3000000,4.14235997595824301242e-04,1.00239994935691356658e-05,4.89699959871359169483e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',9,'valid',NULL,'2026-11-21T20:21:59.903Z',3000000,4.90399001137120649218e-04,1.76959983946289867162e-05,5.42799898539669811725e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',10,'valid',NULL,'2026-11-21T20:22:00.140Z',3000000,4.05402999604120850563e-04,1.08160020317882299423e-05,5.00699752592481672763e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',11,'valid',NULL,'2026-11-21T20:22:00.836Z',3000000,0.000487453999085119,1.38810028147418051958e-05,5.22800110047683119773e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',12,'valid',NULL,'2026-11-21T20:22:01.041Z',3000000,4.21896998886950314044e-04,1.00249999377410858869e-05,4.9880000005941838026e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',13,'valid',NULL,'2026-11-21T20:22:01.925Z',3000000,4.60053997812792658805e-04,1.1216001439606770873e-05,5.38800304639153182506e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',14,'valid',NULL,'2026-11-21T20:22:02.078Z',3000000,4.5611799941980279982e-04,1.24190009955782443284e-05,6.62000093143433332443e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',15,'valid',NULL,'2026-11-21T20:22:02.826Z',3000000,5.29457000084221363067e-04,1.67950020113494247198e-05,6.66000050841830670833e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',16,'valid',NULL,'2026-11-21T20:22:03.016Z',3000000,4.33565001003444194793e-04,1.13269998109899461269e-05,1.10159999167080968618e-05,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',17,'valid',NULL,'2026-11-21T20:22:03.761Z',3000000,4.13814999774331226944e-04,1.01450023066718131303e-05,5.0279995775781571865e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',18,'valid',NULL,'2026-11-21T20:22:03.991Z',3000000,4.12462999520357698202e-04,1.07960004243068397045e-05,5.58799729333259165287e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',19,'valid',NULL,'2026-11-21T20:22:04.943Z',3000000,0.000504990999615984,1.3220000255387276411e-05,6.10899951425381e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','measured',20,'valid',NULL,'2026-11-21T20:22:05.263Z',3000000,4.41747000877512618899e-04,1.2839002010878175497e-05,5.28800228494219481945e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',1,'valid',NULL,'2026-11-21T20:21:54.741Z',3000000,8.31967001431621611118e-04,2.2543001250596717e-05,9.25299900700338184833e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',2,'valid',NULL,'2026-11-21T20:21:55.052Z',3000000,6.23826999799348413944e-04,2.40859990299213677644e-05,4.72432002425193786621e-04,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',3,'valid',NULL,'2026-11-21T20:21:56.741Z',3000000,4.0536670021538157016e-03,3.87379986932501196861e-05,1.61739990289788693189e-05,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',4,'valid',NULL,'2026-11-21T20:21:56.937Z',3000000,1.24777499877382069826e-03,2.05210017156787216663e-05,1.02560006780549883842e-05,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',5,'valid',NULL,'2026-11-21T20:21:57.724Z',3000000,0.000704677000612719,2.38359971262980252504e-05,8.93299875315278768539e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',6,'valid',NULL,'2026-11-21T20:21:58.002Z',3000000,7.79619000240927562117e-04,3.77460019080899655818e-05,1.44320001709274947643e-05,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',7,'valid',NULL,'2026-11-21T20:21:58.846Z',3000000,6.56776002870174124836e-04,3.33099997078534215688e-05,1.03950005723163485527e-05,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',8,'valid',NULL,'2026-11-21T20:21:59.095Z',3000000,6.62074999127071350812e-04,3.38399986503645777702e-05,8.24200105853378772735e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',9,'valid',NULL,'2026-11-21T20:21:59.899Z',3000000,3.13103599910391494631e-03,2.20820002141408622264e-05,1.29089967231266200542e-05,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',10,'valid',NULL,'2026-11-21T20:22:00.138Z',3000000,6.60031000734306871891e-04,4.98640001751482486724e-05,1.1216001439606770873e-05,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',11,'valid',NULL,'2026-11-21T20:22:00.833Z',3000000,9.70802997471764683723e-04,2.74810008704662322998e-05,1.18469979497604072093e-05,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',12,'valid',NULL,'2026-11-21T20:22:01.040Z',3000000,6.61042999126948416233e-04,1.92689985851757228374e-05,8.76299964147619903087e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',13,'valid',NULL,'2026-11-21T20:22:01.923Z',3000000,7.09756001015193760395e-04,3.00239989883266389369e-05,1.12070010800380259752e-05,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',14,'valid',NULL,'2026-11-21T20:22:02.076Z',3000000,0.000741162002668716,2.66499991994351148605e-05,5.92290016356855630874e-05,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',15,'valid',NULL,'2026-11-21T20:22:02.822Z',3000000,6.65559000481152907013e-04,3.16879995807539671659e-05,9.85400038189254701137e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',16,'valid',NULL,'2026-11-21T20:22:03.015Z',3000000,6.84388000081526115536e-04,2.98340019071474671363e-05,9.82400160864926874637e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',17,'valid',NULL,'2026-11-21T20:22:03.759Z',3000000,6.84358001308282837271e-04,3.66339991160202771425e-05,9.65500294114463e-06,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',18,'valid',NULL,'2026-11-21T20:22:03.985Z',3000000,0.000700862001394853,4.89129997731652110815e-05,1.33800022013019770383e-05,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',19,'valid',NULL,'2026-11-21T20:22:04.941Z',3000000,7.19330000720219686627e-04,2.70500022452324628829e-05,1.07460000435821712017e-05,NULL,'[]');
INSERT INTO "runs" VALUES('fbadf838f8dc','warm-up',20,'valid',NULL,'2026-11-21T20:22:05.253Z',3000000,7.32029002392664551734e-04,4.96439970447681844234e-05,1.23080026241950690746e-05,NULL,'[]');
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
INSERT INTO "series" VALUES('3a16ab0f2aff','2026-11-21T20:21:53.802Z','complete',NULL,'stripe in turns: FILE get: file:///srv/data.bin','stripe as it is','',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'get','file','',NULL,NULL,'/srv/data.bin',NULL,NULL,'sharebench','0.2.0',NULL,NULL,NULL,1048576,1,NULL,NULL,'{"client":"sharebench","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":1,"warmups":2,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"record","server_ssh":null,"smb_conf":null,"ceiling":"skip"}',NULL,NULL,'trial stripe /srv/data.bin 2026-11-21 20:21:52',NULL,1);
INSERT INTO "series" VALUES('fbadf838f8dc','2026-11-21T20:21:53.802Z','complete',NULL,'stripe in turns: FILE get: file:///srv/data.bin','stripe = applied','','3a16ab0f2aff',NULL,'stripe','applied','as it was','confirmed','[]','Set by sharebench and proven: stripe = applied in effect.','get','file','',NULL,NULL,'/srv/data.bin',NULL,NULL,'sharebench','0.2.0',NULL,NULL,NULL,1048576,1,NULL,NULL,'{"client":"sharebench","settings":{"block_bytes":null,"in_flight":null,"sign":false,"encrypt":false,"timeout_seconds":30.0,"drop_cache":false},"runs":1,"warmups":2,"until_percent":null,"max_runs":30,"size_bytes":null,"make_file":false,"verify":false,"quiet_time":"record","server_ssh":null,"smb_conf":null,"ceiling":"skip"}',NULL,NULL,'trial stripe /srv/data.bin 2026-11-21 20:21:52',NULL,2);
CREATE TABLE series_texts (
    series_id TEXT PRIMARY KEY REFERENCES series (id) ON DELETE CASCADE,
    text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "series_texts" VALUES('3a16ab0f2aff','3a16ab0f2aff
2026-11-21T20:21:53.802Z
stripe as it is
stripe in turns: FILE get: file:///srv/data.bin

file:///srv/data.bin
get
sharebench
trial stripe /srv/data.bin 2026-11-21 20:21:52
');
INSERT INTO "series_texts" VALUES('fbadf838f8dc','fbadf838f8dc
2026-11-21T20:21:53.802Z
stripe = applied
stripe in turns: FILE get: file:///srv/data.bin

file:///srv/data.bin
get
sharebench
trial stripe /srv/data.bin 2026-11-21 20:21:52
stripe');
CREATE TABLE trial_slots (
    series_id TEXT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number > 0),
    position INTEGER NOT NULL CHECK (position >= 0),
    control_seconds REAL NOT NULL,
    PRIMARY KEY (series_id, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',1,0,1.01154399999359156936e-02);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',2,3,5.16760300160967744886e-03);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',3,4,6.15135699990787543356e-03);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',4,7,5.21374200252466835081e-03);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',5,8,9.54366999940248206257e-03);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',6,11,5.14370800010510720312e-03);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',7,12,5.12527099999715574085e-03);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',8,15,0.00532857299913303);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',9,16,5.34612900082720443606e-03);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',10,19,5.21453300098073668777e-03);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',11,20,9.4912420026957988739e-03);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',12,23,5.21513399871764704585e-03);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',13,24,5.09920200056512840092e-03);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',14,27,5.11583700063056312501e-03);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',15,28,5.19075799820711836218e-03);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',16,31,7.04805900022620335221e-03);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',17,32,0.00519198999973014);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',18,35,5.15252100012730807065e-03);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',19,36,9.13498299996717832982e-03);
INSERT INTO "trial_slots" VALUES('3a16ab0f2aff',20,39,5.13305200001923367381e-03);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',1,1,1.72112610016483813524e-02);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',2,2,1.22538289979274850338e-02);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',3,5,8.93931950013211462646e-02);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',4,6,5.29103699955157935619e-03);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',5,9,9.1166249985690228641e-03);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',6,10,5.13404299999820068478e-03);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',7,13,0.00777281699993182);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',8,14,4.55992300012439955025e-02);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',9,17,5.14939600179786793887e-03);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',10,18,5.22169299802044406533e-03);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',11,21,5.18012199972872622311e-03);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',12,22,1.72008959998493082821e-02);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',13,25,0.005111680002301);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',14,26,5.10961700274492613971e-03);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',15,29,5.16414900266681797802e-03);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',16,30,5.1295769990247208625e-03);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',17,33,1.13775070021802093833e-02);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',18,34,5.19046699992031790316e-03);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',19,37,8.12583199876826256513e-03);
INSERT INTO "trial_slots" VALUES('fbadf838f8dc',20,38,5.29963000008137896656e-03);
CREATE TABLE trials (
    experiment TEXT PRIMARY KEY REFERENCES experiments (name) ON DELETE CASCADE,
    plan TEXT NOT NULL CHECK (json_valid(plan))
) STRICT, WITHOUT ROWID;
INSERT INTO "trials" VALUES('trial stripe /srv/data.bin 2026-11-21 20:21:52','{"kind": "hook", "name": "stripe", "section": "", "previous": "as it was", "values": ["applied"], "looks": [8, 14, 20], "noise_percent": 1.0, "margin_percent": 5.0, "seed": 0, "server_ssh": null, "smb_conf": null, "accepted_risks": [], "apply": "true", "revert": "true", "proofs": ["stripe = applied in effect"]}');
CREATE TABLE worksheets (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    saved_at TEXT NOT NULL,
    content TEXT NOT NULL CHECK (json_valid(content)),
    PRIMARY KEY (kind, name)
) STRICT;
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
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
CREATE INDEX series_by_time ON series (created_at, stored_order, id, experiment);
CREATE TRIGGER series_text_of_added AFTER INSERT ON series
BEGIN INSERT INTO series_texts (series_id, text) SELECT id, 
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
 FROM series WHERE id = new.id; END;
CREATE TRIGGER series_text_of_changed AFTER UPDATE ON series
BEGIN UPDATE series_texts SET text = (SELECT 
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
 FROM series WHERE id = new.id) WHERE series_id = new.id; END;
COMMIT;
