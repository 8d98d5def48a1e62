-- Which counties grow?
--
-- One row a county with filings in the 365 days up to today: the day of the newest statewide figures, which counts
-- as day 1. Counts are listed businesses; in ratios 1 is 100 %.
--   as_of                     today
--   county                    county name; null outside Florida and where it is unknown
--   filings                   filings of the last 365 days
--   filings_last_7_days       filings of the last 7 days, of which more still arrive
--   filings_last_30_days      filings of the last 30 days, of which more still arrive
--   filings_settled_30_days   filings of 15 to 44 days ago: nearly all have arrived
--   filings_before_30_days    filings of 45 to 74 days ago
--   growth                    filings_settled_30_days / filings_before_30_days - 1; null unless all 60 days are complete
--   is_reliable               both windows have at least 100 filings, and all 60 days are complete
--   share_of_state            part of the state's filings of 15 to 44 days ago
--   rank_in_state             1 has the most filings of 15 to 44 days ago; equal counts share a rank
-- Adds up: SELECT SUM(filings) FROM agg_county_window equals SELECT SUM(filings) FROM days WHERE days_ago >= 0 AND days_ago < 365
WITH counted AS (
    SELECT
        f.county AS county,
        CAST(SUM(f.filings) AS BIGINT) AS filings,
        CAST(SUM(f.filings_last_7_days) AS BIGINT) AS last_7,
        CAST(SUM(f.filings_last_30_days) AS BIGINT) AS last_30,
        CAST(SUM(f.filings_settled_30_days) AS BIGINT) AS settled_30,
        CAST(SUM(f.filings_before_30_days) AS BIGINT) AS before_30
    FROM agg_county_type_window f
    GROUP BY f.county
),
settled AS (
    SELECT COUNT(*) = 60 AS are_complete FROM days d WHERE d.complete AND d.days_ago >= 15 AND d.days_ago < 75
)
SELECT
    s.observed_on AS as_of,
    n.county AS county,
    n.filings AS filings,
    n.last_7 AS filings_last_7_days,
    n.last_30 AS filings_last_30_days,
    n.settled_30 AS filings_settled_30_days,
    n.before_30 AS filings_before_30_days,
    CASE WHEN p.are_complete AND n.before_30 > 0 THEN CAST(n.settled_30 AS DOUBLE) / CAST(n.before_30 AS DOUBLE) - 1 END AS growth,
    p.are_complete AND n.settled_30 >= 100 AND n.before_30 >= 100 AS is_reliable,
    CAST(n.settled_30 AS DOUBLE) / CAST(NULLIF(SUM(n.settled_30) OVER (PARTITION BY s.observed_on), 0) AS DOUBLE) AS share_of_state,
    CAST(RANK() OVER (ORDER BY n.settled_30 DESC) AS BIGINT) AS rank_in_state
FROM counted n
CROSS JOIN statewide s
CROSS JOIN settled p
ORDER BY rank_in_state, county NULLS LAST
