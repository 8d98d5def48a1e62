-- Which cities lead each county, month by month, whatever the spelling?
--
-- One row a month, county and city that has filings. Counts are listed businesses; in ratios 1 is 100 %.
--   filed_month      YYYY-MM
--   county           county name; '' is outside Florida or unknown
--   city             city in capitals, without a trailing comma or 'FL'; '' where the record has none
--   filings          businesses filed in the month
--   spellings        ways the city was written in these records
--   share_of_county  part of the county's filings of the month
--   rank_in_county   1 has the most filings of the county and month; equal counts share a rank
-- Adds up: SELECT SUM(filings) FROM agg_city_month equals SELECT COUNT(*) FROM filings WHERE listed
WITH written AS (
    SELECT
        SUBSTR(CAST(f.filed_date AS STRING), 1, 7) AS filed_month,
        f.county AS county,
        f.city AS spelling,
        CAST(COUNT(*) AS BIGINT) AS filings
    FROM filings f
    WHERE f.listed
    GROUP BY SUBSTR(CAST(f.filed_date AS STRING), 1, 7), f.county, f.city
),
capitalized AS (
    SELECT w.filed_month, w.county, w.filings, UPPER(TRIM(w.spelling)) AS capitals FROM written w
),
stateless AS (
    SELECT
        w.filed_month,
        w.county,
        w.filings,
        CASE
            WHEN w.capitals LIKE '% FL' THEN TRIM(SUBSTR(w.capitals, 1, LENGTH(w.capitals) - 3))
            WHEN w.capitals LIKE '%,FL' THEN TRIM(SUBSTR(w.capitals, 1, LENGTH(w.capitals) - 3))
            ELSE w.capitals
        END AS city
    FROM capitalized w
),
bare AS (
    SELECT
        s.filed_month,
        s.county,
        s.filings,
        CASE WHEN s.city LIKE '%,' THEN TRIM(SUBSTR(s.city, 1, LENGTH(s.city) - 1)) ELSE s.city END AS city
    FROM stateless s
),
counted AS (
    SELECT
        b.filed_month,
        b.county,
        b.city,
        CAST(SUM(b.filings) AS BIGINT) AS filings,
        CAST(COUNT(*) AS BIGINT) AS spellings
    FROM bare b
    GROUP BY b.filed_month, b.county, b.city
),
compared AS (
    SELECT
        n.filed_month,
        n.county,
        n.city,
        n.filings,
        n.spellings,
        SUM(n.filings) OVER (PARTITION BY n.filed_month, n.county) AS county_filings,
        CAST(RANK() OVER (PARTITION BY n.filed_month, n.county ORDER BY n.filings DESC) AS BIGINT) AS rank_in_county
    FROM counted n
)
SELECT
    r.filed_month AS filed_month,
    r.county AS county,
    r.city AS city,
    r.filings AS filings,
    r.spellings AS spellings,
    CAST(r.filings AS DOUBLE) / CAST(r.county_filings AS DOUBLE) AS share_of_county,
    r.rank_in_county AS rank_in_county
FROM compared r
ORDER BY filed_month DESC, county, rank_in_county, city
