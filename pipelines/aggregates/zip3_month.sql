-- How do the postal regions (first three ZIP digits) do, month by month?
--
-- One row a month and region that has filings. Florida's regions are 320-349; others are out of state.
-- Counts are listed businesses; in ratios 1 is 100 %.
--   filed_month     YYYY-MM
--   zip3            first three characters of the ZIP code as sent; '' where the record has none
--   filings         businesses filed in the month
--   zips            different ZIP codes among them; 0 where the records have none
--   share_of_state  part of all filings of the month
--   rank_in_state   1 has the most filings of the month; equal counts share a rank
-- By month: only months whose filings changed are computed again
-- Adds up: SELECT SUM(filings) FROM agg_zip3_month equals SELECT COUNT(*) FROM filings WHERE listed
WITH zips AS (
    SELECT SUBSTR(CAST(f.filed_date AS STRING), 1, 7) AS filed_month, f.zip, COUNT(*) AS filings
    FROM filings f WHERE f.listed
    GROUP BY SUBSTR(CAST(f.filed_date AS STRING), 1, 7), f.zip
),
counted AS (
    SELECT
        f.filed_month AS filed_month,
        SUBSTR(f.zip, 1, 3) AS zip3,
        CAST(SUM(f.filings) AS BIGINT) AS filings,
        CAST(COUNT(NULLIF(f.zip, '')) AS BIGINT) AS zips
    FROM zips f
    GROUP BY f.filed_month, SUBSTR(f.zip, 1, 3)
)
SELECT
    n.filed_month AS filed_month,
    n.zip3 AS zip3,
    n.filings AS filings,
    n.zips AS zips,
    CAST(n.filings AS DOUBLE) / CAST(SUM(n.filings) OVER (PARTITION BY n.filed_month) AS DOUBLE) AS share_of_state,
    CAST(RANK() OVER (PARTITION BY n.filed_month ORDER BY n.filings DESC) AS BIGINT) AS rank_in_state
FROM counted n
ORDER BY filed_month DESC, rank_in_state, zip3
