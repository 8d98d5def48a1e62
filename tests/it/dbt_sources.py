"""Reads each source of pipelines/catalogs/dbt_sources.yml from a lake, and compares its columns: FILE LAKE."""

import json
import pathlib
import sys

import duckdb
import yaml

sources = yaml.safe_load(pathlib.Path(sys.argv[1]).read_text())["sources"]
lake = pathlib.Path(sys.argv[2])
faults, read = [], []
# What dbt puts there, as Jinja does.
LAKE = """{{ env_var('SUNLAKE_LAKE', 'output') | replace("'", "''") }}"""
NAMES = {"TIMESTAMP WITH TIME ZONE": "timestamptz"}
for table in sources[0]["tables"]:
    name = table["name"]
    if not (lake / "current" / name).is_dir():
        continue
    read.append(name)
    location = table["meta"]["external_location"]
    if LAKE not in location:
        faults.append(f"{name}: {location}")
    location = location.replace(LAKE, str(lake).replace("'", "''"))
    found = duckdb.sql(f"SELECT column_name, column_type FROM (DESCRIBE FROM {location.format()})").fetchall()
    listed = [(column["name"], column.get("data_type")) for column in table["columns"]]
    if [column for column, _ in found] != [column for column, _ in listed]:
        faults.append(f"{name}: {found}")
    for (column, kind), (_, wanted) in zip(found, listed):
        if wanted not in (None, NAMES.get(kind, kind.lower())):
            faults.append(f"{name}.{column} is {kind}")
    if not table["description"] or not all(column["description"] for column in table["columns"]):
        faults.append(f"{name}: something has no description")
json.dump({"faults": faults, "read": read}, sys.stdout)
