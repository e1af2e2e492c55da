-- The series of the comparison that a series (?) was interleaved for: the base first, the others as they were begun.
-- What was imported belongs together by itself: a document may name any id.
WITH marks AS (
    SELECT series.id, recordings.created_at, recordings.imported_at IS NULL AS is_own,
        CASE WHEN json_valid(series."plan") THEN json_extract(series."plan", '$.interleaved_with') END AS base_id
    FROM series JOIN recordings ON recordings.id = series.id
)
SELECT marks.id
FROM marks JOIN marks AS asked ON asked.base_id = marks.base_id AND asked.is_own = marks.is_own
WHERE asked.id = ?
ORDER BY marks.id <> marks.base_id, marks.created_at
