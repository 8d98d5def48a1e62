-- What does an ordinary week look like, by type?
--
-- One row for each weekday and type that has filings on it, over the complete days (fictitious names included) of the last 365 up to today.
-- Left out: days that are not ordinary (holidays, first open days after them, 1sts and 15ths of a month) and the newest 15 days
-- (filings still arrive). Counts are listed businesses.
--   weekday          1 Monday to 7 Sunday, by filing date
--   entity_type      llc, corporation, partnership, nonprofit, fictitious, trust
--   days             days counted
--   filings          businesses filed on them
--   filings_per_day  filings / days
-- Adds up: SELECT SUM(filings) FROM agg_weekday_type_profile equals SELECT SUM(filings) FROM days d WHERE d.complete AND d.ordinary AND d.days_ago >= 15 AND d.days_ago < 365
WITH counted_days AS (
    SELECT d.filed_date AS filed_date, d.weekday AS weekday
    FROM days d
    WHERE d.complete AND d.ordinary AND d.days_ago >= 15 AND d.days_ago < 365
),
weekdays AS (
    SELECT d.weekday AS weekday, CAST(COUNT(*) AS BIGINT) AS days FROM counted_days d GROUP BY d.weekday
),
counted AS (
    SELECT d.weekday AS weekday, f.entity_type AS entity_type, CAST(SUM(f.filings) AS BIGINT) AS filings
    FROM agg_county_type_day f
    JOIN counted_days d ON d.filed_date = f.filed_date
    GROUP BY d.weekday, f.entity_type
)
SELECT
    n.weekday AS weekday,
    n.entity_type AS entity_type,
    w.days AS days,
    n.filings AS filings,
    CAST(n.filings AS DOUBLE) / CAST(w.days AS DOUBLE) AS filings_per_day
FROM counted n
JOIN weekdays w ON w.weekday = n.weekday
ORDER BY weekday, entity_type
