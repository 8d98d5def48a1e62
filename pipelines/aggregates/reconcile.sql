-- Do our counts agree with the API's own?
--
-- One row for each newest count of the API: each day (/filings/daily), month and its types (/stats), county (/counties).
-- Counts are businesses.
--   scope          day, month, month_type or county
--   period         YYYY-MM-DD, YYYY-MM, or 'last 30 days'
--   subject        of month_type a type, of county its name; else null
--   observed_on    Eastern day on which the API gave the count
--   api_count      the API's count
--   lake_count     listed businesses in the lake; of a day without fictitious names, which the API's day listing omits
--   difference     lake_count - api_count
--   is_comparable  whether the period is complete: months and counties with fictitious names, days without them.
--                  A comparable day must agree exactly. Months and counties may differ by what the API counts and
--                  does not list (dissolved businesses). A day is not comparable while records are in quarantine, or
--                  after a reading of the register added rows, until the day is read completely again
WITH lake_days AS (
    SELECT f.filed_date, SUM(f.filings) AS filings FROM agg_county_type_day f WHERE f.entity_type <> 'fictitious' GROUP BY f.filed_date
),
lake_types AS (
    SELECT f.filed_month, f.entity_type, SUM(f.filings) AS filings FROM (
        SELECT t.filed_month, CASE WHEN t.entity_type IN ('llc', 'corporation', 'partnership', 'nonprofit', 'trust', 'fictitious')
            THEN t.entity_type ELSE 'other' END AS entity_type, t.filings FROM agg_type_month t
    ) f GROUP BY f.filed_month, f.entity_type
),
lake_counties AS (SELECT w.county, w.filings_last_30_days AS filings FROM agg_county_window w),
api_months AS (SELECT m.filed_month, MAX(m.observed_on) AS observed_on, SUM(m.filings) AS filings FROM monthly_counts m GROUP BY m.filed_month),
read_days AS (SELECT c.filed_date FROM coverage c WHERE c.entity_type = '*' AND c.complete AND c.landed = c.expected),
last_30 AS (SELECT COUNT(*) = 30 AS complete FROM days d WHERE d.complete AND d.days_ago >= 0 AND d.days_ago < 30),
counts AS (
    SELECT 'day' AS scope, CAST(a.filed_date AS STRING) AS period, CAST(NULL AS STRING) AS subject, a.observed_on AS observed_on,
        a.filings AS api_count, l.filings AS lake_count, r.filed_date IS NOT NULL AS is_comparable
    FROM daily_counts a LEFT JOIN lake_days l ON l.filed_date = a.filed_date LEFT JOIN read_days r ON r.filed_date = a.filed_date
    UNION ALL
    SELECT 'month' AS scope, a.filed_month AS period, CAST(NULL AS STRING) AS subject, a.observed_on AS observed_on,
        a.filings AS api_count, m.filings AS lake_count, COALESCE(m.complete, FALSE) AS is_comparable
    FROM api_months a LEFT JOIN months m ON m.filed_month = a.filed_month
    UNION ALL
    SELECT 'month_type' AS scope, a.filed_month AS period, a.entity_type AS subject, a.observed_on AS observed_on,
        a.filings AS api_count, l.filings AS lake_count, COALESCE(m.complete, FALSE) AS is_comparable
    FROM monthly_counts a LEFT JOIN months m ON m.filed_month = a.filed_month
    LEFT JOIN lake_types l ON l.filed_month = a.filed_month AND l.entity_type = a.entity_type WHERE a.entity_type <> 'unsplit'
    UNION ALL
    SELECT 'county' AS scope, 'last 30 days' AS period, a.county AS subject, a.observed_on AS observed_on,
        a.filings_last_30_days AS api_count, l.filings AS lake_count, p.complete AS is_comparable
    FROM counties a CROSS JOIN last_30 p LEFT JOIN lake_counties l ON l.county = a.county
)
SELECT c.scope, c.period, c.subject, c.observed_on, c.api_count, COALESCE(CAST(c.lake_count AS BIGINT), CAST(0 AS BIGINT)) AS lake_count,
    COALESCE(CAST(c.lake_count AS BIGINT), CAST(0 AS BIGINT)) - c.api_count AS difference, c.is_comparable
FROM counts c
ORDER BY scope, period DESC, subject NULLS FIRST
