"""Reads a lake with DuckDB again and again while runs publish, until a file appears; prints a line after its first look, and
what it saw after its last, which begins when the file is there."""

import json
import os
import sys

import duckdb

lake, stop = sys.argv[1], sys.argv[2]


def count(table, what, folder):
    return duckdb.sql(f"SELECT {what} FROM '{folder}/{table}/**/*.parquet'").fetchall()[0][0]


seen, gone, totals = {}, 0, set()
parent = os.getppid()
is_last = False
while not is_last and os.getppid() == parent:
    is_first, is_last = not seen, os.path.exists(stop)
    # As docs/analysts/tables.md says: one snapshot for all of its tables.
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
    if is_first:
        print("looking", flush=True)

print(json.dumps({"seen": seen, "gone": gone, "totals": sorted(totals)}))
