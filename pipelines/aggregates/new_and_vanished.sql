-- What appeared and vanished with each run, by county and type?
--
-- One row a day of runs, county and type. What the first complete reading of an older day finds is no news.
-- Counts are businesses.
--   observed_on  Eastern day of the runs that saw it
--   county       county name; null outside Florida and where it is unknown
--   entity_type  llc, corporation, partnership, nonprofit, fictitious, trust
--   appeared     businesses read for the first time, on days that were complete before or have come since
--   vanished     businesses that a complete reading of their day no longer shows
--   returned     businesses that are shown again after they had vanished
-- Adds up: SELECT SUM(appeared + vanished + returned) FROM agg_new_and_vanished equals SELECT COUNT(*) FROM changes WHERE change <> 'changed'
SELECT
    c.observed_on AS observed_on,
    f.county AS county,
    f.entity_type AS entity_type,
    CAST(SUM(CASE WHEN c.change = 'appeared' THEN 1 ELSE 0 END) AS BIGINT) AS appeared,
    CAST(SUM(CASE WHEN c.change = 'vanished' THEN 1 ELSE 0 END) AS BIGINT) AS vanished,
    CAST(SUM(CASE WHEN c.change = 'returned' THEN 1 ELSE 0 END) AS BIGINT) AS returned
FROM changes c
JOIN filings f ON f.business_id = c.business_id
WHERE c.change <> 'changed'
GROUP BY c.observed_on, f.county, f.entity_type
ORDER BY observed_on DESC, county NULLS LAST, entity_type
