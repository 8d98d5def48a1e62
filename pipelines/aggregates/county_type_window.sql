-- Which counties grow, type by type?
--
-- One row a county and type with filings in the 365 days up to today: the day of the newest statewide figures, which counts
-- as day 1. Counts are listed businesses; in ratios 1 is 100 %. Growth compares the days of days.growth_window: of 15 to 42 days
-- ago those that are ordinary, each with the same weekday 28 days before, so that neither weekdays, holidays nor dates that filers
-- ask for count as growth.
--   as_of                     today
--   county                    county name; null outside Florida and where it is unknown
--   entity_type               llc, corporation, partnership, nonprofit, fictitious, trust
--   filings                   filings of the last 365 days, as far as the lake has them: see days_in_lake
--   filings_last_7_days       filings of the last 7 days, of which more still arrive
--   filings_last_30_days      filings of the last 30 days, of which more still arrive
--   filings_settled_30_days   filings of 15 to 44 days ago: nearly all have arrived
--   filings_before_30_days    filings of 45 to 74 days ago
--   growth                    filings_newer / filings_older - 1
--   is_reliable               both have 100 filings, and the state's growth of this type is outside the interval: the county differs
--                             from the state
--   share_of_state            part of the state's filings of this type of 15 to 44 days ago
--   rank_in_state             1 has the most filings of this type of 15 to 44 days ago; equal counts share a rank
--   filings_newer             filed on the newer days of growth, listed or no more: of older ones fewer are still listed
--   filings_older             filed on the older days of growth
--   growth_low                lower end of the interval of growth, which chance alone leaves for 1 county in 100 (Wilson's interval)
--   growth_high               upper end of the interval
--   state_growth              growth of the state's filings of this type
--   points_from_state         growth - state_growth in percentage points
--   days_in_lake              of the last 365 days those that are complete, or of the newest 15
-- Of days: growth_window IS NOT NULL
-- Adds up: SELECT SUM(filings) FROM agg_county_type_window equals SELECT SUM(filings) FROM days WHERE days_ago >= 0 AND days_ago < 365
WITH counted AS (
    SELECT f.county AS county, f.entity_type AS entity_type, CAST(SUM(f.filings) AS BIGINT) AS filings,
        CAST(SUM(CASE WHEN d.days_ago < 7 THEN f.filings ELSE 0 END) AS BIGINT) AS last_7,
        CAST(SUM(CASE WHEN d.days_ago < 30 THEN f.filings ELSE 0 END) AS BIGINT) AS last_30,
        CAST(SUM(CASE WHEN d.days_ago >= 15 AND d.days_ago < 45 THEN f.filings ELSE 0 END) AS BIGINT) AS settled_30,
        CAST(SUM(CASE WHEN d.days_ago >= 45 AND d.days_ago < 75 THEN f.filings ELSE 0 END) AS BIGINT) AS before_30
    FROM agg_county_type_day f JOIN days d ON d.filed_date = f.filed_date
    WHERE d.days_ago >= 0 AND d.days_ago < 365
    GROUP BY f.county, f.entity_type
),
grown AS (
    SELECT f.county, f.entity_type, COUNT(CASE WHEN d.growth_window = 'newer' THEN 1 END) AS newer, COUNT(CASE WHEN d.growth_window = 'older' THEN 1 END) AS older
    FROM filings f JOIN days d ON d.filed_date = f.filed_date WHERE d.growth_window IS NOT NULL GROUP BY f.county, f.entity_type
),
joined AS (
    SELECT c.county, c.entity_type, c.filings, c.last_7, c.last_30, c.settled_30, c.before_30, COALESCE(g.newer, 0) AS newer, COALESCE(g.older, 0) AS older
    FROM counted c LEFT JOIN grown g ON COALESCE(g.county, '') = COALESCE(c.county, '') AND g.entity_type = c.entity_type
),
compared AS (
    SELECT n.county, n.entity_type, n.filings, n.last_7, n.last_30, n.settled_30, n.before_30, n.newer, n.older,
        CASE WHEN n.older > 0 THEN CAST(n.newer AS DOUBLE) / CAST(n.older AS DOUBLE) - 1 END AS growth,
        CAST(SUM(n.newer) OVER (PARTITION BY n.entity_type) AS DOUBLE) / CAST(NULLIF(SUM(n.older) OVER (PARTITION BY n.entity_type), 0) AS DOUBLE) - 1 AS state_growth,
        2.5758 * SQRT(CAST(n.newer * n.older AS DOUBLE) / CAST(NULLIF(n.newer + n.older, 0) AS DOUBLE) + 1.6587) AS half,
        SUM(n.settled_30) OVER (PARTITION BY n.entity_type) AS state_settled,
        RANK() OVER (PARTITION BY n.entity_type ORDER BY n.settled_30 DESC) AS rank_in_state
    FROM joined n
),
there AS (SELECT COUNT(*) AS days FROM days d WHERE (d.complete OR d.days_ago < 15) AND d.days_ago >= 0 AND d.days_ago < 365)
SELECT
    s.observed_on AS as_of, c.county AS county, c.entity_type AS entity_type, c.filings AS filings,
    c.last_7 AS filings_last_7_days, c.last_30 AS filings_last_30_days, c.settled_30 AS filings_settled_30_days, c.before_30 AS filings_before_30_days, c.growth AS growth,
    c.newer >= 100 AND c.older >= 100 AND COALESCE((c.newer - c.older * (1 + c.state_growth)) * (c.newer - c.older * (1 + c.state_growth))
        > 6.6349 * (c.newer + c.older) * (1 + c.state_growth), FALSE) AS is_reliable,
    CAST(c.settled_30 AS DOUBLE) / CAST(NULLIF(c.state_settled, 0) AS DOUBLE) AS share_of_state,
    CAST(c.rank_in_state AS BIGINT) AS rank_in_state, c.newer AS filings_newer, c.older AS filings_older,
    CASE WHEN c.older > 0 THEN (c.newer + 3.3174 - c.half) / (c.older + 3.3174 + c.half) - 1 END AS growth_low,
    CASE WHEN c.older > 0 THEN (c.newer + 3.3174 + c.half) / (c.older + 3.3174 - c.half) - 1 END AS growth_high,
    c.state_growth AS state_growth, (c.growth - c.state_growth) * 100 AS points_from_state, CAST(t.days AS BIGINT) AS days_in_lake
FROM compared c CROSS JOIN statewide s CROSS JOIN there t
ORDER BY entity_type, rank_in_state, county NULLS LAST
