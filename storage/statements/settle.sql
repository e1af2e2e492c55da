UPDATE recordings SET status = (
    SELECT CASE WHEN max(status = 'interrupted') OR count(*) < (
            SELECT coalesce(json_extract(content, '$.parts'), 0) FROM recordings WHERE id = ?1
        ) THEN 'interrupted' WHEN min(status = 'failed') THEN 'failed'
        ELSE 'complete' END
    FROM recordings AS part WHERE part.part_of = ?1
) WHERE id = ?1
