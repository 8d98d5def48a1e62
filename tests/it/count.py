"""Counts the filings of a snapshot's folder with DuckDB."""

import json
import sys

import duckdb

(rows,) = duckdb.sql(f"SELECT count(*) FROM '{sys.argv[1]}/filings/**/*.parquet'").fetchall()[0]
print(json.dumps({"filings": rows}))
