"""Compares a DuckDB file with the snapshot it was made from."""

import json
import pathlib
import subprocess
import sys

snapshot, file = map(pathlib.Path, sys.argv[1:3])
faults, tables = [], {}
program = pathlib.Path(sys.executable).parent / "duckdb"


def rows(sql):
    command = [program, "-readonly", "-init", "/dev/null", "-json", file, "-c", sql]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout or "[]")


number = rows("SELECT snapshot FROM sunlake_snapshot")[0]["snapshot"]
for folder in sorted(path for path in snapshot.iterdir() if path.is_dir()):
    name = folder.name
    tables[name] = rows(f"SELECT count(*) AS n FROM {name}")[0]["n"]
    lake = f"read_parquet('{folder}/**/*.parquet')"
    other = rows(f"SELECT count(*) AS n FROM ((FROM {name} EXCEPT ALL FROM {lake}) UNION ALL (FROM {lake} EXCEPT ALL FROM {name}))")
    if other[0]["n"]:
        faults.append(f"{name}: {other[0]['n']} rows differ")
silent = rows("SELECT table_name FROM duckdb_tables() WHERE comment IS NULL AND table_name <> 'sunlake_snapshot'")
if silent:
    faults.append(f"tables without a comment: {silent}")
json.dump({"faults": faults, "snapshot": number, "tables": tables}, sys.stdout)
