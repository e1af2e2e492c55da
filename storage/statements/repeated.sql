WITH RECURSIVE again (series_id, first_id) AS (
    SELECT id, id FROM series WHERE (base_id IS NULL OR change_name IS NOT NULL)
        AND EXISTS (SELECT 1 FROM series AS next WHERE next.base_id = series.id AND next.change_name IS NULL)
    UNION ALL
    SELECT series.id, first_id FROM again JOIN series ON series.base_id = again.series_id
    WHERE series.change_name IS NULL
)
SELECT team, found.series_id FROM (
    SELECT 'baseline ' || name AS team, recording_id AS series_id FROM baselines
    UNION ALL
    SELECT 'experiment ' || experiments.name, series.id FROM experiments
    JOIN series ON series.experiment = experiments.name
    JOIN recordings ON recordings.id = series.id WHERE experiments.kind = ? AND recordings.status = 'complete'
    UNION ALL
    SELECT 'series ' || first_id, series_id FROM again
) AS found JOIN recordings ON recordings.id = found.series_id AND recordings.kind = 'series'
ORDER BY team, stored_order
