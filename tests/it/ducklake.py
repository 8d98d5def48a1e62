"""Reads a DuckLake catalogue as the specification says, without the extension: SCRIPT [LAKE].

With the folder of the lake, its files are compared with the commits of all kept snapshots, row by row."""

import json
import os
import pathlib
import struct
import sys

import duckdb

script = pathlib.Path(sys.argv[1])
faults = []


def claim(holds, what):
    if not holds:
        faults.append(str(what))


if script.suffix == ".sql":
    database = duckdb.connect()
    database.execute(script.read_text())
else:
    database = duckdb.connect(str(script), read_only=True)
database.execute("SET TimeZone = 'UTC'")


def rows(sql):
    return database.sql(sql).fetchall()


def alive(number):
    return f"{number} >= begin_snapshot AND ({number} < end_snapshot OR end_snapshot IS NULL)"


def differences(one, other):
    counts = [f"(SELECT count(*) FROM ({a} EXCEPT ALL {b}))" for a, b in ((one, other), (other, one))]
    return rows(f"SELECT {', '.join(counts)}")[0]


metadata = dict(rows("SELECT key, value FROM ducklake_metadata"))
claim(metadata["version"] == "1.0" and metadata["encrypted"] == "false", metadata)
root = metadata["data_path"]
claim(rows("SELECT path, path_is_relative FROM ducklake_schema UNION SELECT path, path_is_relative FROM ducklake_table") == [("", True)], "paths")
snapshots = dict(rows("SELECT snapshot_id, strftime(snapshot_time, '%Y-%m-%dT%H:%M:%S.%f') FROM ducklake_snapshot ORDER BY 1"))
MONTHS = "hive_partitioning = true, hive_types = {'filed_month': VARCHAR}"
KINDS = {"INTEGER": "int32", "BIGINT": "int64", "DOUBLE": "float64", "BOOLEAN": "boolean", "DATE": "date", "VARCHAR": "varchar"}
KINDS |= {"TIMESTAMP WITH TIME ZONE": "timestamptz"}


def check_file(path, size, footer, count, mapping):
    with open(root + path, "rb") as file:
        content = file.read()
    claim(len(content) == size, f"{path}: {size} bytes")
    claim(struct.unpack("<I", content[-8:-4]) == (footer,), f"{path}: footer of {footer}")
    claim(rows(f"SELECT num_rows FROM parquet_file_metadata('{root}{path}')") == [(count,)], f"{path}: {count} rows")
    names = {row[0] for row in rows(f"SELECT column_name FROM (DESCRIBE FROM read_parquet('{root}{path}', hive_partitioning = false))")}
    mapped = rows(f"SELECT source_name, is_partition FROM ducklake_name_mapping WHERE mapping_id = {mapping}")
    claim({name for name, is_partition in mapped if not is_partition} >= names, f"{path}: names {mapped}")
    is_of_month = "filed_month=" in path
    claim([name for name, is_partition in mapped if is_partition] == ["filed_month"] * is_of_month, f"{path}: {mapped}")


def check_table(number, table, name, committed):
    files = rows(
        "SELECT path, file_size_bytes, footer_size, record_count, mapping_id FROM ducklake_data_file "
        f"WHERE table_id = {table} AND path_is_relative AND {alive(number)}"
    )
    for file in files:
        check_file(*file)
    wanted = sorted((entry["bytes"], entry["rows"]) for entry in committed["files"])
    claim(sorted((size, count) for _, size, _, count, _ in files) == wanted, f"{name} of {number}: files")
    claim(sum(count for _, _, _, count, _ in files) == committed["rows"], f"{name} of {number}: rows")
    paths = [[root + path for path, *_ in files], [f"{root}snapshots/{number:06}/{entry['path']}" for entry in committed["files"]]]
    options = MONTHS if "filed_month=" in paths[1][0] else "hive_partitioning = false"
    one, other = (f"FROM read_parquet({of}, {options})" for of in paths)
    claim(differences(one, other) == (0, 0), f"{name} of {number}: other rows")
    columns = rows(
        "SELECT column_name, column_type FROM ducklake_column "
        f"WHERE table_id = {table} AND {alive(number)} ORDER BY column_order"
    )
    there = rows(f"SELECT column_name, column_type FROM (DESCRIBE {other})")
    claim(columns == [(column, KINDS[kind]) for column, kind in there], f"{name} of {number}: {columns}")


def check_bounds():
    """The statistics of files, by which a reader leaves files out."""
    bounds = rows(
        "SELECT path, column_name, min_value, max_value, value_count FROM ducklake_file_column_stats "
        "JOIN ducklake_data_file USING (data_file_id) JOIN ducklake_column c USING (column_id) "
        "WHERE c.table_id = ducklake_data_file.table_id AND c.end_snapshot IS NULL"
    )
    claim(len(bounds) >= 8, f"{len(bounds)} bounds")
    for path, column, low, high, count in bounds:
        options = MONTHS if "filed_month=" in path else "hive_partitioning = false"
        found = rows(
            f"SELECT min({column})::VARCHAR, max({column})::VARCHAR, count({column}), count(*) FROM read_parquet('{root}{path}', {options})"
        )
        claim(found == [(low, high, count, count)], f"{path}: {column} from {low} to {high}, {found}")


compared = 0
if len(sys.argv) > 2:
    lake = pathlib.Path(sys.argv[2])
    commits = {int(path.stem): json.loads(path.read_text()) for path in (lake / "commits").glob("*.json")}
    kept = sorted(number for number in commits if not (lake / f"pruned/{number:06}.json").exists())
    claim(list(snapshots) == kept, f"snapshots {list(snapshots)}, kept {kept}")
    for number in kept:
        commit = commits[number]
        claim(commit["committed_at"].rstrip("Z").startswith(snapshots[number].rstrip("0")), f"{number}: {snapshots[number]}")
        tables = {name: table for table, name in rows(f"SELECT table_id, table_name FROM ducklake_table WHERE {alive(number)}")}
        wanted = {name for name, table in commit["tables"].items() if table["files"]}
        claim(set(tables) == wanted, f"{number}: {set(tables) ^ wanted}")
        for name in wanted:
            check_table(number, tables[name], name, commit["tables"][name])
            compared += 1
    check_bounds()
    ids = rows("SELECT (SELECT max(data_file_id) FROM ducklake_data_file) < next_file_id FROM ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1")
    claim(ids == [(True,)], "the next id of a file")
paths = {number: [path for (path,) in rows(f"SELECT path FROM ducklake_data_file WHERE {alive(number)}")] for number in snapshots}
json.dump({"faults": faults, "snapshots": list(snapshots), "compared": compared, "data_path": root, "paths": paths}, sys.stdout)
