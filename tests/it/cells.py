"""Compares every cell of the aggregates that another engine wrote with those in the lake."""

import json
import math
import pathlib
import sys

import duckdb

snapshot, other = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
database = duckdb.connect()
database.sql("SET TimeZone = 'UTC'")


def same(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return type(one) is type(other) and one == other


results = {}
for folder in sorted(snapshot.glob("agg_*")):
    ran = database.sql(f"SELECT * FROM '{other}/{folder.name}/*.parquet'")
    kept = database.sql(f"SELECT * FROM '{folder}/*.parquet'")
    rows, beside = ran.fetchall(), kept.fetchall()
    differences = [
        f"row {number}, {column}: {one!r}, the lake has {two!r}"
        for number, (row, lies) in enumerate(zip(rows, beside))
        for column, one, two in zip(ran.columns, row, lies)
        if not same(one, two)
    ]
    results[folder.name] = {
        "columns": [ran.columns, kept.columns],
        "rows": [len(rows), len(beside)],
        "differences": len(differences),
        "first": differences[:5],
    }
json.dump(results, sys.stdout)
