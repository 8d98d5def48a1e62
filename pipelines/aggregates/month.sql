-- How many businesses were filed in the state each month, and how does that compare?
--
-- One row a month that has filings. Counts are listed businesses; in ratios 1 is 100 %.
--   filed_month             YYYY-MM
--   filings                 businesses filed in the month
--   previous_month_filings  the month before; null unless the lake has that month completely
--   month_over_month        change of filed on the month before; null unless the month is settled, the other complete, and both have filed
--   year_ago_filings        the same month a year ago; null unless the lake has it completely
--   year_over_year          change of filed on a year ago; null unless the month is settled, the other complete, and both have filed
--   days_complete           days of the month, up to today, that coverage proves complete, fictitious names included
--   complete                the month is over and coverage proves every day of it complete, fictitious names included,
--                           as last read; filings of its last days still arrive for two weeks
--   filed                   businesses filed in the month, listed or no more: older months have lost more of them, so that
--                           only this number can be compared. Null where the lake cannot know it (see days)
--   settled                 complete, and its last day is at least 15 days ago: nearly all filings have arrived
-- Adds up: SELECT SUM(filings) FROM agg_month equals SELECT COUNT(*) FROM filings WHERE listed
SELECT
    m.filed_month AS filed_month,
    m.filings AS filings,
    CASE WHEN p.complete THEN p.filings END AS previous_month_filings,
    CASE WHEN m.complete AND m.days_ago >= 15 AND p.complete AND p.filed > 0
        THEN CAST(m.filed AS DOUBLE) / CAST(p.filed AS DOUBLE) - 1 END AS month_over_month,
    CASE WHEN y.complete THEN y.filings END AS year_ago_filings,
    CASE WHEN m.complete AND m.days_ago >= 15 AND y.complete AND y.filed > 0
        THEN CAST(m.filed AS DOUBLE) / CAST(y.filed AS DOUBLE) - 1 END AS year_over_year,
    m.days_complete AS days_complete,
    m.complete AS complete,
    m.filed AS filed,
    m.complete AND m.days_ago >= 15 AS settled
FROM months m
LEFT JOIN months p ON p.month_number = m.month_number - 1
LEFT JOIN months y ON y.month_number = m.month_number - 12
WHERE m.filings > 0
ORDER BY filed_month DESC
