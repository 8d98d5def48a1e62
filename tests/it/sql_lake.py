"""Copies some rows of each table of a snapshot into a small folder: sql_lake.py SNAPSHOT FOLDER."""

import pathlib
import sys

import duckdb

snapshot, folder = map(pathlib.Path, sys.argv[1:3])
MOST = {"filings": 260, "changes": 120, "officers": 120, "details": 80}
database = duckdb.connect()
database.sql("SET TimeZone = 'UTC'")
for table in sorted(path for path in snapshot.iterdir() if path.is_dir()):
    files = [str(path) for path in sorted(table.rglob("*.parquet"))]
    if not files:
        continue
    (folder / table.name).mkdir(parents=True)
    order = "ORDER BY hash(business_id)" if table.name in MOST else ""
    rows = f"SELECT * FROM read_parquet({files!r}, hive_partitioning = false) {order} LIMIT {MOST.get(table.name, 60)}"
    database.sql(f"COPY ({rows}) TO '{folder / table.name}/part.parquet' (FORMAT parquet)")
print("{}")
