#!/usr/bin/env python3
"""Adds a snapshot of a lake to an Iceberg catalogue: an Iceberg table for each table, over the lake's files where they are.

    pip install 'pyiceberg[sql-sqlite,pyarrow]'        # or another catalogue that pyiceberg knows: rest, glue, hive
    iceberg.py output --catalog local --namespace florida --table filings --table agg_county_month

LAKE is a folder or an address such as s3://bucket/florida. `--catalog` names a catalogue of ~/.pyiceberg.yaml, or of variables
such as PYICEBERG_CATALOG__LOCAL__URI. Run it after each run of sunlake: a table gets one Iceberg snapshot, with the property
`sunlake.snapshot`. Its files are read from the lake's commit, so no folder is listed and no row is copied. Older Iceberg snapshots
can be read as long as the lake keeps the files: prune both by the same rule. A table whose columns changed is made again.

Never let Iceberg delete files of these tables: they are the lake's. `gc.enabled` is false for that.
"""

import argparse
import datetime
import json
import os

import pyarrow.parquet
from pyiceberg.catalog import load_catalog
from pyiceberg.conversions import to_bytes
from pyiceberg.exceptions import NamespaceAlreadyExistsError
from pyiceberg.io import load_file_io
from pyiceberg.io.pyarrow import pyarrow_to_schema
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.typedef import Record
from pyiceberg.types import DateType, NestedField, StringType

MONTH = "filed_month"
# The tables are the lake's: a `DROP TABLE … PURGE` or an expiry deletes none of its files.
PROPERTIES = {"gc.enabled": "false", "format-version": "2"}


def read_json(io, path):
    with io.new_input(path).open() as file:
        return json.loads(file.read())


def newest(io, lake):
    """The number of the snapshot that readers see."""
    if "://" in lake:
        return read_json(io, f"{lake}/latest.json")["snapshot"]
    return int(os.path.basename(os.readlink(f"{lake}/current")))


def location(lake, number, entry):
    """Where a file is: an object store has an unchanged file in the folder of the snapshot that wrote it."""
    path = f"{lake}/snapshots/{entry.get('lies_in', number):06}/{entry['path']}"
    return path if "://" in lake else f"file://{path}"


def month_of(entry):
    """The month in the path of a file; none where there is none."""
    folders = [part for part in entry["path"].split("/") if part.startswith(f"{MONTH}=")]
    return folders[0].split("=")[1] if folders else None


def shape(io, path, is_partitioned):
    """The schema of the table by one of its files, which carries field ids, and its partitions."""
    with io.new_input(path).open() as file:
        schema = pyarrow_to_schema(pyarrow.parquet.read_schema(file))
    if not is_partitioned:
        return schema, PartitionSpec()
    number = schema.highest_field_id + 1
    month = NestedField(number, MONTH, StringType(), required=False, doc="month of filed_date, YYYY-MM")
    partition = PartitionField(source_id=number, field_id=1000, transform=IdentityTransform(), name=MONTH)
    return Schema(*schema.fields, month), PartitionSpec(partition)


def table_of(catalog, identifier, schema, spec):
    """The table with exactly these columns, made where it is missing or has others."""
    if catalog.table_exists(identifier):
        table = catalog.load_table(identifier)
        if table.schema().fields == schema.fields and table.spec().fields == spec.fields:
            return table
        catalog.drop_table(identifier)
    table = catalog.create_table(identifier, schema, partition_spec=spec, properties=PROPERTIES)
    # The ids of the files decide which column is which.
    if [field.field_id for field in table.schema().fields] != [field.field_id for field in schema.fields]:
        raise SystemExit(f"{identifier}: the catalogue gave the columns other ids than the files have")
    return table


def data_file(table, path, entry, month):
    """The entry of a file, with the bounds of its filing dates."""
    bounds = {}
    dates = [entry["min_filed_date"], entry["max_filed_date"]]
    fields = {field.name: field for field in table.schema().fields}
    if all(dates) and "filed_date" in fields:
        days = [(datetime.date.fromisoformat(date) - datetime.date(1970, 1, 1)).days for date in dates]
        low, high = ({fields["filed_date"].field_id: to_bytes(DateType(), day)} for day in days)
        bounds = {"lower_bounds": low, "upper_bounds": high}
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=path,
        file_format=FileFormat.PARQUET,
        partition=Record(month) if month else Record(),
        record_count=entry["rows"],
        file_size_in_bytes=entry["bytes"],
        spec_id=table.metadata.default_spec_id,
        **bounds,
    )


def publish(table, wanted, number):
    """Makes the files the files of the table, in one Iceberg snapshot; returns whether it was needed."""
    current = table.current_snapshot()
    if current and current.summary.additional_properties.get("sunlake.snapshot") == str(number):
        return False
    there = {task.file.file_path: task.file for task in table.scan().plan_files()}
    with table.transaction() as change:
        with change.update_snapshot({"sunlake.snapshot": str(number)}).overwrite() as files:
            for path in there.keys() - wanted.keys():
                files.delete_data_file(there[path])
            for path in wanted.keys() - there.keys():
                files.append_data_file(wanted[path])
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lake", help="folder or address of the lake")
    parser.add_argument("--catalog", default="default", help="name of pyiceberg's catalogue")
    parser.add_argument("--namespace", default="florida", help="namespace of the tables")
    parser.add_argument("--snapshot", type=int, help="number of a snapshot [default: the newest]")
    parser.add_argument("--table", action="append", help="name of a table; repeat it [default: all]")
    flags = parser.parse_args()
    lake = flags.lake.rstrip("/") if "://" in flags.lake else os.path.abspath(flags.lake)
    catalog = load_catalog(flags.catalog)
    io = load_file_io(catalog.properties, lake)
    number = flags.snapshot or newest(io, lake)
    tables = read_json(io, f"{lake}/commits/{number:06}.json")["tables"]
    unknown = set(flags.table or []) - tables.keys()
    if unknown:
        parser.error(f"snapshot {number} has no table {', '.join(sorted(unknown))}")
    try:
        catalog.create_namespace(flags.namespace)
    except NamespaceAlreadyExistsError:
        pass
    for name in flags.table or tables:
        entries = tables[name]["files"]
        if not entries:
            continue
        paths = {location(lake, number, entry): entry for entry in entries}
        schema, spec = shape(io, next(iter(paths)), month_of(entries[0]) is not None)
        table = table_of(catalog, (flags.namespace, name), schema, spec)
        wanted = {path: data_file(table, path, entry, month_of(entry)) for path, entry in paths.items()}
        is_new = publish(table, wanted, number)
        print(f"{flags.namespace}.{name}: {tables[name]['rows']} rows of snapshot {number}{'' if is_new else ', as before'}")


if __name__ == "__main__":
    main()
