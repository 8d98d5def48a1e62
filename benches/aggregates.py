"""The shipped aggregates by the bench `aggregates` and by DuckDB on the same files, two threads each: seconds, CPU, peak memory."""

import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import duckdb

snapshot = pathlib.Path(sys.argv[1]).resolve()
PROJECT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = PROJECT / "pipelines/aggregates"
BENCH = ["cargo", "bench", "--quiet", "--locked", "--bench", "aggregates", "--"]
ROUNDS = 5

database = duckdb.connect()
database.sql("SET TimeZone = 'UTC'")
database.sql("SET threads = 2")
for table in sorted(snapshot.iterdir()):
    files = ", ".join(f"'{file}'" for file in sorted(table.rglob("*.parquet")))
    if files:
        database.sql(f"CREATE VIEW {table.name} AS SELECT * FROM read_parquet([{files}], hive_partitioning = false)")


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def by_duckdb(sql, out):
    begun, busy = time.perf_counter(), cpu()
    database.execute(f"COPY ({sql}) TO '{out}/duckdb.parquet' (FORMAT parquet, COMPRESSION zstd)")
    return time.perf_counter() - begun, cpu() - busy


def by_sunlake(name):
    command = [*BENCH, snapshot, name, str(ROUNDS + 1)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=PROJECT)
    return [[float(word) for word in line.split()] for line in done.stdout.splitlines()]


def medians(rounds):
    """Without the first round, which warms up."""
    return [statistics.median(figures) for figures in zip(*rounds[1:])]


print("| aggregate | sunlake, s | DuckDB, s | ratio | CPU of sunlake, s | of DuckDB, s | ratio | peak of sunlake, MiB |")
print("| --- |" + " ---: |" * 7)
sums = [0.0] * 4
with tempfile.TemporaryDirectory() as out:
    for file in sorted(FOLDER.glob("*.sql")):
        theirs = medians([by_duckdb(file.read_text(), out) for _ in range(ROUNDS + 1)])
        *ours, peak = medians(by_sunlake(file.stem))
        sums = [total + figure for total, figure in zip(sums, ours + theirs)]
        cells = [f"{figure:.3f}" for figure in (ours[0], theirs[0], ours[0] / theirs[0], ours[1], theirs[1], ours[1] / theirs[1])]
        print(f"| {file.stem} | " + " | ".join(cells) + f" | {peak:.0f} |")
cells = [f"{figure:.3f}" for figure in (sums[0], sums[2], sums[0] / sums[2], sums[1], sums[3], sums[1] / sums[3])]
print("| sum | " + " | ".join(cells) + " | |")
