-- Which trades are filed, month by month, and how does that compare?
--
-- One row a month and industry sector that has filings. Counts are listed businesses; in ratios 1 is 100 %.
--   filed_month             YYYY-MM
--   industry_sector         sector key of the API
--   filings                 businesses filed in the month
--   year_ago_filings        the same month a year ago; null unless the lake has it completely
--   year_over_year          filings / year_ago_filings - 1; null unless the month is settled, the other complete, and at least
--                           99 of 100 businesses filed in the earlier one are still listed (see agg_month)
--   share_of_month          part of the month's filings
--   complete                the month is over and coverage proves every day of it complete, fictitious names included
--   settled                 complete, and its last day is at least 15 days ago: nearly all filings have arrived
-- Adds up: SELECT SUM(filings) FROM agg_sector_month equals SELECT COUNT(*) FROM filings WHERE listed
WITH counted AS (
    SELECT
        f.filed_month AS filed_month,
        f.industry_sector AS industry_sector,
        CAST(SUM(f.filings) AS BIGINT) AS filings
    FROM agg_sector_county_month f
    GROUP BY f.filed_month, f.industry_sector
),
numbered AS (
    SELECT
        c.filed_month AS filed_month,
        m.month_number AS month_number,
        c.industry_sector AS industry_sector,
        c.filings AS filings,
        m.filings AS month_filings,
        m.complete AS complete,
        m.complete AND m.days_ago >= 15 AS settled
    FROM counted c
    JOIN months m ON m.filed_month = c.filed_month
)
SELECT
    n.filed_month AS filed_month,
    n.industry_sector AS industry_sector,
    n.filings AS filings,
    CASE WHEN my.complete THEN COALESCE(y.filings, CAST(0 AS BIGINT)) END AS year_ago_filings,
    CASE WHEN n.settled AND y.complete AND (my.filed - my.filings) * 100 <= my.filed THEN CAST(n.filings AS DOUBLE) / CAST(y.filings AS DOUBLE) - 1 END AS year_over_year,
    CAST(n.filings AS DOUBLE) / CAST(n.month_filings AS DOUBLE) AS share_of_month,
    n.complete AS complete,
    n.settled AS settled
FROM numbered n
LEFT JOIN months my ON my.month_number = n.month_number - 12
LEFT JOIN numbered y ON y.month_number = n.month_number - 12 AND y.industry_sector = n.industry_sector
ORDER BY filed_month DESC, industry_sector
