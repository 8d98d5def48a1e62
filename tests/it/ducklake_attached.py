"""Holds a DuckLake catalogue, read by DuckDB's own extension, against the files of its lake: FILE LAKE.

Every table of every kept snapshot, by version and by time, row by row. The lake is a folder, or `s3://…` at `AWS_ENDPOINT`."""

import glob
import importlib.util
import json
import os
import sys

import duckdb

file, lake = sys.argv[1:3]
faults = []


def claim(holds, what):
    if not holds:
        faults.append(str(what))


def load(database, name):
    package = importlib.util.find_spec(f"duckdb_extension_{name}").submodule_search_locations[0]
    [path] = glob.glob(f"{package}/extensions/*/{name}.duckdb_extension")
    database.execute(f"LOAD '{path}'")


def differences(database, one, other):
    """Rows of one that the other does not have, as often; both ways."""
    counts = [f"(SELECT count(*) FROM (FROM {a} EXCEPT ALL FROM {b}))" for a, b in ((one, other), (other, one))]
    return database.sql(f"SELECT {', '.join(counts)}").fetchall()[0]


database = duckdb.connect()
load(database, "ducklake")
if endpoint := os.environ.get("AWS_ENDPOINT"):
    load(database, "httpfs")
    host = endpoint.removeprefix("http://")
    keys = f"KEY_ID '{os.environ['AWS_ACCESS_KEY_ID']}', SECRET '{os.environ['AWS_SECRET_ACCESS_KEY']}'"
    database.execute(f"CREATE SECRET (TYPE s3, {keys}, ENDPOINT '{host}', URL_STYLE 'path', USE_SSL false, REGION 'us-east-1')")
database.execute("SET TimeZone = 'UTC'")
database.execute(f"ATTACH 'ducklake:{file}' AS fl (READ_ONLY)")
pruned = {row[0].rsplit("/", 1)[1] for row in database.sql(f"SELECT file FROM glob('{lake}/pruned/*.json')").fetchall()}
kept = {}
for path, text in database.sql(f"SELECT filename, content FROM read_text('{lake}/commits/*.json') ORDER BY 1").fetchall():
    if path.rsplit("/", 1)[1] not in pruned:
        kept[json.loads(text)["snapshot"]] = json.loads(text)
found = database.sql("SELECT snapshot_id, snapshot_time FROM fl.snapshots() ORDER BY 1").fetchall()
claim([number for number, _ in found] == list(kept), f"snapshots {found}")
compared = 0
for number, commit in kept.items():
    names = {name for name, table in commit["tables"].items() if table["files"]}
    database.execute(f"ATTACH 'ducklake:{file}' AS at_{number} (READ_ONLY, SNAPSHOT_VERSION {number})")
    there = database.sql(f"SELECT table_name FROM duckdb_tables() WHERE database_name = 'at_{number}'").fetchall()
    claim({name for (name,) in there} == names, f"snapshot {number}: {there}")
    database.execute(f"DETACH at_{number}")
    # The time of a commit is in nanoseconds, that of a snapshot in microseconds.
    at = commit["committed_at"][:26].rstrip("Z") + "+00"
    for name in sorted(names):
        entries = commit["tables"][name]["files"]
        files = [f"{lake}/snapshots/{entry.get('lies_in', number):06}/{entry['path']}" for entry in entries]
        months = "hive_partitioning = true, hive_types = {'filed_month': VARCHAR}"
        options = months if "filed_month=" in files[0] else "hive_partitioning = false"
        parquet = f"read_parquet({files}, {options})"
        for moment in (f"VERSION => {number}", f"TIMESTAMP => TIMESTAMPTZ '{at}'"):
            table = f"fl.{name} AT ({moment})"
            claim(differences(database, table, parquet) == (0, 0), f"{name} {moment}: other rows")
            columns = [database.sql(f"SELECT column_name, column_type FROM (DESCRIBE FROM {of})").fetchall() for of in (table, parquet)]
            claim(columns[0] == columns[1], f"{name} {moment}: {columns}")
            count = database.sql(f"SELECT count(*) FROM {table}").fetchall()[0][0]
            claim(count == commit["tables"][name]["rows"], f"{name} {moment}: {count} rows counted")
            compared += 1
newest = max(kept)
for name, table in kept[newest]["tables"].items():
    if table["files"]:
        counts = database.sql(f"SELECT (SELECT count(*) FROM fl.{name}), (SELECT count(*) FROM fl.{name} AT (VERSION => {newest}))")
        claim(counts.fetchall() == [(table["rows"],) * 2], f"{name}: the newest rows")
# A filter on the month and on the date reads what it reads of the files alone.
files = [f"{lake}/snapshots/{entry.get('lies_in', newest):06}/{entry['path']}" for entry in kept[newest]["tables"]["filings"]["files"]]
for condition in ("filed_month = '2026-03'", "filed_date >= DATE '2026-03-05'", "filed_month < '2026-02'", "filed_date IS NULL"):
    parquet = f"read_parquet({files}, hive_partitioning = true, hive_types = {{'filed_month': VARCHAR}})"
    counts = [database.sql(f"SELECT count(*) FROM {of} WHERE {condition}").fetchall() for of in ("fl.filings", parquet)]
    claim(counts[0] == counts[1], f"{condition}: {counts}")
listed = database.sql("SELECT (SELECT count(*) FROM fl.businesses) = (SELECT count(*) FROM fl.filings WHERE listed)").fetchall()
claim(listed == [(True,)], "the view of businesses")
silent = database.sql("SELECT table_name FROM duckdb_tables() WHERE database_name = 'fl' AND comment IS NULL").fetchall()
claim(not silent, f"tables without a comment: {silent}")
json.dump({"faults": faults, "snapshots": list(kept), "compared": compared}, sys.stdout)
