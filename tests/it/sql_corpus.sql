-- Questions of analysts, one a line. Those of a table that are sorted have x0 first.
WITH filings AS (SELECT * FROM filings WHERE county = 'Liberty') SELECT count(*) AS n FROM filings
WITH businesses AS (SELECT 1 AS a) SELECT * FROM businesses
SELECT f.name, d.weekday FROM filings f LEFT JOIN days d ON f.filed_date = d.filed_date AND d.filings > 3
SELECT f.name, d.weekday FROM filings f LEFT JOIN days d ON f.filed_date < d.filed_date AND d.days_ago < 3
SELECT f.name, d.weekday FROM filings f RIGHT JOIN days d ON f.filed_date = d.filed_date AND f.listed
SELECT f.name, d.weekday FROM filings f FULL JOIN days d ON f.filed_date = d.filed_date AND f.business_id > d.filings
SELECT f.name FROM filings f SEMI JOIN days d ON f.filed_date > d.filed_date
SELECT f.name FROM filings f ANTI JOIN days d ON f.filed_date = d.filed_date AND d.complete
SELECT filed_date, avg(filings) OVER (ORDER BY filed_date) AS a, stddev(filings) OVER (ORDER BY filed_date) AS s, median(filings) OVER (ORDER BY filed_date) AS m, var_samp(filings) OVER (ORDER BY filed_date) AS v FROM days
SELECT county, sum(business_id) OVER (ORDER BY county) AS s FROM filings
SELECT county, rank() OVER (ORDER BY county) AS r FROM filings
SELECT county, rank() OVER (ORDER BY county DESC NULLS FIRST) AS r FROM filings
SELECT filed_date, last_value(filings) OVER (ORDER BY filed_date) AS l FROM days
SELECT filed_date, last_value(filings) OVER (ORDER BY filed_date ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS l FROM days
SELECT name FROM filings WHERE (dissolved_date > DATE '2020-01-01') IS NOT TRUE
SELECT name FROM filings WHERE (dissolved_date > DATE '2020-01-01') IS NOT FALSE
SELECT name FROM filings WHERE NOT ((county = 'Duval') IS TRUE)
SELECT county FROM filings UNION SELECT county FROM counties INTERSECT SELECT county FROM county_facts WHERE population > 100000
SELECT county FROM filings EXCEPT SELECT county FROM counties UNION ALL SELECT region FROM county_facts
SELECT 1 AS a WHERE false
SELECT sum(1) AS s FROM filings
SELECT sum(1) AS s FROM filings WHERE false
SELECT -7 % 3 AS a, 7 % -3 AS b, round(2.5) AS c, round(-2.5) AS d, substr('hello', -2) AS e, 7 // -2 AS f, 7 / 2 AS g
SELECT filed_date + INTERVAL '36 hours' AS later FROM filings
SELECT filed_date + INTERVAL 7 DAY AS later FROM filings
SELECT filed_date - INTERVAL '1 month' AS before FROM filings
SELECT county FROM filings UNION ALL SELECT county FROM counties WHERE county = 'Bay' OR county IS NULL
SELECT entity_type, count(*) AS n FROM filings GROUP BY entity_type
SELECT entity_type AS x0, count(*) AS x1 FROM filings GROUP BY entity_type ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT entity_type) AS n, min(entity_type) AS first, max(entity_type) AS last FROM filings
SELECT county, count(*) AS n FROM filings GROUP BY county
SELECT county AS x0, count(*) AS x1 FROM filings GROUP BY county ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT county) AS n, min(county) AS first, max(county) AS last FROM filings
SELECT industry_sector, count(*) AS n FROM filings GROUP BY industry_sector
SELECT industry_sector AS x0, count(*) AS x1 FROM filings GROUP BY industry_sector ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT industry_sector) AS n, min(industry_sector) AS first, max(industry_sector) AS last FROM filings
SELECT zip, count(*) AS n FROM filings GROUP BY zip
SELECT zip AS x0, count(*) AS x1 FROM filings GROUP BY zip ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT zip) AS n, min(zip) AS first, max(zip) AS last FROM filings
SELECT city, count(*) AS n FROM filings GROUP BY city
SELECT city AS x0, count(*) AS x1 FROM filings GROUP BY city ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT city) AS n, min(city) AS first, max(city) AS last FROM filings
SELECT listed, count(*) AS n FROM filings GROUP BY listed
SELECT listed AS x0, count(*) AS x1 FROM filings GROUP BY listed ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT listed) AS n, min(listed) AS first, max(listed) AS last FROM filings
SELECT filed_date, count(*) AS n FROM filings GROUP BY filed_date
SELECT filed_date AS x0, count(*) AS x1 FROM filings GROUP BY filed_date ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT filed_date) AS n, min(filed_date) AS first, max(filed_date) AS last FROM filings
SELECT filed_month, count(*) AS n FROM filings GROUP BY filed_month
SELECT filed_month AS x0, count(*) AS x1 FROM filings GROUP BY filed_month ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT filed_month) AS n, min(filed_month) AS first, max(filed_month) AS last FROM filings
SELECT status, count(*) AS n FROM filings GROUP BY status
SELECT status AS x0, count(*) AS x1 FROM filings GROUP BY status ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT status) AS n, min(status) AS first, max(status) AS last FROM filings
SELECT count(*) FROM filings
SELECT * FROM filings
SELECT DISTINCT entity_type FROM filings ORDER BY entity_type
SELECT entity_type, count(*) AS n, count(*) * 100.0 / sum(count(*)) OVER () AS share FROM filings GROUP BY entity_type
SELECT entity_type FROM filings GROUP BY ALL HAVING count(*) > 5
SELECT entity_type, n, rank() OVER (ORDER BY n DESC) AS place FROM (SELECT entity_type, count(*) AS n FROM filings GROUP BY entity_type) q
WITH a AS (SELECT entity_type, count(*) AS n FROM filings GROUP BY entity_type) SELECT * FROM a WHERE n = (SELECT max(n) FROM a)
SELECT entity_type, count(*) AS n FROM businesses GROUP BY entity_type
SELECT entity_type AS x0, count(*) AS x1 FROM businesses GROUP BY entity_type ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT entity_type) AS n, min(entity_type) AS first, max(entity_type) AS last FROM businesses
SELECT county, count(*) AS n FROM businesses GROUP BY county
SELECT county AS x0, count(*) AS x1 FROM businesses GROUP BY county ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT county) AS n, min(county) AS first, max(county) AS last FROM businesses
SELECT industry_sector, count(*) AS n FROM businesses GROUP BY industry_sector
SELECT industry_sector AS x0, count(*) AS x1 FROM businesses GROUP BY industry_sector ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT industry_sector) AS n, min(industry_sector) AS first, max(industry_sector) AS last FROM businesses
SELECT filed_month, count(*) AS n FROM businesses GROUP BY filed_month
SELECT filed_month AS x0, count(*) AS x1 FROM businesses GROUP BY filed_month ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT filed_month) AS n, min(filed_month) AS first, max(filed_month) AS last FROM businesses
SELECT entity_type_label, count(*) AS n FROM businesses GROUP BY entity_type_label
SELECT entity_type_label AS x0, count(*) AS x1 FROM businesses GROUP BY entity_type_label ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT entity_type_label) AS n, min(entity_type_label) AS first, max(entity_type_label) AS last FROM businesses
SELECT zip, count(*) AS n FROM businesses GROUP BY zip
SELECT zip AS x0, count(*) AS x1 FROM businesses GROUP BY zip ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT zip) AS n, min(zip) AS first, max(zip) AS last FROM businesses
SELECT count(*) FROM businesses
SELECT * FROM businesses
SELECT DISTINCT entity_type FROM businesses ORDER BY entity_type
SELECT entity_type, count(*) AS n, count(*) * 100.0 / sum(count(*)) OVER () AS share FROM businesses GROUP BY entity_type
SELECT entity_type FROM businesses GROUP BY ALL HAVING count(*) > 5
SELECT entity_type, n, rank() OVER (ORDER BY n DESC) AS place FROM (SELECT entity_type, count(*) AS n FROM businesses GROUP BY entity_type) q
WITH a AS (SELECT entity_type, count(*) AS n FROM businesses GROUP BY entity_type) SELECT * FROM a WHERE n = (SELECT max(n) FROM a)
SELECT change, count(*) AS n FROM changes GROUP BY change
SELECT change AS x0, count(*) AS x1 FROM changes GROUP BY change ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT change) AS n, min(change) AS first, max(change) AS last FROM changes
SELECT field, count(*) AS n FROM changes GROUP BY field
SELECT field AS x0, count(*) AS x1 FROM changes GROUP BY field ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT field) AS n, min(field) AS first, max(field) AS last FROM changes
SELECT observed_on, count(*) AS n FROM changes GROUP BY observed_on
SELECT observed_on AS x0, count(*) AS x1 FROM changes GROUP BY observed_on ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT observed_on) AS n, min(observed_on) AS first, max(observed_on) AS last FROM changes
SELECT count(*) FROM changes
SELECT * FROM changes
SELECT DISTINCT change FROM changes ORDER BY change
SELECT change, count(*) AS n, count(*) * 100.0 / sum(count(*)) OVER () AS share FROM changes GROUP BY change
SELECT change FROM changes GROUP BY ALL HAVING count(*) > 5
SELECT change, n, rank() OVER (ORDER BY n DESC) AS place FROM (SELECT change, count(*) AS n FROM changes GROUP BY change) q
WITH a AS (SELECT change, count(*) AS n FROM changes GROUP BY change) SELECT * FROM a WHERE n = (SELECT max(n) FROM a)
SELECT change, count(*) AS n FROM changes_detail GROUP BY change
SELECT change AS x0, count(*) AS x1 FROM changes_detail GROUP BY change ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT change) AS n, min(change) AS first, max(change) AS last FROM changes_detail
SELECT county, count(*) AS n FROM changes_detail GROUP BY county
SELECT county AS x0, count(*) AS x1 FROM changes_detail GROUP BY county ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT county) AS n, min(county) AS first, max(county) AS last FROM changes_detail
SELECT entity_type, count(*) AS n FROM changes_detail GROUP BY entity_type
SELECT entity_type AS x0, count(*) AS x1 FROM changes_detail GROUP BY entity_type ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT entity_type) AS n, min(entity_type) AS first, max(entity_type) AS last FROM changes_detail
SELECT observed_on, count(*) AS n FROM changes_detail GROUP BY observed_on
SELECT observed_on AS x0, count(*) AS x1 FROM changes_detail GROUP BY observed_on ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT observed_on) AS n, min(observed_on) AS first, max(observed_on) AS last FROM changes_detail
SELECT count(*) FROM changes_detail
SELECT * FROM changes_detail
SELECT DISTINCT change FROM changes_detail ORDER BY change
SELECT change, count(*) AS n, count(*) * 100.0 / sum(count(*)) OVER () AS share FROM changes_detail GROUP BY change
SELECT change FROM changes_detail GROUP BY ALL HAVING count(*) > 5
SELECT change, n, rank() OVER (ORDER BY n DESC) AS place FROM (SELECT change, count(*) AS n FROM changes_detail GROUP BY change) q
WITH a AS (SELECT change, count(*) AS n FROM changes_detail GROUP BY change) SELECT * FROM a WHERE n = (SELECT max(n) FROM a)
SELECT title, count(*) AS n FROM officers GROUP BY title
SELECT title AS x0, count(*) AS x1 FROM officers GROUP BY title ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT title) AS n, min(title) AS first, max(title) AS last FROM officers
SELECT count(*) FROM officers
SELECT * FROM officers
SELECT DISTINCT title FROM officers ORDER BY title
SELECT title, count(*) AS n, count(*) * 100.0 / sum(count(*)) OVER () AS share FROM officers GROUP BY title
SELECT title FROM officers GROUP BY ALL HAVING count(*) > 5
SELECT title, n, rank() OVER (ORDER BY n DESC) AS place FROM (SELECT title, count(*) AS n FROM officers GROUP BY title) q
WITH a AS (SELECT title, count(*) AS n FROM officers GROUP BY title) SELECT * FROM a WHERE n = (SELECT max(n) FROM a)
SELECT filed_month, count(*) AS n FROM days GROUP BY filed_month
SELECT filed_month AS x0, count(*) AS x1 FROM days GROUP BY filed_month ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT filed_month) AS n, min(filed_month) AS first, max(filed_month) AS last FROM days
SELECT weekday, count(*) AS n FROM days GROUP BY weekday
SELECT weekday AS x0, count(*) AS x1 FROM days GROUP BY weekday ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT weekday) AS n, min(weekday) AS first, max(weekday) AS last FROM days
SELECT complete, count(*) AS n FROM days GROUP BY complete
SELECT complete AS x0, count(*) AS x1 FROM days GROUP BY complete ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT complete) AS n, min(complete) AS first, max(complete) AS last FROM days
SELECT holiday, count(*) AS n FROM days GROUP BY holiday
SELECT holiday AS x0, count(*) AS x1 FROM days GROUP BY holiday ORDER BY x1 DESC, x0 LIMIT 10
SELECT count(DISTINCT holiday) AS n, min(holiday) AS first, max(holiday) AS last FROM days
SELECT count(*) FROM days
SELECT * FROM days
SELECT DISTINCT filed_month FROM days ORDER BY filed_month
SELECT filed_month, count(*) AS n, count(*) * 100.0 / sum(count(*)) OVER () AS share FROM days GROUP BY filed_month
SELECT filed_month FROM days GROUP BY ALL HAVING count(*) > 5
SELECT filed_month, n, rank() OVER (ORDER BY n DESC) AS place FROM (SELECT filed_month, count(*) AS n FROM days GROUP BY filed_month) q
WITH a AS (SELECT filed_month, count(*) AS n FROM days GROUP BY filed_month) SELECT * FROM a WHERE n = (SELECT max(n) FROM a)
SELECT county, count(*) AS n FROM businesses WHERE entity_type = 'llc' GROUP BY county
SELECT name, city FROM filings WHERE entity_type = 'llc' AND name ILIKE '%s%'
SELECT county, count(*) AS n FROM businesses WHERE entity_type = 'corporation' GROUP BY county
SELECT name, city FROM filings WHERE entity_type = 'corporation' AND name ILIKE '%s%'
SELECT county, count(*) AS n FROM businesses WHERE entity_type = 'trust' GROUP BY county
SELECT name, city FROM filings WHERE entity_type = 'trust' AND name ILIKE '%s%'
SELECT count(*) AS n FROM filings WHERE filed_date >= DATE '2026-10-01'
SELECT count(*) AS n FROM filings WHERE filed_date BETWEEN '2026-10-01' AND '2026-12-31'
SELECT name FROM businesses WHERE filed_date = '2026-10-01'
SELECT filed_date - DATE '2026-10-01' AS days, count(*) AS n FROM filings GROUP BY ALL
SELECT count(*) AS n FROM filings WHERE filed_date >= DATE '2026-11-01'
SELECT count(*) AS n FROM filings WHERE filed_date BETWEEN '2026-11-01' AND '2026-12-31'
SELECT name FROM businesses WHERE filed_date = '2026-11-01'
SELECT filed_date - DATE '2026-11-01' AS days, count(*) AS n FROM filings GROUP BY ALL
SELECT count(*) AS n FROM filings WHERE filed_date >= DATE '2026-11-15'
SELECT count(*) AS n FROM filings WHERE filed_date BETWEEN '2026-11-15' AND '2026-12-31'
SELECT name FROM businesses WHERE filed_date = '2026-11-15'
SELECT filed_date - DATE '2026-11-15' AS days, count(*) AS n FROM filings GROUP BY ALL
SELECT date_trunc('year', filed_date) AS part, count(*) AS n FROM filings GROUP BY part
SELECT year(filed_date) AS part, count(*) AS n FROM filings GROUP BY 1
SELECT extract(year FROM filed_date) AS part FROM filings
SELECT date_part('year', observed_on) AS part, count(*) FROM changes GROUP BY ALL
SELECT date_trunc('quarter', filed_date) AS part, count(*) AS n FROM filings GROUP BY part
SELECT quarter(filed_date) AS part, count(*) AS n FROM filings GROUP BY 1
SELECT extract(quarter FROM filed_date) AS part FROM filings
SELECT date_part('quarter', observed_on) AS part, count(*) FROM changes GROUP BY ALL
SELECT date_trunc('month', filed_date) AS part, count(*) AS n FROM filings GROUP BY part
SELECT month(filed_date) AS part, count(*) AS n FROM filings GROUP BY 1
SELECT extract(month FROM filed_date) AS part FROM filings
SELECT date_part('month', observed_on) AS part, count(*) FROM changes GROUP BY ALL
SELECT date_trunc('week', filed_date) AS part, count(*) AS n FROM filings GROUP BY part
SELECT week(filed_date) AS part, count(*) AS n FROM filings GROUP BY 1
SELECT extract(week FROM filed_date) AS part FROM filings
SELECT date_part('week', observed_on) AS part, count(*) FROM changes GROUP BY ALL
SELECT date_trunc('day', filed_date) AS part, count(*) AS n FROM filings GROUP BY part
SELECT day(filed_date) AS part, count(*) AS n FROM filings GROUP BY 1
SELECT extract(day FROM filed_date) AS part FROM filings
SELECT date_part('day', observed_on) AS part, count(*) FROM changes GROUP BY ALL
SELECT sum(filings), max(filings), avg(filings) FROM days
SELECT COUNTY, NAME FROM FILINGS WHERE LISTED
SELECT filed_month, count(*) FROM filings WHERE listed GROUP BY filed_month
SELECT name FROM filings WHERE business_id IN (SELECT business_id FROM changes)
SELECT name FROM filings WHERE business_id NOT IN (SELECT business_id FROM changes)
SELECT name FROM filings f WHERE EXISTS (SELECT 1 FROM officers o WHERE o.business_id = f.business_id)
SELECT name FROM filings f WHERE NOT EXISTS (SELECT 1 FROM changes c WHERE c.business_id = f.business_id AND c.change = 'appeared')
SELECT name, (SELECT count(*) FROM officers) AS n FROM filings
SELECT name FROM filings WHERE filed_date = (SELECT max(filed_date) FROM filings)
SELECT county FROM counties WHERE county NOT IN (SELECT county FROM filings WHERE county IS NOT NULL)
SELECT county FROM counties WHERE county NOT IN (SELECT county FROM filings)
SELECT filed_date, filings, sum(filings) OVER (ORDER BY filed_date) AS total FROM days
SELECT filed_date, avg(filings) OVER (ORDER BY filed_date ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS week FROM days
SELECT filed_date, filings - lag(filings) OVER (ORDER BY filed_date) AS more FROM days
SELECT filed_date, lead(filings, 1, 0) OVER (ORDER BY filed_date) AS next FROM days
SELECT filed_date, first_value(filings) OVER (PARTITION BY filed_month ORDER BY filed_date) AS f FROM days
SELECT filed_date, ntile(4) OVER (ORDER BY filed_date) AS t, percent_rank() OVER (ORDER BY filings) AS p, cume_dist() OVER (ORDER BY filings) AS c FROM days
SELECT county, filings FROM agg_county_window QUALIFY rank() OVER (ORDER BY filings DESC) <= 5
SELECT filed_month, county, filings FROM agg_county_month QUALIFY row_number() OVER (PARTITION BY filed_month ORDER BY filings DESC, county) = 1
SELECT county, n FROM (SELECT county, count(*) AS n FROM filings GROUP BY county) q WHERE n > (SELECT avg(n) FROM (SELECT count(*) AS n FROM filings GROUP BY county) r)
SELECT c.county, f.population, c.filings_last_30_days * 10000.0 / f.population AS rate FROM counties c JOIN county_facts f USING (county_key)
SELECT region, sum(filings) AS n FROM agg_county_window w JOIN county_facts f ON f.county = w.county GROUP BY region
SELECT f.county, a.filings FROM county_facts f LEFT JOIN agg_county_window a ON a.county = f.county
SELECT count(*) FROM filings, days WHERE filings.filed_date = days.filed_date
SELECT a.county, b.county FROM counties a CROSS JOIN counties b WHERE a.county < b.county
SELECT CASE WHEN county IS NULL THEN 'none' WHEN county IN ('Duval', 'Bay') THEN 'north' ELSE 'other' END AS place, count(*) AS n FROM filings GROUP BY place
SELECT coalesce(county, 'none') AS county, count(*) AS n FROM filings GROUP BY ALL ORDER BY ALL
SELECT count(*) FILTER (WHERE listed) AS listed, count(*) FILTER (WHERE NOT listed) AS gone FROM filings
SELECT sum(CASE WHEN listed THEN 1 ELSE 0 END) AS n FROM filings
SELECT bool_and(complete) AS a, bool_or(settled) AS b FROM days
SELECT stddev(filings) AS s, stddev_pop(filings) AS p, variance(filings) AS v, median(filings) AS m, quantile_cont(filings, 0.9) AS q FROM days
SELECT filed_date FROM days WHERE filings > 0 ORDER BY filed_date DESC LIMIT 3 OFFSET 1
SELECT upper(name) AS u, lower(city) AS l, length(name) AS n, left(zip, 3) AS z, right(zip, 2) AS r, trim(name) AS t FROM filings
SELECT substr(zip, 1, 3) AS zip3, count(*) AS n FROM filings GROUP BY substr(zip, 1, 3)
SELECT split_part(name, ' ', 1) AS first, count(*) AS n FROM filings GROUP BY first
SELECT name || ', ' || city AS place FROM filings
SELECT concat(name, ' (', county, ')') AS place FROM filings
SELECT replace(name, 'LLC', '') AS name FROM filings WHERE ends_with(name, 'LLC')
SELECT strftime(filed_date, '%Y-%m') AS month, count(*) AS n FROM filings GROUP BY month
SELECT dayname(filed_date) AS d, count(*) AS n FROM filings GROUP BY d
SELECT CAST(filed_date AS VARCHAR) AS d, CAST(business_id AS VARCHAR) AS i FROM filings
SELECT TRY_CAST(zip AS INTEGER) AS z FROM filings WHERE length(zip) = 5
SELECT round(growth * 100, 1) AS percent FROM agg_county_window
SELECT nullif(county, '') AS c, greatest(filings, 10) AS g, least(filings, 10) AS l FROM agg_county_window
SELECT abs(-3) AS a, sqrt(16) AS b, power(2, 10) AS c, floor(2.7) AS d, ceil(2.2) AS e, ln(1) AS f, sign(-2) AS g
SELECT county FROM filings INTERSECT SELECT county FROM counties
SELECT county FROM counties EXCEPT SELECT county FROM filings
SELECT county FROM filings EXCEPT ALL SELECT county FROM counties
SELECT * EXCLUDE (url) FROM filings
SELECT f.*, d.weekday FROM filings f JOIN days d USING (filed_date)
SELECT date_diff('day', filed_date, dissolved_date) AS d FROM filings
SELECT last_day(filed_date) AS d FROM filings
SELECT county, count(*) AS n FROM filings WHERE listed AND county IS NOT NULL GROUP BY county HAVING count(*) > 3
SELECT entity_type, county, count(*) AS n FROM filings GROUP BY 1, 2
SELECT name AS a, name AS b, name FROM filings
SELECT 1 AS one, 'a' AS text, NULL AS nothing, TRUE AS yes, 2.5 AS half
SELECT avg(n) AS mean FROM (SELECT filed_date, count(*) AS n FROM filings GROUP BY filed_date) q
SELECT title, count(DISTINCT business_id) AS n FROM officers GROUP BY title
SELECT o.name, f.name FROM officers o JOIN filings f ON f.business_id = o.business_id
SELECT changed_at FROM filings WHERE changed_at > TIMESTAMP '2026-01-01 00:00:00'
SELECT CAST(changed_at AS DATE) AS day, count(*) AS n FROM filings GROUP BY day
SELECT county, round(100.0 * sum(filings) / sum(sum(filings)) OVER (), 2) AS share FROM agg_county_window GROUP BY county ORDER BY share DESC, county
SELECT filed_month, count(*) AS n, count(*) - lag(count(*)) OVER (ORDER BY filed_month) AS more FROM filings GROUP BY filed_month
SELECT principal_street, principal_zip, count(*) AS companies FROM details GROUP BY ALL HAVING count(*) >= 2
SELECT upper(trim(principal_street)) AS street, count(DISTINCT business_id) AS n FROM details WHERE principal_state = 'FL' GROUP BY street
SELECT registered_agent_name, count(*) AS companies FROM details GROUP BY registered_agent_name QUALIFY rank() OVER (ORDER BY count(*) DESC) <= 3
SELECT o.name, count(DISTINCT o.business_id) AS companies FROM officers o GROUP BY o.name HAVING count(DISTINCT o.business_id) > 1
SELECT o.title, f.entity_type, count(*) AS n FROM officers o JOIN filings f USING (business_id) GROUP BY ALL
SELECT d.business_id, d.officer_count, count(o.position) AS listed FROM details d LEFT JOIN officers o ON o.business_id = d.business_id GROUP BY d.business_id, d.officer_count
SELECT formation_state, count(*) AS n FROM details WHERE formation_state <> 'FL' GROUP BY formation_state
SELECT f.name FROM filings f JOIN details d ON d.business_id = f.business_id WHERE d.mailing_street IS NOT NULL AND d.mailing_street <> d.principal_street
SELECT f.name, d.last_annual_report_year FROM filings f JOIN details d USING (business_id) WHERE d.last_annual_report_year < year(f.filed_date)
SELECT name, count(*) AS n FROM filings GROUP BY name HAVING n > 1
SELECT a.name, a.business_id AS one, b.business_id AS other FROM filings a JOIN filings b ON a.name = b.name AND a.business_id < b.business_id
SELECT change, observed_on, count(*) AS n FROM changes GROUP BY change, observed_on ORDER BY observed_on, change
SELECT field, old, new, count(*) AS n FROM changes WHERE change = 'changed' GROUP BY ALL
SELECT f.county, count(*) AS vanished FROM changes c JOIN filings f ON f.business_id = c.business_id WHERE c.change = 'vanished' GROUP BY f.county
SELECT business_id, max(observed_on) AS last_change FROM changes GROUP BY business_id HAVING max(observed_on) > DATE '2026-10-01'
SELECT name FROM filings WHERE name LIKE 'A%' OR name LIKE '%_CO' OR name NOT LIKE '%E%'
SELECT name FROM filings WHERE starts_with(name, 'S') AND contains(name, 'LLC')
SELECT name FROM filings WHERE strpos(lower(name), 'sun') > 0
SELECT left(name, 1) AS letter, count(*) AS n FROM filings GROUP BY letter ORDER BY n DESC, letter LIMIT 5
SELECT length(name) AS letters, count(*) AS n FROM filings GROUP BY 1 HAVING count(*) > 2
SELECT name FROM filings WHERE city_clean IN ('MIAMI', 'ORLANDO', 'TAMPA') AND industry_type LIKE '%restaurant%'
SELECT industry_sector, industry_type, count(*) AS n FROM filings GROUP BY 1, 2 QUALIFY row_number() OVER (PARTITION BY industry_sector ORDER BY count(*) DESC, industry_type) <= 2
SELECT weekday, avg(filings) AS mean, min(filings) AS low, max(filings) AS high FROM days WHERE ordinary GROUP BY weekday
SELECT filed_week, sum(filings) AS n, bool_and(settled) AS settled FROM days GROUP BY filed_week HAVING count(*) = 7
SELECT filed_date, filings, filings * 1.0 / usual_filings AS fullness FROM days WHERE usual_filings > 0
SELECT isodow(filed_date) AS d, count(*) AS n FROM filings WHERE filed_date NOT IN (SELECT filed_date FROM days WHERE holiday IS NOT NULL) GROUP BY d
SELECT holiday, filings FROM days WHERE holiday IS NOT NULL ORDER BY filed_date
SELECT county, entity_type, count(*) AS n, sum(count(*)) OVER (PARTITION BY county) AS all_types FROM filings GROUP BY county, entity_type
SELECT county, sum(CASE WHEN entity_type = 'llc' THEN 1 ELSE 0 END) * 1.0 / count(*) AS llcs FROM filings GROUP BY county
SELECT county, count(*) FILTER (WHERE entity_type = 'llc') AS llc, count(*) FILTER (WHERE entity_type = 'corporation') AS corporation FROM filings GROUP BY county
SELECT f.region, sum(c.active_businesses) * 1000.0 / sum(f.population) AS rate FROM counties c JOIN county_facts f ON f.county_key = c.county_key GROUP BY f.region
SELECT county, filings_last_30_days - filings_previous_30_days AS more FROM counties ORDER BY more DESC, county LIMIT 10
SELECT county, population / land_area_sq_mi AS density FROM county_facts WHERE population > (SELECT median(population) FROM county_facts)
SELECT county FROM county_facts WHERE county NOT IN (SELECT county FROM filings WHERE county IS NOT NULL) ORDER BY county
SELECT filed_month, filings, partial FROM monthly_counts WHERE entity_type = 'llc' AND NOT partial ORDER BY filed_month
SELECT m.filed_month, sum(m.filings) AS counted, max(h.n) AS landed FROM monthly_counts m LEFT JOIN (SELECT filed_month, count(*) AS n FROM filings GROUP BY filed_month) h ON h.filed_month = m.filed_month GROUP BY m.filed_month
SELECT filed_date, expected - landed AS missing FROM coverage WHERE NOT complete OR expected <> landed
SELECT entity_type, count(*) AS days, sum(landed) AS rows, min(filed_date) AS first FROM coverage GROUP BY entity_type
SELECT dissolved_date - filed_date AS days_alive FROM filings WHERE dissolved_date IS NOT NULL
SELECT year(dissolved_date) AS y, count(*) AS n, median(dissolved_date - filed_date) AS alive FROM filings WHERE dissolved_date IS NOT NULL GROUP BY y
SELECT count(*) FROM filings WHERE filed_date >= (SELECT max(filed_date) FROM filings) - INTERVAL 30 DAY
SELECT count(*) FROM filings WHERE filed_date > (SELECT max(filed_date) - 28 FROM days WHERE settled)
SELECT filed_month, sum(n) OVER (ORDER BY filed_month) AS total, avg(n) OVER (ORDER BY filed_month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS mean FROM (SELECT filed_month, count(*) AS n FROM filings GROUP BY filed_month) q
WITH m AS (SELECT county, filed_month, count(*) AS n FROM filings GROUP BY ALL), t AS (SELECT filed_month, sum(n) AS n FROM m GROUP BY filed_month) SELECT m.county, m.filed_month, m.n * 1.0 / t.n AS share FROM m JOIN t USING (filed_month)
WITH firsts AS (SELECT name, min(filed_date) AS day FROM filings GROUP BY name) SELECT f.name, f.filed_date FROM filings f JOIN firsts ON firsts.name = f.name AND firsts.day = f.filed_date
SELECT filed_date, max(filings) OVER (ORDER BY filed_date ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS best, min(filings) OVER (ORDER BY filed_date ROWS BETWEEN CURRENT ROW AND 6 FOLLOWING) AS worst FROM days
SELECT county, filings, ntile(4) OVER (ORDER BY filings, county) AS quarter FROM agg_county_window
SELECT extra FROM filings WHERE extra IS NOT NULL
SELECT business_id % 10 AS digit, count(*) AS n FROM filings GROUP BY digit ORDER BY digit
SELECT min(name) AS first, max(name) AS last FROM filings WHERE county = 'Nowhere'
SELECT make_date(2026, 1, 1) + 31 AS day, date_trunc('month', DATE '2026-02-28') AS month, last_day(DATE '2024-02-01') AS leap
SELECT e.label, count(f.business_id) AS n FROM entity_types e LEFT JOIN filings f ON f.entity_type = e.entity_type GROUP BY e.label
SELECT quantile_cont(filings, 0.5) AS half, quantile_cont(filings, 0.95) AS most FROM agg_county_month
SELECT name FROM filings WHERE county IS DISTINCT FROM 'Duval' AND NOT listed
SELECT county FROM filings WHERE listed UNION SELECT county FROM filings WHERE NOT listed
SELECT nth_value(filings, 2) OVER (ORDER BY filed_date ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS second FROM days
SELECT regexp_matches(name, 'A.*B') AS m FROM filings
SELECT string_agg(name, ', ') AS names FROM filings
SELECT county, count(*) AS n FROM filings GROUP BY ROLLUP (county)
SELECT list(name) AS names FROM counties, filings WHERE 1 = 0
SELECT name, (SELECT count(*) FROM officers o WHERE o.business_id = f.business_id) AS n FROM filings f
SELECT last_day(a.filed_date) AS day, min(b.fullness - 1.5) AS least, count_if(10 <= b.weekday) AS n FROM filings a LEFT JOIN days b ON a.city = b.holiday AND b.filed_month <= b.holiday GROUP BY 1
SELECT DISTINCT weekday, substr('AB', weekday - 5, 3) AS a, substr('AB', 6 - weekday, -3) AS b, substr('AB', weekday - 4) AS c, left('AB', weekday - 4) AS d, right('AB', weekday - 4) AS e FROM days
SELECT DISTINCT weekday, split_part('A B', ' ', weekday) AS a, split_part('A B', ' ', -weekday) AS b, lpad('AB', 1, 'xy') AS c, lpad('AB', 0, 'xy') AS d, rpad('AB', 5, 'xy') AS e, strpos('AB', '') AS f, trim('xABx', '') AS g FROM days
SELECT DISTINCT weekday, sign(weekday - 4) AS a, abs(weekday - 4) AS b, round(1.25 * weekday, -1) AS c, pow(weekday - 4, 3) AS d, sqrt(weekday) AS e, weekday % 3 AS f, floor(weekday / 2) AS g, ceil(-1.5 * weekday) AS h, floor(0.5 - weekday) AS i FROM days
SELECT median(CAST(-0.1 * filings AS DOUBLE)) AS a, quantile_cont(CAST(0.1 * filings AS DOUBLE), 0.3) AS b, median(filings) AS c FROM days
SELECT weekday, median(CAST(-0.1 * filings AS DOUBLE)) OVER (ORDER BY filed_date ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS a FROM days
SELECT DISTINCT weekday, round(1.5 * weekday, -1) AS a, round(0.5 + weekday, 0) AS b, round(weekday, -1) AS c, CAST(floor(1.5 * weekday) AS VARCHAR) AS d, 3 + floor(1.5 * weekday) AS e, ceil(1.5 * weekday) % 2 AS f FROM days
SELECT d.filed_date, f.filed_date AS found, n FROM (SELECT filed_date, count(*) AS n FROM filings WHERE county = 'Liberty' GROUP BY filed_date) f RIGHT JOIN days d USING (filed_date)
SELECT count(*) AS n FROM (SELECT filed_date FROM filings WHERE county = 'Liberty') f RIGHT JOIN days d USING (filed_date) WHERE f.filed_date IS NULL
SELECT c.*, county FROM filings f JOIN county_facts c USING (county)
SELECT * FROM counties c FULL JOIN county_facts f USING (county, county_key)
SELECT county, c.county AS counted, f.county AS known, w.county AS growing FROM counties c FULL JOIN county_facts f USING (county) FULL JOIN agg_county_window w USING (county)
SELECT -filings AS filings, filed_date FROM days ORDER BY filings + 0, filed_date LIMIT 2
SELECT county, sum(filings) AS filings FROM agg_county_month GROUP BY county ORDER BY sum(filings) DESC
SELECT filed_date, complete = weekday IN (1, 5) AS a, settled = weekday BETWEEN 2 AND 4 AS b FROM days
SELECT filed_date, complete IS DISTINCT FROM settled AND weekday > 3 AS a FROM days
SELECT count(*) AS n FROM days WHERE filed_date <= '2026-11-20 12:00:00' AND filed_date NOT IN ('2026-11-19 08:00:00')
SELECT count(*) AS n, TIMESTAMPTZ '2026-11-28 23:00:00-05:00' AS a, TIMESTAMP '2026-11-28 23:00:00-05' AS b FROM filings WHERE changed_at > '2026-11-20 23:00:00-05:00'
SELECT 'total' AS k, count(*) AS n FROM filings WHERE county = 'Nowhere' GROUP BY ALL
SELECT entity_type, count(*) AS n FROM filings AS f(a, entity_type, c, d) WHERE listed GROUP BY entity_type
SELECT floor(sum(filings)) || '' AS b, TRY_CAST(max(filings) AS DECIMAL(1, 0)) AS c FROM days
SELECT count_if(CAST(filed_date AS TIMESTAMP) >= '2026-11-19 23:00:00-05:00') AS a, count_if(filed_date + INTERVAL 1 DAY < '2026-11-20 00:30:00+01:00') AS b, count_if(changed_at IN ('2026-11-20 23:00:00-05:00')) AS c FROM filings
SELECT 'ΟΔΟΣ' ILIKE 'οδος' AS a, 'İX' ILIKE '_x' AS b, upper('ßᾀῳ') AS c, count_if(name ILIKE '%ſ%') AS d FROM filings
SELECT nullif(filings, 2.5) || '' AS a, nullif(0.5, fullness) || '' AS b FROM days
SELECT TRY_CAST(' ' || zip AS INTEGER) AS a, TRY_CAST(' ' || zip AS INTEGER) AS b, TRY_CAST(listed || ' ' AS BOOLEAN) AS c FROM filings
SELECT filed_date, lag(filings, 1, 9.5) OVER (ORDER BY filed_date) || '' AS a, lead(filed_date, 1, '2026-12-31') OVER (ORDER BY filed_date) AS b FROM days
