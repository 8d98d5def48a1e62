-- How many businesses were filed each week, and is that more or fewer than in the four weeks before?
--
-- One row a week that has filings, Monday to Sunday. Counts are listed businesses; in ratios 1 is 100 %. A week is compared by its
-- ordinary days alone, each with the mean of the same weekday in the four weeks before, and by what was filed, listed or no more:
-- holidays and dates that filers ask for count for nothing. Seasons do: January is fuller than December.
--   filed_week        Monday of the week
--   filings           businesses filed in the week
--   days_complete     days that coverage proves complete, fictitious names included
--   settled           all seven days are complete and at least 15 days ago: nearly all filings have arrived
--   compared_days     days that are compared: those with days.four_weeks_before
--   compared_filings  filed on the compared days (see days)
--   compared_before   mean of filed on the same weekdays in the four weeks before
--   change            compared_filings / compared_before - 1; null unless the week is settled and has 4 compared days
--   usual_change      root mean square of change in the settled weeks of the last 400 days; null with fewer than 8 of them
--   is_unusual        change is more than 2.5 times usual_change, up or down
-- Adds up: SELECT SUM(filings) FROM agg_week equals SELECT COUNT(*) FROM filings WHERE listed
WITH counted AS (
    SELECT d.filed_week AS filed_week, MIN(d.days_ago) AS days_ago, CAST(SUM(d.filings) AS BIGINT) AS filings,
        CAST(SUM(CASE WHEN d.complete THEN 1 ELSE 0 END) AS BIGINT) AS days_complete,
        CAST(COUNT(d.four_weeks_before) AS BIGINT) AS compared_days,
        CAST(SUM(CASE WHEN d.four_weeks_before IS NOT NULL THEN d.filed ELSE 0 END) AS BIGINT) AS compared_filings,
        CAST(SUM(COALESCE(d.four_weeks_before, 0)) AS BIGINT) AS compared_before
    FROM days d
    GROUP BY d.filed_week
),
compared AS (
    SELECT c.filed_week, c.days_ago, c.filings, c.days_complete, c.compared_days, c.compared_filings, c.compared_before,
        c.days_complete = 7 AND c.days_ago >= 15 AS settled,
        CASE WHEN c.days_complete = 7 AND c.days_ago >= 15 AND c.compared_days >= 4 AND c.compared_before > 0
            THEN CAST(c.compared_filings AS DOUBLE) / CAST(c.compared_before AS DOUBLE) - 1 END AS change
    FROM counted c
),
spread AS (
    SELECT CASE WHEN COUNT(c.change) >= 8 THEN SQRT(SUM(c.change * c.change) / CAST(COUNT(c.change) AS DOUBLE)) END AS usual_change
    FROM compared c WHERE c.days_ago < 400
)
SELECT
    c.filed_week AS filed_week, c.filings AS filings, c.days_complete AS days_complete, c.settled AS settled,
    c.compared_days AS compared_days, c.compared_filings AS compared_filings, c.compared_before AS compared_before,
    c.change AS change, s.usual_change AS usual_change,
    COALESCE(c.change > 2.5 * s.usual_change OR c.change < -2.5 * s.usual_change, FALSE) AS is_unusual
FROM compared c
CROSS JOIN spread s
WHERE c.filings > 0
ORDER BY filed_week DESC
