-- How many businesses of each type were filed in the state each month, and how does that compare?
--
-- One row a month and type that has filings. Counts are listed businesses; in ratios 1 is 100 %.
--   filed_month             YYYY-MM
--   entity_type             llc, corporation, partnership, nonprofit, fictitious, trust
--   filings                 businesses filed in the month
--   previous_month_filings  the month before; null unless the lake has that month completely
--   month_over_month        filings / previous_month_filings - 1; null unless the month is settled, the other complete, and at least
--                           99 of 100 businesses filed in the earlier one are still listed (see agg_month)
--   year_ago_filings        the same month a year ago; null unless the lake has it completely
--   year_over_year          filings / year_ago_filings - 1; null unless the month is settled, the other complete, and at least
--                           99 of 100 businesses filed in the earlier one are still listed (see agg_month)
--   share_of_month          part of the month's filings of all types
--   complete                the month is over and coverage proves every day of it complete, fictitious names included,
--                           as last read; filings of its last days still arrive for two weeks
--   settled                 complete, and its last day is at least 15 days ago: nearly all filings have arrived
-- Adds up: SELECT SUM(filings) FROM agg_type_month equals SELECT COUNT(*) FROM filings WHERE listed
WITH counted AS (
    SELECT
        f.filed_month AS filed_month,
        f.entity_type AS entity_type,
        CAST(SUM(f.filings) AS BIGINT) AS filings
    FROM agg_county_type_month f
    GROUP BY f.filed_month, f.entity_type
),
numbered AS (
    SELECT
        c.filed_month AS filed_month,
        m.month_number AS month_number,
        c.entity_type AS entity_type,
        c.filings AS filings,
        m.filings AS month_filings,
        m.complete AS complete,
        m.complete AND m.days_ago >= 15 AS settled
    FROM counted c
    JOIN months m ON m.filed_month = c.filed_month
)
SELECT
    n.filed_month AS filed_month,
    n.entity_type AS entity_type,
    n.filings AS filings,
    CASE WHEN mp.complete THEN COALESCE(p.filings, CAST(0 AS BIGINT)) END AS previous_month_filings,
    CASE WHEN n.settled AND p.complete AND (mp.filed - mp.filings) * 100 <= mp.filed THEN CAST(n.filings AS DOUBLE) / CAST(p.filings AS DOUBLE) - 1 END AS month_over_month,
    CASE WHEN my.complete THEN COALESCE(y.filings, CAST(0 AS BIGINT)) END AS year_ago_filings,
    CASE WHEN n.settled AND y.complete AND (my.filed - my.filings) * 100 <= my.filed THEN CAST(n.filings AS DOUBLE) / CAST(y.filings AS DOUBLE) - 1 END AS year_over_year,
    CAST(n.filings AS DOUBLE) / CAST(n.month_filings AS DOUBLE) AS share_of_month,
    n.complete AS complete,
    n.settled AS settled
FROM numbered n
LEFT JOIN months mp ON mp.month_number = n.month_number - 1
LEFT JOIN months my ON my.month_number = n.month_number - 12
LEFT JOIN numbered p ON p.month_number = n.month_number - 1 AND p.entity_type = n.entity_type
LEFT JOIN numbered y ON y.month_number = n.month_number - 12 AND y.entity_type = n.entity_type
ORDER BY filed_month DESC, entity_type
