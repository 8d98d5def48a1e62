-- What does an ordinary week look like?
--
-- One row for each weekday, over the complete days (fictitious names included) of the last 365 up to today.
-- Left out: state holidays, 1sts of a month (about 1.7 times a day's filings) and the newest 14 days (filings still
-- arrive). Counts are listed businesses.
--   weekday          1 Monday to 7 Sunday, by filing date
--   days             days counted
--   filings          businesses filed on them
--   filings_per_day  filings / days
-- Adds up: SELECT SUM(filings) FROM agg_weekday_profile equals SELECT SUM(filings) FROM days d WHERE d.complete AND d.holiday IS NULL AND EXTRACT(DAY FROM d.filed_date) <> 1 AND d.days_ago >= 14 AND d.days_ago < 365
SELECT
    d.weekday AS weekday,
    CAST(COUNT(*) AS BIGINT) AS days,
    CAST(SUM(d.filings) AS BIGINT) AS filings,
    CAST(SUM(d.filings) AS DOUBLE) / CAST(COUNT(*) AS DOUBLE) AS filings_per_day
FROM days d
WHERE d.complete AND d.holiday IS NULL AND EXTRACT(DAY FROM d.filed_date) <> 1 AND d.days_ago >= 14 AND d.days_ago < 365
GROUP BY d.weekday
ORDER BY weekday
