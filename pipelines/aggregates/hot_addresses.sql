-- Which ZIP codes are address factories: one ZIP that draws far more filings than its county's others?
--
-- One row a county and ZIP code with filings in the 365 days up to today. Registration services file thousands of
-- businesses from one street; left in, they make a county look busy. Counts are listed businesses; in
-- ratios 1 is 100 %.
--   zip                   first five characters of the ZIP code as sent; '' where the record has none
--   county                county name; '' is outside Florida or unknown
--   filings               filings of the last 365 days
--   filings_last_30_days  filings of the last 30 days
--   zips_of_county        ZIP codes with filings in the county
--   share_of_state        part of the state's filings
--   share_of_county       part of the county's filings
--   times_county_mean     filings / the mean of the county's ZIP codes; 1 is ordinary
--   rank_in_state         1 has the most filings; equal counts share a rank
WITH anchor AS (
    SELECT MAX(s.observed_on) AS today FROM statewide s
),
counted AS (
    SELECT
        SUBSTR(f.zip, 1, 5) AS zip,
        f.county AS county,
        CAST(COUNT(*) AS BIGINT) AS filings,
        CAST(SUM(CASE WHEN f.filed_date > a.today - INTERVAL '30 days' THEN 1 ELSE 0 END) AS BIGINT)
            AS filings_last_30_days
    FROM filings f
    CROSS JOIN anchor a
    WHERE f.listed AND f.filed_date <= a.today AND f.filed_date > a.today - INTERVAL '365 days'
    GROUP BY SUBSTR(f.zip, 1, 5), f.county
),
by_county AS (
    SELECT n.county AS county, CAST(SUM(n.filings) AS BIGINT) AS filings, CAST(COUNT(*) AS BIGINT) AS zips
    FROM counted n
    GROUP BY n.county
),
state AS (
    SELECT CAST(SUM(n.filings) AS BIGINT) AS filings FROM counted n
)
SELECT
    n.zip AS zip,
    n.county AS county,
    n.filings AS filings,
    n.filings_last_30_days AS filings_last_30_days,
    c.zips AS zips_of_county,
    CAST(n.filings AS DOUBLE) / CAST(s.filings AS DOUBLE) AS share_of_state,
    CAST(n.filings AS DOUBLE) / CAST(c.filings AS DOUBLE) AS share_of_county,
    CAST(n.filings * c.zips AS DOUBLE) / CAST(c.filings AS DOUBLE) AS times_county_mean,
    CAST(RANK() OVER (ORDER BY n.filings DESC) AS BIGINT) AS rank_in_state
FROM counted n
JOIN by_county c ON c.county = n.county
CROSS JOIN state s
ORDER BY rank_in_state, zip, county
