-- How many businesses were filed each day, by county and type?
--
-- One row a day, county and type that has filings. Unit: listed businesses.
--   filed_date   day of filing; days after today appear, since a filing may carry a date to come
--   county       county name; null outside Florida and where it is unknown
--   entity_type  llc, corporation, partnership, nonprofit, fictitious, trust
--   filings      businesses filed
-- By month: only months whose filings changed are computed again
-- Adds up: SELECT SUM(filings) FROM agg_county_type_day equals SELECT COUNT(*) FROM filings WHERE listed
WITH counted AS (
    SELECT f.filed_date, f.county, f.entity_type, COUNT(*) AS filings
    FROM filings f WHERE f.listed
    GROUP BY f.filed_date, f.county, f.entity_type
)
SELECT
    n.filed_date AS filed_date,
    n.county AS county,
    n.entity_type AS entity_type,
    CAST(n.filings AS BIGINT) AS filings
FROM counted n
ORDER BY filed_date DESC, county NULLS LAST, entity_type
