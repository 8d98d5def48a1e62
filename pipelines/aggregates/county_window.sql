-- Which counties grow: the last 7, 30 and 365 days, and the 30 days before the last 30?
--
-- One row a county and type with filings in the 365 days up to today. Today is the newest day on which the API
-- was asked for its statewide figures, and counts as day 1. Counts are listed businesses; in ratios 1 is 100 %.
--   as_of                       today
--   county                      county name; '' is outside Florida or unknown
--   entity_type                 a type, or '*' for all types together (leave '*' out when adding up)
--   filings_last_7_days         filings of the last 7 days
--   filings_last_30_days        filings of the last 30 days
--   filings_previous_30_days    filings of the 30 days before the last 30
--   filings_last_365_days       filings of the last 365 days; compare days_proven_last_365
--   growth_30_days              last 30 days / previous 30 days - 1; null unless all 60 days are complete.
--                               Filings of the newest days still arrive (see settling), so it is too low
--   share_of_state_30_days      part of the state's filings of this type in the last 30 days
--   rank_30_days                1 has the most filings of this type in the last 30 days; equal counts share a rank
--   days_proven_last_60         of the last 60 days, those that coverage proves complete, fictitious names included
--   days_proven_last_365        the same of the last 365 days
WITH anchor AS (
    SELECT MAX(s.observed_on) AS today FROM statewide s
),
proven_days AS (
    -- Both listings of the day were read: '*' has all types but fictitious names.
    SELECT c.filed_date AS filed_date
    FROM coverage c
    CROSS JOIN anchor a
    WHERE c.filed_date <= a.today
    GROUP BY c.filed_date
    HAVING MIN(CASE WHEN c.complete THEN 1 ELSE 0 END) = 1
        AND SUM(CASE WHEN c.entity_type = '*' OR c.entity_type = 'fictitious' THEN 1 ELSE 0 END) = 2
),
proven_counts AS (
    SELECT
        CAST(SUM(CASE WHEN p.filed_date > a.today - INTERVAL '60 days' THEN 1 ELSE 0 END) AS BIGINT) AS last_60,
        CAST(SUM(CASE WHEN p.filed_date > a.today - INTERVAL '365 days' THEN 1 ELSE 0 END) AS BIGINT) AS last_365
    FROM proven_days p
    CROSS JOIN anchor a
),
by_day AS (
    SELECT
        f.filed_date AS filed_date,
        f.county AS county,
        f.entity_type AS entity_type,
        CAST(COUNT(*) AS BIGINT) AS filings
    FROM filings f
    WHERE f.listed
    GROUP BY f.filed_date, f.county, f.entity_type
),
windowed AS (
    SELECT
        a.today AS as_of,
        b.county AS county,
        CASE WHEN k.is_total = 1 THEN '*' ELSE b.entity_type END AS entity_type,
        CASE WHEN b.filed_date > a.today - INTERVAL '7 days' THEN b.filings ELSE 0 END AS last_7,
        CASE WHEN b.filed_date > a.today - INTERVAL '30 days' THEN b.filings ELSE 0 END AS last_30,
        CASE WHEN b.filed_date > a.today - INTERVAL '60 days' THEN b.filings ELSE 0 END AS last_60,
        b.filings AS last_365
    FROM by_day b
    CROSS JOIN anchor a
    CROSS JOIN (SELECT 0 AS is_total UNION ALL SELECT 1 AS is_total) k
    WHERE b.filed_date <= a.today AND b.filed_date > a.today - INTERVAL '365 days'
),
counted AS (
    SELECT
        w.as_of AS as_of,
        w.county AS county,
        w.entity_type AS entity_type,
        CAST(SUM(w.last_7) AS BIGINT) AS last_7,
        CAST(SUM(w.last_30) AS BIGINT) AS last_30,
        CAST(SUM(w.last_60) AS BIGINT) AS last_60,
        CAST(SUM(w.last_365) AS BIGINT) AS last_365
    FROM windowed w
    GROUP BY w.as_of, w.county, w.entity_type
),
ranked AS (
    SELECT
        n.as_of,
        n.county,
        n.entity_type,
        n.last_7,
        n.last_30,
        n.last_60 - n.last_30 AS previous_30,
        n.last_365,
        SUM(n.last_30) OVER (PARTITION BY n.entity_type) AS state_last_30,
        CAST(RANK() OVER (PARTITION BY n.entity_type ORDER BY n.last_30 DESC) AS BIGINT) AS rank_30_days
    FROM counted n
)
SELECT
    r.as_of AS as_of,
    r.county AS county,
    r.entity_type AS entity_type,
    r.last_7 AS filings_last_7_days,
    r.last_30 AS filings_last_30_days,
    r.previous_30 AS filings_previous_30_days,
    r.last_365 AS filings_last_365_days,
    CASE WHEN d.last_60 = 60 AND r.previous_30 > 0
        THEN CAST(r.last_30 AS DOUBLE) / CAST(r.previous_30 AS DOUBLE) - 1 END AS growth_30_days,
    CASE WHEN r.state_last_30 > 0
        THEN CAST(r.last_30 AS DOUBLE) / CAST(r.state_last_30 AS DOUBLE) END AS share_of_state_30_days,
    r.rank_30_days AS rank_30_days,
    COALESCE(d.last_60, CAST(0 AS BIGINT)) AS days_proven_last_60,
    COALESCE(d.last_365, CAST(0 AS BIGINT)) AS days_proven_last_365
FROM ranked r
CROSS JOIN proven_counts d
ORDER BY entity_type, rank_30_days, county
