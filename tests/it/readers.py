"""Reads every table of snapshots with four readers, one line each, and prints what each of them sees."""

import json
import pathlib
import sys

import duckdb
import pandas
import polars
import pyarrow.parquet
from fingerprint import of_frame


def with_duckdb(table):
    return duckdb.sql(f"SELECT * FROM '{table}/**/*.parquet'").df()


def with_polars(table):
    return polars.scan_parquet(f"{table}/").collect().to_pandas()


def with_pandas(table):
    return pandas.read_parquet(table)


def with_pyarrow(table):
    return pyarrow.parquet.read_table(table).to_pandas()


def sums(frame, value=None):
    groups = frame.assign(county=frame["county"].astype(object).fillna("")).groupby(["county", "entity_type"], observed=True)
    series = groups.size() if value is None else groups[value].sum()
    return {f"{county}|{kind}": int(n) for (county, kind), n in series.items()}


def days_of(table):
    file = next(pathlib.Path(table).rglob("*.parquet"))
    schema = pyarrow.parquet.read_schema(file)
    return {field.name for field in schema if str(field.type).startswith("date")}


def everything(read, snapshot):
    tables = sorted(folder for folder in pathlib.Path(snapshot).iterdir() if folder.is_dir())
    return {table.name: of_frame(read(str(table)), days_of(table)) for table in tables}


current, old = sys.argv[1:3]
seen = {}
for read in (with_duckdb, with_polars, with_pandas, with_pyarrow):
    filings, added_up = read(f"{current}/filings"), read(f"{current}/agg_county_type_day")
    seen[read.__name__] = {
        "current": everything(read, current),
        "old": everything(read, old),
        "listed": sums(filings[filings["listed"]]),
        "id_sum": int(filings["business_id"].sum()),
        "added_up": sums(added_up, "filings"),
    }
json.dump(seen, sys.stdout)
