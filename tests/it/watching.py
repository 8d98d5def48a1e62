"""Reads a lake with DuckDB again and again while runs publish, until a file appears; prints what it saw."""

import json
import os
import sys

import duckdb

lake, stop = sys.argv[1], sys.argv[2]


def count(table, what, folder):
    return duckdb.sql(f"SELECT {what} FROM '{folder}/{table}/**/*.parquet'").fetchall()[0][0]


seen, gone, totals = {}, 0, set()
parent = os.getppid()
while not os.path.exists(stop) and os.getppid() == parent:
    # As the README says: one snapshot held for all of its tables.
    folder = os.path.realpath(f"{lake}/current")
    figures = [
        count("filings", "count(*)", folder),
        count("filings", "count(*) FILTER (listed)", folder),
        count("agg_county_type_day", "sum(filings)::BIGINT", folder),
    ]
    number = str(int(os.path.basename(folder)))
    assert seen.setdefault(number, figures) == figures, (number, seen[number], figures)
    # And straight through the link, which may move while the files are listed: then DuckDB says so, and asks again.
    try:
        totals.add(count("filings", "count(*)", f"{lake}/current"))
    except duckdb.IOException:
        gone += 1

print(json.dumps({"seen": seen, "gone": gone, "totals": sorted(totals)}))
