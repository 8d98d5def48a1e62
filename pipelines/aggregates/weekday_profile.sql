-- What does an ordinary week look like?
--
-- One row for each weekday, over the complete days (fictitious names included) of the last 365 up to today.
-- Left out: days that are not ordinary (holidays, first open days after them, 1sts and 15ths of a month) and the newest 15 days
-- (filings still arrive). Counts are listed businesses.
--   weekday          1 Monday to 7 Sunday, by filing date
--   days             days counted
--   filings          businesses filed on them
--   filings_per_day  filings / days
-- Adds up: SELECT SUM(filings) FROM agg_weekday_profile equals SELECT SUM(filings) FROM days d WHERE d.complete AND d.ordinary AND d.days_ago >= 15 AND d.days_ago < 365
SELECT
    d.weekday AS weekday,
    CAST(COUNT(*) AS BIGINT) AS days,
    CAST(SUM(d.filings) AS BIGINT) AS filings,
    CAST(SUM(d.filings) AS DOUBLE) / CAST(COUNT(*) AS DOUBLE) AS filings_per_day
FROM days d
WHERE d.complete AND d.ordinary AND d.days_ago >= 15 AND d.days_ago < 365
GROUP BY d.weekday
ORDER BY weekday
