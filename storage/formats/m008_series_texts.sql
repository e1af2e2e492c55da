DROP INDEX series_by_time;
CREATE INDEX series_by_time ON series (created_at, stored_order, id, experiment);
CREATE TABLE series_texts (
    series_id TEXT PRIMARY KEY REFERENCES series (id) ON DELETE CASCADE,
    text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO series_texts (series_id, text) SELECT id, 
@searched
 FROM series;
CREATE TRIGGER series_text_of_added AFTER INSERT ON series
BEGIN INSERT INTO series_texts (series_id, text) SELECT id, 
@searched
 FROM series WHERE id = new.id; END;
CREATE TRIGGER series_text_of_changed AFTER UPDATE ON series
BEGIN UPDATE series_texts SET text = (SELECT 
@searched
 FROM series WHERE id = new.id) WHERE series_id = new.id; END;
