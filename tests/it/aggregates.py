"""Runs SQL files on DuckDB over a snapshot's tables and compares each result with the aggregate in the lake."""

import json
import math
import pathlib
import sys

import duckdb

snapshot, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])

database = duckdb.connect()
database.sql("SET TimeZone = 'UTC'")
for table in sorted(snapshot.iterdir()):
    files = [str(file) for file in sorted(table.rglob("*.parquet"))]
    if files and not table.name.startswith("agg_"):
        listed = ", ".join(f"'{file}'" for file in files)
        database.sql(f"CREATE VIEW {table.name} AS SELECT * FROM read_parquet([{listed}], hive_partitioning = false)")


def same(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return type(one) is type(other) and one == other


results = {}
for file in sorted(folder.glob("*.sql")):
    run = database.sql(file.read_text())
    kept = database.sql(f"SELECT * FROM '{snapshot}/agg_{file.stem}/*.parquet'")
    ran, lies = run.fetchall(), kept.fetchall()
    differences = [
        f"row {number}, {column}: DuckDB says {one!r}, the lake {other!r}"
        for number, (row, beside) in enumerate(zip(ran, lies))
        for column, one, other in zip(run.columns, row, beside)
        if not same(one, other)
    ]
    results[file.stem] = {
        "columns": [run.columns, kept.columns],
        "rows": [len(ran), len(lies)],
        "differences": len(differences),
        "first": differences[:5],
    }
json.dump(results, sys.stdout)
