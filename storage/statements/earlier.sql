-- :since is NONE_AFTER_DAYS before :before, and :most is MOST_EARLIER (forms/stats/variation.py): older series weigh
-- nothing, and beyond that number they would hardly change how far equal series are taken to differ.
SELECT series.id FROM series JOIN recordings ON recordings.id = series.id
    LEFT JOIN experiments ON experiments.name = series.experiment
WHERE command = :command AND protocol = :protocol AND host = :host COLLATE NOCASE AND port IS :port
    AND share IS :share AND path = :path AND client = :client AND recordings.status = 'complete'
    AND recordings.created_at < :before AND recordings.created_at >= :since
    AND ifnull(experiments.kind, 'ladder') IN (KINDS)
ORDER BY recordings.created_at DESC LIMIT :most
