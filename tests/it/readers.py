"""Reads two tables of a lake with four readers, one line each, and prints what each of them sees."""

import json
import sys

import duckdb
import pandas
import polars
import pyarrow.compute
import pyarrow.parquet

current = sys.argv[1]


def with_duckdb(table):
    return duckdb.sql(f"SELECT * FROM '{current}/{table}/**/*.parquet'").df()


def with_polars(table):
    return polars.scan_parquet(f"{current}/{table}/").collect().to_pandas()


def with_pandas(table):
    return pandas.read_parquet(f"{current}/{table}")


def with_pyarrow(table):
    return pyarrow.parquet.read_table(f"{current}/{table}").to_pandas()


def sums(frame, value=None):
    groups = frame.groupby(["county", "entity_type"], observed=True)
    series = groups.size() if value is None else groups[value].sum()
    return {f"{county}|{kind}": int(n) for (county, kind), n in series.items()}


seen = {}
for read in (with_duckdb, with_polars, with_pandas, with_pyarrow):
    filings, added_up = read("filings"), read("agg_county_type_day")
    listed = filings[filings["listed"]]
    seen[read.__name__] = {
        "columns": sorted(filings.columns),
        "filings": len(filings),
        "listed": sums(listed),
        "months": {str(month): int(n) for month, n in filings.groupby("filed_month", observed=True).size().items()},
        "first_day": str(filings["filed_date"].min())[:10],
        "last_day": str(filings["filed_date"].max())[:10],
        "id_sum": int(filings["business_id"].sum()),
        "last_seen": str(pandas.Timestamp(filings["last_seen_at"].max()).tz_convert("UTC")),
        "dissolved": int(filings["dissolved_date"].notna().sum()),
        "added_up_rows": len(added_up),
        "added_up": sums(added_up, "filings"),
    }
json.dump(seen, sys.stdout)
