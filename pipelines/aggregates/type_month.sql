-- How many businesses of each type were filed in the state each month, and how does that compare?
--
-- One row a month and type that has filings. Counts are listed businesses; in ratios 1 is 100 %.
--   filed_month             YYYY-MM
--   entity_type             a type, or '*' for all types together (leave '*' out when adding up)
--   filings                 businesses filed in the month
--   previous_month_filings  the month before; null unless the lake has that month completely
--   month_over_month        filings / previous_month_filings - 1; null unless both months are complete
--   year_ago_filings        the same month a year ago; null unless the lake has it completely
--   year_over_year          filings / year_ago_filings - 1; null unless both months are complete
--   share_of_month          part of the month's filings of all types
--   days_proven             days of the month, up to today, that coverage proves complete, fictitious names included
--   is_whole                the month is over and coverage proves every day of it complete, fictitious names included,
--                          as last read; filings of its last days still arrive for two weeks (see settling)
-- Adds up: SELECT SUM(filings) FROM agg_type_month WHERE entity_type <> '*' equals SELECT COUNT(*) FROM filings WHERE listed
WITH anchor AS (
    SELECT MAX(s.observed_on) AS today FROM statewide s
),
proven_days AS (
    -- Both listings of the day were read: '*' has all types but fictitious names.
    SELECT c.filed_date AS filed_date
    FROM coverage c
    CROSS JOIN anchor a
    WHERE c.filed_date <= a.today
    GROUP BY c.filed_date
    HAVING MIN(CASE WHEN c.complete THEN 1 ELSE 0 END) = 1
        AND SUM(CASE WHEN c.entity_type = '*' OR c.entity_type = 'fictitious' THEN 1 ELSE 0 END) = 2
),
numbered_days AS (
    -- Month numbers: the month before is 1 less, a year ago 12 less.
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
    -- The number of complete days equals the last one's day of month; that day is over, and a 1st follows it.
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
        f.entity_type AS entity_type
    FROM filings f
    WHERE f.listed
),
typed AS (
    SELECT d.month_number, d.filed_month, d.entity_type, CAST(COUNT(*) AS BIGINT) AS filings
    FROM dated d
    GROUP BY d.month_number, d.filed_month, d.entity_type
),
spread AS (
    -- Every count 3 times: for its own month, the month after and a year after; each for its type and for all.
    SELECT
        t.month_number + o.months AS month_number,
        CASE WHEN o.months = 0 THEN t.filed_month END AS filed_month,
        CASE WHEN k.is_total = 1 THEN '*' ELSE t.entity_type END AS entity_type,
        CASE WHEN o.months = 0 THEN t.filings ELSE 0 END AS filings,
        CASE WHEN o.months = 1 THEN t.filings ELSE 0 END AS previous_month_filings,
        CASE WHEN o.months = 12 THEN t.filings ELSE 0 END AS year_ago_filings
    FROM typed t
    CROSS JOIN (SELECT 0 AS months UNION ALL SELECT 1 AS months UNION ALL SELECT 12 AS months) o
    CROSS JOIN (SELECT 0 AS is_total UNION ALL SELECT 1 AS is_total) k
),
counted AS (
    SELECT
        s.month_number AS month_number,
        MAX(s.filed_month) AS filed_month,
        s.entity_type AS entity_type,
        CAST(SUM(s.filings) AS BIGINT) AS filings,
        CAST(SUM(s.previous_month_filings) AS BIGINT) AS previous_month_filings,
        CAST(SUM(s.year_ago_filings) AS BIGINT) AS year_ago_filings
    FROM spread s
    GROUP BY s.month_number, s.entity_type
    HAVING SUM(s.filings) > 0
),
compared AS (
    SELECT
        n.filed_month AS filed_month,
        n.entity_type AS entity_type,
        n.filings AS filings,
        CASE WHEN wp.month_number IS NOT NULL THEN n.previous_month_filings END AS previous_month_filings,
        CASE WHEN wy.month_number IS NOT NULL THEN n.year_ago_filings END AS year_ago_filings,
        SUM(CASE WHEN n.entity_type = '*' THEN n.filings ELSE 0 END) OVER (PARTITION BY n.filed_month) AS month_filings,
        COALESCE(d.days, CAST(0 AS BIGINT)) AS days_proven,
        w.month_number IS NOT NULL AS is_whole
    FROM counted n
    LEFT JOIN proven_months d ON d.month_number = n.month_number
    LEFT JOIN whole_months w ON w.month_number = n.month_number
    LEFT JOIN whole_months wp ON wp.month_number = n.month_number - 1
    LEFT JOIN whole_months wy ON wy.month_number = n.month_number - 12
)
SELECT
    r.filed_month AS filed_month,
    r.entity_type AS entity_type,
    r.filings AS filings,
    r.previous_month_filings AS previous_month_filings,
    CASE WHEN r.is_whole AND r.previous_month_filings > 0
        THEN CAST(r.filings AS DOUBLE) / CAST(r.previous_month_filings AS DOUBLE) - 1 END AS month_over_month,
    r.year_ago_filings AS year_ago_filings,
    CASE WHEN r.is_whole AND r.year_ago_filings > 0
        THEN CAST(r.filings AS DOUBLE) / CAST(r.year_ago_filings AS DOUBLE) - 1 END AS year_over_year,
    CAST(r.filings AS DOUBLE) / CAST(r.month_filings AS DOUBLE) AS share_of_month,
    r.days_proven AS days_proven,
    r.is_whole AS is_whole
FROM compared r
ORDER BY filed_month DESC, entity_type
