"""Runs pipelines/catalogs/iceberg.py for two snapshots of a lake, then reads every table by pyiceberg and by DuckDB: SCRIPT LAKE WORK."""

import glob
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import duckdb

script, lake, work = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
faults = []
os.environ |= {"PYICEBERG_CATALOG__LOCAL__URI": f"sqlite:///{work}/catalog.db", "PYICEBERG_CATALOG__LOCAL__WAREHOUSE": f"file://{work}"}


# It reads its settings when it is imported.
from pyiceberg.catalog import load_catalog  # noqa: E402


def claim(holds, what):
    if not holds:
        faults.append(str(what))


def add(*flags):
    done = subprocess.run([sys.executable, script, lake, "--catalog", "local", *flags], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


database = duckdb.connect()
for name in ("avro", "iceberg"):
    package = importlib.util.find_spec(f"duckdb_extension_{name}").submodule_search_locations[0]
    [path] = glob.glob(f"{package}/extensions/*/{name}.duckdb_extension")
    database.execute(f"LOAD '{path}'")
database.execute("SET TimeZone = 'UTC'")
compared = 0


def compare(one, name, number, what):
    """Rows of an Iceberg table and of the files of the snapshot."""
    global compared
    commit = json.loads((lake / f"commits/{number:06}.json").read_text())
    files = [f"{lake}/snapshots/{number:06}/{entry['path']}" for entry in commit["tables"][name]["files"]]
    months = "hive_partitioning = true, hive_types = {'filed_month': VARCHAR}"
    other = f"read_parquet({files}, {months if 'filed_month=' in files[0] else 'hive_partitioning = false'})"
    pairs = ((one, other), (other, one))
    counts = [f"(SELECT count(*) FROM (FROM {a} EXCEPT ALL FROM {b}))" for a, b in pairs]
    found = database.sql(f"SELECT {', '.join(counts)}, (SELECT count(*) FROM {one})").fetchall()
    claim(found == [(0, 0, commit["tables"][name]["rows"])], f"{name} of {number} by {what}: {found}")
    compared += 1


for number in ("1", "2"):
    code, _, error = add("--snapshot", number)
    claim(code == 0, error)
code, output, error = add("--table", "filings")
claim(code == 0 and "of snapshot 2, as before" in output, f"{output} {error}")
code, output, error = add("--table", "filigns")
claim(code == 2 and "has no table filigns" in error, f"{output} {error}")
catalog = load_catalog("local")
for _, name in catalog.list_tables("florida"):
    table = catalog.load_table(("florida", name))
    numbers = [snapshot.summary["sunlake.snapshot"] for snapshot in table.snapshots()]
    claim(numbers == ["1", "2"], f"{name}: snapshots {numbers}")
    for snapshot in table.snapshots():
        number = int(snapshot.summary["sunlake.snapshot"])
        rows = table.scan(snapshot_id=snapshot.snapshot_id).to_arrow()
        database.register("by_pyiceberg", rows)
        compare("by_pyiceberg", name, number, "pyiceberg")
        scan = f"iceberg_scan('{table.metadata_location}', snapshot_from_id = {snapshot.snapshot_id})"
        compare(scan, name, number, "DuckDB")
filings = catalog.load_table("florida.filings")
for condition in ("filed_month = '2026-03'", "filed_date >= '2026-03-05'", "filed_month < '2026-02'"):
    wanted = database.sql(f"SELECT count(*) FROM read_parquet('{lake}/current/filings/**/*.parquet', hive_types_autocast = false) WHERE {condition}").fetchall()
    found = len(filings.scan(row_filter=condition).to_arrow())
    claim(wanted == [(found,)], f"{condition}: {found}, wanted {wanted}")
json.dump({"faults": faults, "compared": compared}, sys.stdout)
