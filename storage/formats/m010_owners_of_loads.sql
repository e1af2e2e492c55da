ALTER TABLE loads ADD COLUMN owner TEXT CHECK (owner IS NULL OR json_valid(owner));
