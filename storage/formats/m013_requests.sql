ALTER TABLE runs ADD COLUMN requests TEXT CHECK (requests IS NULL OR json_valid(requests));
