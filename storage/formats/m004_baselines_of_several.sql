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
