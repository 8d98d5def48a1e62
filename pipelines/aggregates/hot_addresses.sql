-- Which ZIP codes have far more filings than the others of their county?
--
-- One row a county and ZIP code with filings in the 365 days up to today. Registration services file thousands of
-- businesses from one street, which makes a county look busy. Counts are listed businesses; in ratios 1 is 100 %.
--   as_of                 today: the day of the newest statewide figures
--   zip                   first five characters of the ZIP code as sent; '' where the record has none
--   county                county name; null outside Florida and where it is unknown
--   filings               filings of the last 365 days
--   filings_last_30_days  filings of the last 30 days
--   zips_of_county        ZIP codes with filings in the county; a record without one counts for none
--   share_of_state        part of the state's filings
--   share_of_county       part of the county's filings
--   times_county_mean     filings / the mean of the county's ZIP codes; 1 is ordinary. Null where the record has none
--   rank_in_state         1 has the most filings; equal counts share a rank
-- Of days: days_ago >= 0 AND days_ago < 365
-- Adds up: SELECT SUM(filings) FROM agg_hot_addresses equals SELECT SUM(filings) FROM days WHERE days_ago >= 0 AND days_ago < 365
WITH counted_days AS (
    SELECT d.filed_date AS filed_date, CASE WHEN d.days_ago < 30 THEN 1 ELSE 0 END AS is_last_30
    FROM days d WHERE d.days_ago >= 0 AND d.days_ago < 365
),
places AS (
    SELECT f.zip, f.county, COUNT(*) AS filings, SUM(d.is_last_30) AS last_30
    FROM filings f JOIN counted_days d ON d.filed_date = f.filed_date WHERE f.listed GROUP BY f.zip, f.county
),
counted AS (
    SELECT SUBSTR(f.zip, 1, 5) AS zip, f.county AS county, SUM(f.filings) AS filings, SUM(f.last_30) AS last_30
    FROM places f GROUP BY SUBSTR(f.zip, 1, 5), f.county
),
compared AS (
    SELECT
        s.observed_on AS as_of,
        n.zip,
        n.county,
        CAST(n.filings AS BIGINT) AS filings,
        CAST(n.last_30 AS BIGINT) AS filings_last_30_days,
        CAST(COUNT(NULLIF(n.zip, '')) OVER (PARTITION BY n.county) AS BIGINT) AS zips_of_county,
        CAST(SUM(CASE WHEN n.zip <> '' THEN n.filings END) OVER (PARTITION BY n.county) AS BIGINT) AS zip_filings,
        CAST(SUM(n.filings) OVER (PARTITION BY n.county) AS BIGINT) AS county_filings,
        CAST(SUM(n.filings) OVER (PARTITION BY s.observed_on) AS BIGINT) AS state_filings
    FROM counted n
    CROSS JOIN statewide s
)
SELECT
    r.as_of AS as_of,
    r.zip AS zip,
    r.county AS county,
    r.filings AS filings,
    r.filings_last_30_days AS filings_last_30_days,
    r.zips_of_county AS zips_of_county,
    CAST(r.filings AS DOUBLE) / CAST(r.state_filings AS DOUBLE) AS share_of_state,
    CAST(r.filings AS DOUBLE) / CAST(r.county_filings AS DOUBLE) AS share_of_county,
    CASE WHEN r.zip <> '' THEN CAST(r.filings * r.zips_of_county AS DOUBLE) / CAST(r.zip_filings AS DOUBLE) END AS times_county_mean,
    CAST(RANK() OVER (ORDER BY r.filings DESC) AS BIGINT) AS rank_in_state
FROM compared r
ORDER BY rank_in_state, zip, county NULLS LAST
