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
WITH written AS (
    SELECT
        SUBSTR(CAST(f.filed_date AS STRING), 1, 7) AS filed_month,
        f.county AS county,
        f.city AS spelling,
        UPPER(TRIM(f.city)) AS capitals,
        CAST(COUNT(*) AS BIGINT) AS filings
    FROM filings f
    WHERE f.listed
    GROUP BY SUBSTR(CAST(f.filed_date AS STRING), 1, 7), f.county, f.city, UPPER(TRIM(f.city))
),
stateless AS (
    SELECT
        w.filed_month AS filed_month,
        w.county AS county,
        w.spelling AS spelling,
        w.filings AS filings,
        CASE WHEN w.capitals LIKE '% FL' OR w.capitals LIKE '%,FL'
            THEN TRIM(SUBSTR(w.capitals, 1, LENGTH(w.capitals) - 3 + CASE WHEN w.capitals LIKE '%,FL' THEN 1 ELSE 0 END))
            ELSE w.capitals END AS capitals
    FROM written w
),
counted AS (
    SELECT
        s.filed_month AS filed_month,
        s.county AS county,
        CASE WHEN s.capitals LIKE '%,' THEN TRIM(SUBSTR(s.capitals, 1, LENGTH(s.capitals) - 1)) ELSE s.capitals END AS city,
        CAST(SUM(s.filings) AS BIGINT) AS filings,
        CAST(COUNT(*) AS BIGINT) AS spellings
    FROM stateless s
    GROUP BY
        s.filed_month,
        s.county,
        CASE WHEN s.capitals LIKE '%,' THEN TRIM(SUBSTR(s.capitals, 1, LENGTH(s.capitals) - 1)) ELSE s.capitals END
),
counties_month AS (
    SELECT n.filed_month AS filed_month, n.county AS county, CAST(SUM(n.filings) AS BIGINT) AS filings
    FROM counted n
    GROUP BY n.filed_month, n.county
)
SELECT
    n.filed_month AS filed_month,
    n.county AS county,
    n.city AS city,
    n.filings AS filings,
    n.spellings AS spellings,
    CAST(n.filings AS DOUBLE) / CAST(c.filings AS DOUBLE) AS share_of_county,
    CAST(RANK() OVER (PARTITION BY n.filed_month, n.county ORDER BY n.filings DESC) AS BIGINT) AS rank_in_county
FROM counted n
JOIN counties_month c ON c.filed_month = n.filed_month AND c.county = n.county
ORDER BY filed_month DESC, county, rank_in_county, city
