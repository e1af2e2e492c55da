ALTER TABLE trial_slots ADD COLUMN requests_per_second REAL CHECK (requests_per_second >= 0);
ALTER TABLE trial_slots ADD COLUMN generator_limited INTEGER NOT NULL DEFAULT 0 CHECK (generator_limited IN (0, 1));
