"""Reads a lake through the Python package, and runs the program by it: PACKAGE LAKE, a folder or an address. Prints faults as JSON."""

import json
import sys
from pathlib import Path

package, root = sys.argv[1:3]
sys.path.insert(0, package)

import polars as pl
import sunlake

is_folder = "://" not in root
faults, compared = [], 0


def claim(holds, what):
    if not holds:
        faults.append(str(what))


def refused(kind, of):
    try:
        of()
    except kind as error:
        return error
    return None


lake = sunlake.Lake(root)
for number in lake.snapshots:
    snapshot = lake.snapshot(number)
    claim(snapshot.number == number == snapshot.commit["snapshot"], snapshot)
    claim(str(snapshot.today) == snapshot.commit["today"] and snapshot.committed_at.utcoffset().total_seconds() == 0, snapshot)
    database = snapshot.duckdb() if is_folder else None
    for table in snapshot.tables:
        rows = snapshot.polars(table).select(pl.len()).collect().item() if snapshot.files(table) else 0
        claim(rows == snapshot.rows(table), f"{number} {table}: {rows} rows by polars")
        if database and snapshot.files(table):
            [(rows,)] = database.sql(f'SELECT count(*) FROM "{table}"').fetchall()
            claim(rows == snapshot.rows(table), f"{number} {table}: {rows} rows by DuckDB")
        compared += 1
    months = snapshot.polars("filings").select(pl.col("filed_month").unique()).collect()["filed_month"]
    dates = snapshot.polars("filings").select(pl.col("filed_date").dt.strftime("%Y-%m").unique()).collect()["filed_date"]
    claim(set(months) == set(dates) and months.dtype == pl.String, f"{number}: {months} {dates}")
newest = lake.snapshots[-1]
claim(lake.files("filings") == lake.snapshot(newest).files("filings"), "the newest")
claim("no snapshot 999" in str(refused(sunlake.LakeError, lambda: lake.snapshot(999))), "a snapshot that is none")
claim("no table nope" in str(refused(sunlake.LakeError, lambda: lake.files("nope"))), "a table that is none")
if is_folder:
    listed = lake.duckdb().sql("SELECT count(*) FROM businesses").fetchall()[0][0]
    claim(listed == lake.polars("filings").filter(pl.col("listed")).select(pl.len()).collect().item() > 0, listed)
    names = lake.pandas("filings", ["name", "county"])
    claim(list(names.columns) == ["name", "county"] and len(names) == lake.snapshot().rows("filings"), names.shape)
    empty = Path(root).parent / "nothing"
    claim("is no lake" in str(refused(sunlake.LakeError, lambda: sunlake.Lake(empty))), "a folder without a lake")
    summary = sunlake.run("sample", "--today", lake.snapshot().commit["today"], lake=Path(root).parent / "run")
    claim(summary["outcome"] == "complete" and summary["snapshot"] == 1, summary)
    failure = refused(sunlake.SettingsError, lambda: sunlake.run("nope"))
    claim(failure and failure.code == 3 and "no pipeline nope" in str(failure) and "\nhint: " in str(failure), failure)
    failure = refused(sunlake.SettingsError, lambda: sunlake.run("sample", "--wrong"))
    claim(failure and failure.code == 2 and "--wrong: sunlake run has no such flag\nhint: " in str(failure), failure)
    sys.modules["polars"] = None
    failure = refused(ModuleNotFoundError, lambda: lake.polars("filings"))
    claim("pip install polars" in str(failure), failure)
print(json.dumps({"faults": faults, "compared": compared}))
