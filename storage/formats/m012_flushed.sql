ALTER TABLE series ADD COLUMN flushed INTEGER NOT NULL DEFAULT 0 CHECK (flushed IN (0, 1));
UPDATE series SET flushed = 1, "plan" = json_set("plan", '$.settings.flush', json('true'))
WHERE command = 'put' AND protocol = 'file' AND client = 'sharebench' AND json_extract("plan", '$.files') IS NULL;
