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
