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
