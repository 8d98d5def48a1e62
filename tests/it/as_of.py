"""Runs the query of docs/analysts/time-travel.md on the newest snapshot, and compares it with the snapshot of that day."""

import json
import pathlib
import sys

import duckdb

lake, moment = sys.argv[1], sys.argv[2]
page = (pathlib.Path(__file__).parents[2] / "docs/analysts/time-travel.md").read_text()
start = page.index("SET VARIABLE moment")
sql = page[start : page.index("```", start)]
setting, query = sql.split(";", 1)
connection = duckdb.connect()
connection.sql(f"SET VARIABLE moment = TIMESTAMPTZ '{moment}'")
connection.sql("CREATE TABLE past AS " + query.replace("'output/current/", f"'{lake}/current/"))
connection.sql(
    "CREATE TABLE seen AS SELECT business_id, name, city "
    f"FROM '{lake}/snapshots/000001/filings/**/*.parquet' WHERE listed"
)
count = lambda sql: connection.sql(f"SELECT count(*) FROM ({sql})").fetchall()[0][0]
differences = count("(FROM past EXCEPT FROM seen) UNION ALL (FROM seen EXCEPT FROM past)")
rows_now = count(f"SELECT 1 FROM '{lake}/current/filings/**/*.parquet' WHERE listed")
print(json.dumps({"differences": differences, "rows": count("FROM past"), "rows_now": rows_now}))
