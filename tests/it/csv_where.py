"""Counts the rows of the chosen businesses in the lake's tables, and compares the text files' numbers of businesses with them."""

import csv
import json
import pathlib
import sys

import duckdb

snapshot, folder = map(pathlib.Path, sys.argv[1:3])
faults, rows = [], {}


def files(table):
    return f"read_parquet('{snapshot}/{table}/**/*.parquet', hive_partitioning = false)"


chosen = f"(SELECT business_id FROM {files('filings')} WHERE county = 'Orange' AND entity_type = 'llc')"
for path in sorted(path for path in snapshot.iterdir() if path.is_dir()):
    columns = [name for name, *_ in duckdb.sql(f"DESCRIBE FROM {files(path.name)}").fetchall()]
    if "business_id" not in columns or path.name.startswith("agg_"):
        continue
    wanted = duckdb.sql(f"SELECT business_id FROM {files(path.name)} WHERE business_id IN {chosen} ORDER BY ALL").fetchall()
    with open(folder / f"{path.name}.csv", newline="", encoding="utf-8") as file:
        found = sorted(int(row["business_id"]) for row in csv.DictReader(file))
    if found != [number for (number,) in wanted]:
        faults.append(f"{path.name}: {len(found)} rows instead of {len(wanted)}")
    rows[path.name] = len(wanted)
left = {path.stem for path in folder.iterdir()} - set(rows)
if left:
    faults.append(f"also written: {sorted(left)}")
json.dump({"faults": faults, **rows}, sys.stdout)
