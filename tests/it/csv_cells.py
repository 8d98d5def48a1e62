"""Reads text files with Python's own reader of CSV and compares every cell with the lake's."""

import csv
import datetime
import json
import math
import pathlib
import sys

import pyarrow.parquet

snapshot, folder = map(pathlib.Path, sys.argv[1:3])
faults = []
RISKY = ("=", "+", "-", "@", "\t", "\r", "\n")


def expected(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if isinstance(value, str):
        return f"'{value}" if value.startswith(RISKY) else value
    return value if isinstance(value, float) else str(value)


def same(cell, value):
    if isinstance(value, float):
        return math.isclose(float(cell), value, rel_tol=1e-15)
    return cell == value


tables = sorted(path for path in snapshot.iterdir() if path.is_dir())
for table in tables:
    parts = sorted(table.rglob("*.parquet"), reverse=True)
    lines = (folder / f"{table.name}.csv").read_bytes()
    if not lines.endswith(b"\r\n"):
        faults.append(f"{table.name}: the last line has no end")
    with open(folder / f"{table.name}.csv", newline="", encoding="utf-8") as file:
        reader = csv.reader(file, strict=True)
        names = next(reader)
        number = 0
        for part in parts:
            rows = pyarrow.parquet.ParquetFile(part).read()
            if rows.column_names != names:
                faults.append(f"{table.name}: {names}")
            for row in zip(*(column.to_pylist() for column in rows.columns)):
                number += 1
                cells = next(reader)
                if not all(map(same, cells, map(expected, row))) and len(faults) < 10:
                    faults.append(f"{table.name}, row {number}: {cells} for {row}")
        if next(reader, None) is not None:
            faults.append(f"{table.name}: more rows than in the lake")
json.dump({"faults": faults, "tables": len(tables)}, sys.stdout)
