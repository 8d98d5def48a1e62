"""Reads a Delta table with delta-rs and polars, version by version, and compares each with its snapshot."""

import datetime
import json
import pathlib
import sys

import deltalake
import duckdb
import polars
import pyarrow

lake, table = pathlib.Path(sys.argv[1]), sys.argv[2]
commits = [json.loads(path.read_text()) for path in sorted((lake / "commits").iterdir())]
faults, counted = [], []


def claim(holds, what):
    if not holds:
        faults.append(str(what))


def of_lake(snapshot):
    return polars.scan_parquet(lake / f"snapshots/{snapshot:06}/filings/", hive_schema={"filed_month": polars.String})


for version, commit in enumerate(commits):
    expected = of_lake(commit["snapshot"]).sort("business_id").collect()
    seen = polars.scan_delta(table, version=version).sort("business_id").collect()
    claim(seen.select(expected.columns).equals(expected), f"polars sees other rows in version {version}")
    opened = deltalake.DeltaTable(table, version=version)
    arrow = pyarrow.table(opened.to_pyarrow_table()).sort_by("business_id")
    counted.append(arrow.num_rows)
    claim(polars.from_arrow(arrow).select(expected.columns).equals(expected), f"delta-rs sees other rows in version {version}")
    actions = pyarrow.table(opened.get_add_actions(flatten=True))
    files = commit["tables"]["filings"]["files"]
    claim(sorted(actions["num_records"].to_pylist()) == sorted(file["rows"] for file in files), "rows of the parts")
    for name, pick in (("min", "min_filed_date"), ("max", "max_filed_date")):
        days = sorted(map(str, actions[f"{name}.filed_date"].to_pylist()))
        claim(days == sorted(file[pick] for file in files), f"{name} of filed_date: {days}")
    # The version of an instant: just before, and at, the commit. In a store it is that of the time when the entry was written.
    if "://" in table:
        continue
    at = datetime.datetime.fromisoformat(commit["committed_at"][:26].rstrip("Z") + "+00:00") + datetime.timedelta(milliseconds=5)
    by_time = deltalake.DeltaTable(table)
    by_time.load_as_version(min(at, datetime.datetime.now(datetime.timezone.utc)))
    claim(by_time.version() == version, f"{at} is version {by_time.version()}, and should be {version}")

newest = of_lake(commits[-1]["snapshot"])
some = newest.select("business_id", "county", "filed_date", "filed_month").filter(polars.col("county").is_not_null()).collect()[7]
identity, county, day, month = some.row(0)
scan = polars.scan_delta(table)
for what, predicate in (
    ("an id", polars.col("business_id") == identity),
    ("a county", polars.col("county") == county),
    ("a day", polars.col("filed_date") == day),
    ("a month", polars.col("filed_month") == month),
):
    found = scan.filter(predicate).select(polars.len()).collect().item()
    claim(found == newest.filter(predicate).select(polars.len()).collect().item(), f"rows of {what}: {found}")
    claim(found > 0, f"no rows of {what}")
claim(len(deltalake.DeltaTable(table).history()) == len(commits), "the history")
json.dump({"faults": faults, "rows": counted}, sys.stdout)
