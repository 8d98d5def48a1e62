-- How full are the recent days?
--
-- Half of a day's filings appear four or more days after its date. One row a day of coverage
-- among the last 30 up to today. Counts are listed businesses of all types.
--   filed_date     day of filing
--   weekday        1 Monday to 7 Sunday
--   filings        businesses the lake lists for the day
--   expected       rows the API said the day has, when it was last read
--   is_proven      whether coverage proves the day complete as last read, fictitious names included
--   usual_filings  mean of the same weekday over the complete days from 30 to 113 days back, without 1sts of a month;
--                  null when there is none. Office closures and 1sts of a month always differ from it
--   fullness       filings / usual_filings; 1 is as full as usual
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
read_days AS (
    SELECT c.filed_date AS filed_date, CAST(SUM(c.expected) AS BIGINT) AS expected
    FROM coverage c
    CROSS JOIN anchor a
    WHERE c.filed_date <= a.today AND c.filed_date > a.today - INTERVAL '114 days'
    GROUP BY c.filed_date
),
marched AS (
    -- Years begin in March, so that a leap day comes last. The day number is computed from them.
    SELECT
        r.filed_date AS filed_date,
        CAST(EXTRACT(DAY FROM r.filed_date) AS BIGINT) AS day_of_month,
        (CAST(EXTRACT(MONTH FROM r.filed_date) AS BIGINT) + 9) % 12 AS month_from_march,
        CAST(EXTRACT(YEAR FROM r.filed_date) AS BIGINT)
            - CASE WHEN EXTRACT(MONTH FROM r.filed_date) < 3 THEN 1 ELSE 0 END AS year_from_march
    FROM read_days r
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
by_day AS (
    SELECT f.filed_date AS filed_date, CAST(COUNT(*) AS BIGINT) AS filings
    FROM filings f
    WHERE f.listed
    GROUP BY f.filed_date
),
filled AS (
    SELECT
        w.filed_date AS filed_date,
        w.day_of_month AS day_of_month,
        w.weekday AS weekday,
        COALESCE(b.filings, CAST(0 AS BIGINT)) AS filings,
        r.expected AS expected,
        CASE WHEN p.filed_date IS NULL THEN FALSE ELSE TRUE END AS is_proven
    FROM weekdays w
    JOIN read_days r ON r.filed_date = w.filed_date
    LEFT JOIN proven_days p ON p.filed_date = w.filed_date
    LEFT JOIN by_day b ON b.filed_date = w.filed_date
),
usual AS (
    SELECT
        d.weekday AS weekday,
        CAST(SUM(d.filings) AS DOUBLE) / CAST(COUNT(*) AS DOUBLE) AS usual_filings
    FROM filled d
    CROSS JOIN anchor a
    WHERE d.is_proven AND d.day_of_month <> 1 AND d.filed_date <= a.today - INTERVAL '30 days'
    GROUP BY d.weekday
)
SELECT
    d.filed_date AS filed_date,
    d.weekday AS weekday,
    d.filings AS filings,
    d.expected AS expected,
    d.is_proven AS is_proven,
    u.usual_filings AS usual_filings,
    CASE WHEN u.usual_filings > 0 THEN CAST(d.filings AS DOUBLE) / u.usual_filings END AS fullness
FROM filled d
CROSS JOIN anchor a
LEFT JOIN usual u ON u.weekday = d.weekday
WHERE d.filed_date > a.today - INTERVAL '30 days'
ORDER BY filed_date DESC
