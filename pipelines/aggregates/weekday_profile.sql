-- What does an ordinary week look like, by type?
--
-- One row for each weekday and type, over the complete days (fictitious names included) of the last 365 up to today.
-- Left out: 1sts of a month (about 1.7 times a day's filings) and the newest 14 days (filings still arrive).
-- Counts are listed businesses.
--   weekday          1 Monday to 7 Sunday, by filing date
--   entity_type      a type, or '*' for all types together (leave '*' out when adding up)
--   days             days counted
--   filings          businesses filed on them
--   filings_per_day  filings / days
--   share_of_week    filings_per_day as part of the sum over the week's days; 1 is 100 %
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
marched AS (
    -- Years begin in March, so that a leap day comes last. The day number is computed from them.
    SELECT
        p.filed_date AS filed_date,
        CAST(EXTRACT(DAY FROM p.filed_date) AS BIGINT) AS day_of_month,
        (CAST(EXTRACT(MONTH FROM p.filed_date) AS BIGINT) + 9) % 12 AS month_from_march,
        CAST(EXTRACT(YEAR FROM p.filed_date) AS BIGINT)
            - CASE WHEN EXTRACT(MONTH FROM p.filed_date) < 3 THEN 1 ELSE 0 END AS year_from_march
    FROM proven_days p
),
weekdays AS (
    -- 2 shifts the day number so that 1 is Monday (1 March of year 0 was a Wednesday).
    SELECT
        m.filed_date AS filed_date,
        m.day_of_month AS day_of_month,
        (
            m.day_of_month + 1 + 365 * m.year_from_march
            + CAST(FLOOR(CAST(153 * m.month_from_march + 2 AS DOUBLE) / 5) AS BIGINT)
            + CAST(FLOOR(CAST(m.year_from_march AS DOUBLE) / 4) AS BIGINT)
            - CAST(FLOOR(CAST(m.year_from_march AS DOUBLE) / 100) AS BIGINT)
            + CAST(FLOOR(CAST(m.year_from_march AS DOUBLE) / 400) AS BIGINT)
        ) % 7 + 1 AS weekday
    FROM marched m
),
days_counted AS (
    SELECT w.filed_date AS filed_date, w.weekday AS weekday
    FROM weekdays w
    CROSS JOIN anchor a
    WHERE w.day_of_month <> 1
        AND w.filed_date <= a.today - INTERVAL '14 days'
        AND w.filed_date > a.today - INTERVAL '365 days'
),
weekday_days AS (
    SELECT d.weekday AS weekday, CAST(COUNT(*) AS BIGINT) AS days
    FROM days_counted d
    GROUP BY d.weekday
),
by_day AS (
    SELECT f.filed_date AS filed_date, f.entity_type AS entity_type, CAST(COUNT(*) AS BIGINT) AS filings
    FROM filings f
    WHERE f.listed
    GROUP BY f.filed_date, f.entity_type
),
kinds AS (
    SELECT
        d.weekday AS weekday,
        CASE WHEN k.is_total = 1 THEN '*' ELSE b.entity_type END AS entity_type,
        b.filings AS filings
    FROM by_day b
    JOIN days_counted d ON d.filed_date = b.filed_date
    CROSS JOIN (SELECT 0 AS is_total UNION ALL SELECT 1 AS is_total) k
),
counted AS (
    SELECT k.weekday AS weekday, k.entity_type AS entity_type, CAST(SUM(k.filings) AS BIGINT) AS filings
    FROM kinds k
    GROUP BY k.weekday, k.entity_type
),
crossed AS (
    -- Every weekday that was seen with every type, so that a weekday without filings of a type says 0.
    SELECT k.entity_type AS entity_type, d.weekday AS weekday, d.days AS days
    FROM (SELECT DISTINCT n.entity_type AS entity_type FROM counted n) k
    CROSS JOIN weekday_days d
),
filled AS (
    SELECT
        c.weekday AS weekday,
        c.entity_type AS entity_type,
        c.days AS days,
        COALESCE(n.filings, CAST(0 AS BIGINT)) AS filings,
        CAST(COALESCE(n.filings, CAST(0 AS BIGINT)) AS DOUBLE) / CAST(c.days AS DOUBLE) AS filings_per_day
    FROM crossed c
    LEFT JOIN counted n ON n.weekday = c.weekday AND n.entity_type = c.entity_type
),
week AS (
    -- One conditional sum a weekday, added in weekday order: floats add up the same on every engine.
    SELECT
        r.entity_type AS entity_type,
        SUM(CASE WHEN r.weekday = 1 THEN r.filings_per_day ELSE 0 END)
            + SUM(CASE WHEN r.weekday = 2 THEN r.filings_per_day ELSE 0 END)
            + SUM(CASE WHEN r.weekday = 3 THEN r.filings_per_day ELSE 0 END)
            + SUM(CASE WHEN r.weekday = 4 THEN r.filings_per_day ELSE 0 END)
            + SUM(CASE WHEN r.weekday = 5 THEN r.filings_per_day ELSE 0 END)
            + SUM(CASE WHEN r.weekday = 6 THEN r.filings_per_day ELSE 0 END)
            + SUM(CASE WHEN r.weekday = 7 THEN r.filings_per_day ELSE 0 END) AS filings_per_week
    FROM filled r
    GROUP BY r.entity_type
)
SELECT
    r.weekday AS weekday,
    r.entity_type AS entity_type,
    r.days AS days,
    r.filings AS filings,
    r.filings_per_day AS filings_per_day,
    CASE WHEN k.filings_per_week > 0 THEN r.filings_per_day / k.filings_per_week END AS share_of_week
FROM filled r
JOIN week k ON k.entity_type = r.entity_type
ORDER BY entity_type, weekday
