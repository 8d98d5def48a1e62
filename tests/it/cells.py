"""Compares every cell of the aggregates that another engine wrote with those in the lake."""

import json
import pathlib
import sys

import duckdb
from differences import compare

snapshot, other = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
database = duckdb.connect()
database.sql("SET TimeZone = 'UTC'")

results = {}
for folder in sorted(snapshot.glob("agg_*")):
    ran = database.sql(f"SELECT * FROM '{other}/{folder.name}/*.parquet'")
    results[folder.name] = compare(ran, database.sql(f"SELECT * FROM '{folder}/*.parquet'"))
json.dump(results, sys.stdout)
