-- How did each county do, month by month and type by type, against the month and the year before?
--
-- One row a month, county and type that has filings. Counts are listed businesses; in ratios 1 is 100 %.
--   filed_month             YYYY-MM
--   county                  county name; '' is outside Florida or unknown
--   entity_type             a type, or '*' for all types together (leave '*' out when adding up)
--   filings                 businesses filed in the month
--   previous_month_filings  the month before; null unless the lake holds that month whole
--   month_over_month        filings / previous_month_filings - 1; null unless both months are whole
--   year_ago_filings        the same month a year ago; null unless the lake holds it whole
--   year_over_year          filings / year_ago_filings - 1; null unless both months are whole
--   share_of_state          part of the state's filings of this type and month
--   rank_in_state           1 has the most filings of this type and month; equal counts share a rank
--   is_whole                the month is over and coverage proves every day of it complete, as last read; its last
--                          days go on filling for two weeks (see settling)
WITH anchor AS (
    SELECT MAX(s.observed_on) AS today FROM statewide s
),
proven_days AS (
    SELECT c.filed_date AS filed_date
    FROM coverage c
    CROSS JOIN anchor a
    WHERE c.filed_date <= a.today
    GROUP BY c.filed_date
    HAVING MIN(CASE WHEN c.complete THEN 1 ELSE 0 END) = 1
        AND SUM(CASE WHEN c.entity_type = '*' THEN 1 ELSE 0 END) = 1
),
numbered_days AS (
    -- Months numbered through, so that the month before is 1 less and a year ago 12 less.
    SELECT
        CAST(EXTRACT(YEAR FROM p.filed_date) AS BIGINT) * 12
            + CAST(EXTRACT(MONTH FROM p.filed_date) AS BIGINT) AS month_number,
        p.filed_date AS filed_date
    FROM proven_days p
),
proven_months AS (
    SELECT d.month_number AS month_number, CAST(COUNT(*) AS BIGINT) AS days, MAX(d.filed_date) AS last_day
    FROM numbered_days d
    GROUP BY d.month_number
),
whole_months AS (
    -- As many proven days as the number of the last one, which is over, and the day after it is a 1st.
    SELECT m.month_number AS month_number
    FROM proven_months m
    CROSS JOIN anchor a
    WHERE m.last_day < a.today
        AND m.days = EXTRACT(DAY FROM m.last_day)
        AND EXTRACT(DAY FROM m.last_day + INTERVAL '1 day') = 1
),
dated AS (
    SELECT
        CAST(EXTRACT(YEAR FROM f.filed_date) AS BIGINT) * 12
            + CAST(EXTRACT(MONTH FROM f.filed_date) AS BIGINT) AS month_number,
        SUBSTR(CAST(f.filed_date AS STRING), 1, 7) AS filed_month,
        f.county AS county,
        f.entity_type AS entity_type
    FROM filings f
    WHERE f.listed
),
typed AS (
    SELECT d.month_number, d.filed_month, d.county, d.entity_type, CAST(COUNT(*) AS BIGINT) AS filings
    FROM dated d
    GROUP BY d.month_number, d.filed_month, d.county, d.entity_type
),
counted AS (
    SELECT t.month_number, t.filed_month, t.county, t.entity_type, t.filings FROM typed t
    UNION ALL
    SELECT t.month_number, t.filed_month, t.county, '*' AS entity_type, CAST(SUM(t.filings) AS BIGINT) AS filings
    FROM typed t
    GROUP BY t.month_number, t.filed_month, t.county
),
state AS (
    SELECT n.month_number AS month_number, n.entity_type AS entity_type, CAST(SUM(n.filings) AS BIGINT) AS filings
    FROM counted n
    GROUP BY n.month_number, n.entity_type
),
compared AS (
    SELECT
        n.filed_month AS filed_month,
        n.county AS county,
        n.entity_type AS entity_type,
        n.filings AS filings,
        CASE WHEN wp.month_number IS NULL THEN NULL ELSE COALESCE(p.filings, CAST(0 AS BIGINT)) END
            AS previous_month_filings,
        CASE WHEN wy.month_number IS NULL THEN NULL ELSE COALESCE(y.filings, CAST(0 AS BIGINT)) END
            AS year_ago_filings,
        CAST(n.filings AS DOUBLE) / CAST(st.filings AS DOUBLE) AS share_of_state,
        CAST(RANK() OVER (PARTITION BY n.filed_month, n.entity_type ORDER BY n.filings DESC) AS BIGINT) AS rank_in_state,
        CASE WHEN w.month_number IS NULL THEN FALSE ELSE TRUE END AS is_whole
    FROM counted n
    JOIN state st ON st.month_number = n.month_number AND st.entity_type = n.entity_type
    LEFT JOIN whole_months w ON w.month_number = n.month_number
    LEFT JOIN whole_months wp ON wp.month_number = n.month_number - 1
    LEFT JOIN whole_months wy ON wy.month_number = n.month_number - 12
    LEFT JOIN counted p
        ON p.month_number = n.month_number - 1 AND p.county = n.county AND p.entity_type = n.entity_type
    LEFT JOIN counted y
        ON y.month_number = n.month_number - 12 AND y.county = n.county AND y.entity_type = n.entity_type
)
SELECT
    r.filed_month AS filed_month,
    r.county AS county,
    r.entity_type AS entity_type,
    r.filings AS filings,
    r.previous_month_filings AS previous_month_filings,
    CASE WHEN r.is_whole AND r.previous_month_filings > 0
        THEN CAST(r.filings AS DOUBLE) / CAST(r.previous_month_filings AS DOUBLE) - 1 END AS month_over_month,
    r.year_ago_filings AS year_ago_filings,
    CASE WHEN r.is_whole AND r.year_ago_filings > 0
        THEN CAST(r.filings AS DOUBLE) / CAST(r.year_ago_filings AS DOUBLE) - 1 END AS year_over_year,
    r.share_of_state AS share_of_state,
    r.rank_in_state AS rank_in_state,
    r.is_whole AS is_whole
FROM compared r
ORDER BY filed_month DESC, entity_type, rank_in_state, county
