-- Do our counts agree with the API's own?
--
-- One row for each count of the API: each day (/filings/daily), month and type (/stats), county (/counties).
-- Only the newest observation of a count. Counts are businesses.
--   scope          day, month or county
--   period         YYYY-MM-DD, YYYY-MM, or 'last 30 days'
--   subject        '*' for all; of a month also a type, of a county its name
--   observed_on    Eastern day on which the API gave the count
--   api_count      the API's count
--   lake_count     listed businesses in the lake; of a day without fictitious names, which the API's day listing omits
--   difference     lake_count - api_count
--   is_comparable  whether the period is complete: months and counties with fictitious names, days without them.
--                  A comparable day must agree exactly. Months and counties may differ by what the API counts and
--                  does not list (dissolved businesses). A day is not comparable while records are in quarantine, or
--                  after a reading of the register added rows, until the day is read completely again
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
numbered_days AS (
    -- Month numbers: the month before is 1 less, a year ago 12 less.
    SELECT
        CAST(EXTRACT(YEAR FROM p.filed_date) AS BIGINT) * 12
            + CAST(EXTRACT(MONTH FROM p.filed_date) AS BIGINT) AS month_number,
        p.filed_date AS filed_date
    FROM proven_days p
),
proven_months AS (
    SELECT d.month_number AS month_number, CAST(COUNT(*) AS BIGINT) AS days, MAX(d.filed_date) AS last_day
    FROM numbered_days d
    GROUP BY d.month_number
),
whole_months AS (
    -- The number of complete days equals the last one's day of month; that day is over, and a 1st follows it.
    SELECT m.month_number AS month_number
    FROM proven_months m
    CROSS JOIN anchor a
    WHERE m.last_day < a.today
        AND m.days = EXTRACT(DAY FROM m.last_day)
        AND EXTRACT(DAY FROM m.last_day + INTERVAL '1 day') = 1
),
listed_days AS (
    SELECT c.filed_date AS filed_date
    FROM coverage c
    WHERE c.entity_type = '*' AND c.complete AND c.landed = c.expected
),
newest_days AS (
    SELECT d.date AS filed_date, MAX(d.observed_on) AS observed_on
    FROM daily_counts d
    GROUP BY d.date
),
lake_days AS (
    SELECT f.filed_date AS filed_date, CAST(COUNT(*) AS BIGINT) AS filings
    FROM filings f
    WHERE f.listed AND f.entity_type <> 'fictitious'
    GROUP BY f.filed_date
),
days AS (
    SELECT
        'day' AS scope,
        CAST(d.date AS STRING) AS period,
        '*' AS subject,
        d.observed_on AS observed_on,
        d.count AS api_count,
        COALESCE(l.filings, CAST(0 AS BIGINT)) AS lake_count,
        CASE WHEN p.filed_date IS NULL THEN FALSE ELSE TRUE END AS is_comparable
    FROM daily_counts d
    JOIN newest_days n ON n.filed_date = d.date AND n.observed_on = d.observed_on
    LEFT JOIN listed_days p ON p.filed_date = d.date
    LEFT JOIN lake_days l ON l.filed_date = d.date
),
newest_months AS (
    SELECT m.month AS filed_month, MAX(m.observed_on) AS observed_on
    FROM monthly_counts m
    GROUP BY m.month
),
whole_names AS (
    SELECT DISTINCT SUBSTR(CAST(f.filed_date AS STRING), 1, 7) AS filed_month
    FROM numbered_days f
    JOIN whole_months w ON w.month_number = f.month_number
),
dated AS (
    SELECT
        SUBSTR(CAST(f.filed_date AS STRING), 1, 7) AS filed_month,
        CASE WHEN f.entity_type IN ('llc', 'corporation', 'partnership', 'nonprofit', 'trust', 'fictitious')
            THEN f.entity_type ELSE 'other' END AS entity_type
    FROM filings f
    WHERE f.listed
),
typed AS (
    SELECT d.filed_month, d.entity_type, CAST(COUNT(*) AS BIGINT) AS filings
    FROM dated d
    GROUP BY d.filed_month, d.entity_type
),
kinds AS (
    SELECT
        t.filed_month AS filed_month,
        CASE WHEN k.is_total = 1 THEN '*' ELSE t.entity_type END AS entity_type,
        t.filings AS filings
    FROM typed t
    CROSS JOIN (SELECT 0 AS is_total UNION ALL SELECT 1 AS is_total) k
),
lake_months AS (
    SELECT k.filed_month AS filed_month, k.entity_type AS entity_type, CAST(SUM(k.filings) AS BIGINT) AS filings
    FROM kinds k
    GROUP BY k.filed_month, k.entity_type
),
months AS (
    SELECT
        'month' AS scope,
        m.month AS period,
        m.type AS subject,
        m.observed_on AS observed_on,
        m.n AS api_count,
        COALESCE(l.filings, CAST(0 AS BIGINT)) AS lake_count,
        CASE WHEN w.filed_month IS NULL THEN FALSE ELSE TRUE END AS is_comparable
    FROM monthly_counts m
    JOIN newest_months n ON n.filed_month = m.month AND n.observed_on = m.observed_on
    LEFT JOIN whole_names w ON w.filed_month = m.month
    LEFT JOIN lake_months l ON l.filed_month = m.month AND l.entity_type = m.type
),
newest_counties AS (
    SELECT MAX(c.observed_on) AS observed_on FROM counties c
),
proven_30 AS (
    SELECT CAST(COUNT(*) AS BIGINT) AS days
    FROM proven_days p
    CROSS JOIN newest_counties n
    WHERE p.filed_date <= n.observed_on AND p.filed_date > n.observed_on - INTERVAL '30 days'
),
lake_county_days AS (
    SELECT f.county AS county, f.filed_date AS filed_date, CAST(COUNT(*) AS BIGINT) AS filings
    FROM filings f
    WHERE f.listed
    GROUP BY f.county, f.filed_date
),
lake_counties AS (
    SELECT l.county AS county, CAST(SUM(l.filings) AS BIGINT) AS filings
    FROM lake_county_days l
    CROSS JOIN newest_counties n
    WHERE l.filed_date <= n.observed_on AND l.filed_date > n.observed_on - INTERVAL '30 days'
    GROUP BY l.county
),
by_county AS (
    SELECT
        'county' AS scope,
        'last 30 days' AS period,
        c.name AS subject,
        c.observed_on AS observed_on,
        c.filings_last_30_days AS api_count,
        COALESCE(l.filings, CAST(0 AS BIGINT)) AS lake_count,
        p.days = 30 AS is_comparable
    FROM counties c
    JOIN newest_counties n ON n.observed_on = c.observed_on
    CROSS JOIN proven_30 p
    LEFT JOIN lake_counties l ON l.county = c.name
),
everything AS (
    SELECT d.scope, d.period, d.subject, d.observed_on, d.api_count, d.lake_count, d.is_comparable FROM days d
    UNION ALL
    SELECT m.scope, m.period, m.subject, m.observed_on, m.api_count, m.lake_count, m.is_comparable FROM months m
    UNION ALL
    SELECT c.scope, c.period, c.subject, c.observed_on, c.api_count, c.lake_count, c.is_comparable FROM by_county c
)
SELECT
    e.scope AS scope,
    e.period AS period,
    e.subject AS subject,
    e.observed_on AS observed_on,
    e.api_count AS api_count,
    e.lake_count AS lake_count,
    e.lake_count - e.api_count AS difference,
    e.is_comparable AS is_comparable
FROM everything e
ORDER BY scope, period DESC, subject
