"""Runs SQL files on DuckDB over a snapshot's tables and compares each result with the aggregate in the lake."""

import json
import pathlib
import sys

import duckdb
from differences import compare

snapshot, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])

database = duckdb.connect()
database.sql("SET TimeZone = 'UTC'")
for table in sorted(snapshot.iterdir()):
    files = [str(file) for file in sorted(table.rglob("*.parquet"))]
    if files:
        listed = ", ".join(f"'{file}'" for file in files)
        database.sql(f"CREATE VIEW {table.name} AS SELECT * FROM read_parquet([{listed}], hive_partitioning = false)")

results = {}
for file in sorted(folder.glob("*.sql")):
    ran = database.sql(file.read_text())
    results[file.stem] = compare(ran, database.sql(f"SELECT * FROM '{snapshot}/agg_{file.stem}/*.parquet'"))
json.dump(results, sys.stdout)
