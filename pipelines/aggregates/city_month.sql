-- Which cities lead each county, month by month, whatever the spelling?
--
-- One row a month, county and city that has filings. Counts are listed businesses; in ratios 1 is 100 %.
--   filed_month      YYYY-MM
--   county           county name; null outside Florida and where it is unknown
--   city_clean       city in one spelling; '' where the record has none
--   filings          businesses filed in the month
--   spellings        ways the city was written in these records; 0 where they have none
--   share_of_county  part of the county's filings of the month
--   rank_in_county   1 has the most filings of the county and month; equal counts share a rank
-- By month: only months whose filings changed are computed again
-- Adds up: SELECT SUM(filings) FROM agg_city_month equals SELECT COUNT(*) FROM filings WHERE listed
WITH spelled AS (
    SELECT SUBSTR(CAST(f.filed_date AS STRING), 1, 7) AS filed_month, f.county, f.city_clean, f.city, COUNT(*) AS filings
    FROM filings f WHERE f.listed
    GROUP BY SUBSTR(CAST(f.filed_date AS STRING), 1, 7), f.county, f.city_clean, f.city
),
counted AS (
    SELECT
        f.filed_month AS filed_month,
        f.county AS county,
        f.city_clean AS city_clean,
        CAST(SUM(f.filings) AS BIGINT) AS filings,
        CAST(COUNT(NULLIF(f.city, '')) AS BIGINT) AS spellings
    FROM spelled f
    GROUP BY f.filed_month, f.county, f.city_clean
)
SELECT
    n.filed_month AS filed_month,
    n.county AS county,
    n.city_clean AS city_clean,
    n.filings AS filings,
    n.spellings AS spellings,
    CAST(n.filings AS DOUBLE) / CAST(SUM(n.filings) OVER (PARTITION BY n.filed_month, n.county) AS DOUBLE) AS share_of_county,
    CAST(RANK() OVER (PARTITION BY n.filed_month, n.county ORDER BY n.filings DESC) AS BIGINT) AS rank_in_county
FROM counted n
ORDER BY filed_month DESC, county NULLS LAST, rank_in_county, city_clean
