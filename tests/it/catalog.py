"""Holds a lake's catalogue against its files: the data package by frictionless and pyarrow, the views by DuckDB."""

import json
import os
import pathlib
import sys

import duckdb
import frictionless
import pyarrow.parquet

lake = pathlib.Path(sys.argv[1])
faults = []


def claim(holds, what):
    if not holds:
        faults.append(str(what))


descriptor = json.loads((lake / "catalog/datapackage.json").read_text())
report = frictionless.Package.validate_descriptor(descriptor)
claim(report.valid, report.to_summary() if not report.valid else "")
# Resources whose data frictionless is to read: those of many rows take it minutes.
readable = []
commit = json.loads((lake / f"commits/{descriptor['snapshot']:06}.json").read_text())
KINDS = {"int32": "integer", "int64": "integer", "string": "string", "bool": "boolean", "double": "number"}
KINDS |= {"date32[day]": "date", "timestamp[us, tz=UTC]": "datetime"}

for resource in descriptor["resources"]:
    name = resource["name"]
    committed = commit["tables"][name]
    claim(resource["path"] == [file["path"] for file in resource["files"]], f"{name}: paths")
    claim(sum(file["rows"] for file in resource["files"]) == committed["rows"], f"{name}: rows")
    claim(resource.get("rows", committed["rows"]) == committed["rows"], f"{name}: rows of the resource")
    fields = resource["schema"]["fields"]
    holes = 0
    for file, entry in zip(resource["files"], committed["files"], strict=True):
        path = lake / file["path"]
        parquet = pyarrow.parquet.ParquetFile(path)
        claim(path.stat().st_size == file["bytes"] == entry["bytes"], f"{path}: bytes")
        claim(parquet.metadata.num_rows == file["rows"], f"{path}: rows")
        claim(file["hash"] == f"blake3:{entry['blake3']}", f"{path}: hash")
        there = [(field.name, KINDS[str(field.type)]) for field in parquet.schema_arrow]
        claim(there == [(field["name"], field["type"]) for field in fields], f"{path}: {there}")
        integers = [field["name"] for field in fields if field["type"] == "integer"]
        holes += sum(column.null_count for column in parquet.read(columns=integers).columns)
    claim(all(field["description"] for field in fields), f"{name}: a column without a meaning")
    claim(resource["description"], f"{name}: nothing is said about it")
    # It reads Parquet by way of pandas, where an integer column with nulls is one of floats.
    if committed["rows"] <= 10_000 and not holes:
        readable.append(resource)

package = frictionless.Package.from_descriptor({**descriptor, "resources": readable}, basepath=str(lake))
report = package.validate()
claim(report.valid, report.to_summary() if not report.valid else "")
claim(len(readable) > 15, f"only {len(readable)} resources were read")

# Unchanged, and from the lake's own folder with the lake named.
seen = {}
for setting in ("", "SET VARIABLE lake = '.'"):
    # From any folder: the path of the lake is absolute.
    os.chdir(lake if setting else "/")
    database = duckdb.connect()
    database.execute(setting or "SELECT 1")
    database.execute((lake / "catalog/views.sql").read_text())
    views = [row[0] for row in database.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()]
    for view, table in (("businesses", "filings"), ("changes_detail", "changes")):
        claim(view in views, f"no view {view}")
        views.remove(view)
        only = " WHERE listed" if table == "filings" else ""
        counts = [database.sql(f"SELECT count(*) FROM {name}").fetchall()[0][0] for name in (view, f"{table}{only}")]
        claim(counts[0] == counts[1] > 0, f"{view}: {counts}")
    labels = database.sql("SELECT count(*) FROM businesses WHERE entity_type_label IS NULL OR industry_sector_label IS NULL")
    claim(labels.fetchall() == [(0,)], "businesses without labels")
    claim(database.sql("SELECT DISTINCT typeof(filed_month) FROM businesses").fetchall() == [("DATE",)], "months are dates")
    for name in views:
        found = database.sql(f"SELECT count(*) FROM {name}").fetchall()[0][0]
        claim(found == commit["tables"][name]["rows"], f"{name}: {found} rows in the view")
        found = database.sql(f"SELECT count(*) FROM {name}_at({descriptor['snapshot']})").fetchall()[0][0]
        claim(found == commit["tables"][name]["rows"], f"{name}: {found} rows at the snapshot")
    silent = database.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal AND comment IS NULL").fetchall()
    claim(not silent, f"views without a comment: {silent}")
    months = database.sql("SELECT DISTINCT typeof(filed_month) FROM filings").fetchall()
    claim(months == [("VARCHAR",)], f"months are {months}")
    seen = {
        "views": len(views),
        "filings": database.sql("SELECT count(*) FROM filings").fetchall()[0][0],
        "filings_at_1": database.sql("SELECT count(*) FROM filings_at(1)").fetchall()[0][0],
    }
json.dump({"faults": faults, "resources": len(descriptor["resources"]), **seen}, sys.stdout)
