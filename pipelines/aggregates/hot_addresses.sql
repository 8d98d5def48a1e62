-- Which ZIP codes have far more filings than the others of their county?
--
-- One row a county and ZIP code with filings in the 365 days up to today. Registration services file thousands of
-- businesses from one street, which makes a county look busy. Counts are listed businesses; in
-- ratios 1 is 100 %.
--   as_of                 today: the newest day on which the API was asked for its statewide figures
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
days_filed AS (
    SELECT f.filed_date AS filed_date
    FROM filings f
    GROUP BY f.filed_date
),
days AS (
    SELECT
        a.today AS as_of,
        d.filed_date AS filed_date,
        CASE WHEN d.filed_date > a.today - INTERVAL '30 days' THEN 1 ELSE 0 END AS is_of_last_30_days
    FROM days_filed d
    CROSS JOIN anchor a
    WHERE d.filed_date <= a.today AND d.filed_date > a.today - INTERVAL '365 days'
),
counted AS (
    SELECT
        d.as_of AS as_of,
        SUBSTR(f.zip, 1, 5) AS zip,
        f.county AS county,
        CAST(COUNT(*) AS BIGINT) AS filings,
        CAST(SUM(d.is_of_last_30_days) AS BIGINT) AS filings_last_30_days
    FROM filings f
    JOIN days d ON d.filed_date = f.filed_date
    WHERE f.listed
    GROUP BY d.as_of, SUBSTR(f.zip, 1, 5), f.county
),
compared AS (
    SELECT
        n.as_of,
        n.zip,
        n.county,
        n.filings,
        n.filings_last_30_days,
        CAST(COUNT(*) OVER (PARTITION BY n.county) AS BIGINT) AS zips_of_county,
        CAST(SUM(n.filings) OVER (PARTITION BY n.county) AS BIGINT) AS county_filings,
        CAST(SUM(n.filings) OVER (PARTITION BY n.as_of) AS BIGINT) AS state_filings,
        CAST(RANK() OVER (ORDER BY n.filings DESC) AS BIGINT) AS rank_in_state
    FROM counted n
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
    CAST(r.filings * r.zips_of_county AS DOUBLE) / CAST(r.county_filings AS DOUBLE) AS times_county_mean,
    r.rank_in_state AS rank_in_state
FROM compared r
ORDER BY rank_in_state, zip, county
