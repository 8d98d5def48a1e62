-- Which trades are filed where: each industry sector's part of a county's month, against its part of the state's?
--
-- One row a month, county and sector that has filings. Counts are listed businesses; in ratios 1 is 100 %.
--   filed_month        YYYY-MM
--   county             county name; null outside Florida and where it is unknown
--   industry_sector    sector key of the API
--   filings            businesses filed in the month
--   share_of_county    part of the county's filings of the month
--   location_quotient  share_of_county / the sector's part of the state's filings of the month; above 1 the county
--                      has more of the sector than the state
-- By month: only months whose filings changed are computed again
-- Adds up: SELECT SUM(filings) FROM agg_sector_county_month equals SELECT COUNT(*) FROM filings WHERE listed
WITH counted AS (
    SELECT SUBSTR(CAST(f.filed_date AS STRING), 1, 7) AS filed_month, f.county, f.industry_sector, COUNT(*) AS filings
    FROM filings f WHERE f.listed
    GROUP BY SUBSTR(CAST(f.filed_date AS STRING), 1, 7), f.county, f.industry_sector
),
compared AS (
    SELECT
        n.filed_month,
        n.county,
        n.industry_sector,
        n.filings,
        SUM(n.filings) OVER (PARTITION BY n.filed_month, n.county) AS county_filings,
        SUM(n.filings) OVER (PARTITION BY n.filed_month, n.industry_sector) AS sector_filings,
        SUM(n.filings) OVER (PARTITION BY n.filed_month) AS state_filings
    FROM counted n
)
SELECT
    r.filed_month AS filed_month,
    r.county AS county,
    r.industry_sector AS industry_sector,
    CAST(r.filings AS BIGINT) AS filings,
    CAST(r.filings AS DOUBLE) / CAST(r.county_filings AS DOUBLE) AS share_of_county,
    (CAST(r.filings AS DOUBLE) / CAST(r.county_filings AS DOUBLE))
        / (CAST(r.sector_filings AS DOUBLE) / CAST(r.state_filings AS DOUBLE)) AS location_quotient
FROM compared r
ORDER BY filed_month DESC, county NULLS LAST, industry_sector
