-- Which trades are filed where: each industry sector's part of a county's month, against its part of the state's?
--
-- One row a month, county and sector that has filings. Counts are listed businesses; in ratios 1 is 100 %.
--   filed_month        YYYY-MM
--   county             county name; '' is outside Florida or unknown
--   industry_sector    sector key of the API
--   filings            businesses filed in the month
--   share_of_county    part of the county's filings of the month
--   location_quotient  share_of_county / the sector's part of the state's filings of the month; above 1 the county
--                      has more of the sector than the state
WITH counted AS (
    SELECT
        SUBSTR(CAST(f.filed_date AS STRING), 1, 7) AS filed_month,
        f.county AS county,
        f.industry_sector AS industry_sector,
        CAST(COUNT(*) AS BIGINT) AS filings
    FROM filings f
    WHERE f.listed
    GROUP BY SUBSTR(CAST(f.filed_date AS STRING), 1, 7), f.county, f.industry_sector
),
counties_month AS (
    SELECT n.filed_month AS filed_month, n.county AS county, CAST(SUM(n.filings) AS BIGINT) AS filings
    FROM counted n
    GROUP BY n.filed_month, n.county
),
sectors_month AS (
    SELECT n.filed_month AS filed_month, n.industry_sector AS industry_sector, CAST(SUM(n.filings) AS BIGINT) AS filings
    FROM counted n
    GROUP BY n.filed_month, n.industry_sector
),
state_month AS (
    SELECT n.filed_month AS filed_month, CAST(SUM(n.filings) AS BIGINT) AS filings
    FROM counted n
    GROUP BY n.filed_month
)
SELECT
    n.filed_month AS filed_month,
    n.county AS county,
    n.industry_sector AS industry_sector,
    n.filings AS filings,
    CAST(n.filings AS DOUBLE) / CAST(c.filings AS DOUBLE) AS share_of_county,
    (CAST(n.filings AS DOUBLE) / CAST(c.filings AS DOUBLE)) / (CAST(s.filings AS DOUBLE) / CAST(a.filings AS DOUBLE))
        AS location_quotient
FROM counted n
JOIN counties_month c ON c.filed_month = n.filed_month AND c.county = n.county
JOIN sectors_month s ON s.filed_month = n.filed_month AND s.industry_sector = n.industry_sector
JOIN state_month a ON a.filed_month = n.filed_month
ORDER BY filed_month DESC, county, industry_sector
