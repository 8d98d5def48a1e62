"""The same filings as the lake, DuckDB and pyarrow write them, month by month: bytes a row, and six queries by DuckDB."""

import pathlib
import shutil
import statistics
import sys
import time

import duckdb
import pyarrow
import pyarrow.parquet

ours, work = map(pathlib.Path, sys.argv[1:3])
ROUNDS = 7


def write_with_duckdb(source, target):
    database = duckdb.connect()
    database.sql(f"COPY (SELECT * FROM read_parquet('{source}', hive_partitioning = false)) TO '{target}' (FORMAT parquet)")


def write_with_pyarrow(source, target):
    pyarrow.parquet.write_table(pyarrow.parquet.ParquetFile(source).read(), target)


layouts = {"lake": ours}
for name, write in (("DuckDB's default", write_with_duckdb), ("pyarrow's default", write_with_pyarrow)):
    folder = work / name.split("'")[0].lower()
    shutil.rmtree(folder, ignore_errors=True)
    for month in sorted(ours.iterdir()):
        (folder / month.name).mkdir(parents=True)
        for at, part in enumerate(sorted(month.glob("*.parquet"))):
            write(part, folder / month.name / f"part-{at}.parquet")
    layouts[name] = folder


def scan(folder):
    return f"read_parquet('{folder}/**/*.parquet', hive_partitioning = true, hive_types = {{'filed_month': VARCHAR}})"


look = duckdb.connect()
rows = look.sql(f"SELECT count(*) FROM {scan(ours)}").fetchall()[0][0]
middle = look.sql(f"SELECT business_id, document_number FROM {scan(ours)} ORDER BY hash(business_id) LIMIT 1").fetchall()[0]
newest = look.sql(f"SELECT max(filed_date) FROM {scan(ours)} WHERE filed_date <= DATE '2026-11-20'").fetchall()[0][0]
QUERIES = {
    "filings by county, last 30 days": f"SELECT county, count(*) FROM {{t}} WHERE listed AND filed_date > DATE '{newest}' - 30 GROUP BY county",
    "filings by month and type, all": "SELECT filed_month, entity_type, count(*) FROM {t} WHERE listed GROUP BY ALL",
    "one business by id": f"SELECT * FROM {{t}} WHERE business_id = {middle[0]}",
    "one business by document number": f"SELECT * FROM {{t}} WHERE document_number = '{middle[1]}'",
    "newest 100 of a county": "SELECT * FROM {t} WHERE county = 'Duval' AND listed ORDER BY filed_date DESC, business_id DESC LIMIT 100",
    "names that begin with SUN, all": "SELECT count(*) FROM {t} WHERE starts_with(name, 'SUN')",
}


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*.parquet"))


def milliseconds(folder, query):
    """Median of several runs, each on a new connection, files in the page cache."""
    sql, times = query.format(t=scan(folder)), []
    for round in range(ROUNDS):
        database = duckdb.connect()
        begun = time.perf_counter()
        database.sql(sql).fetchall()
        times.append((time.perf_counter() - begun) * 1000)
        database.close()
    return statistics.median(times[1:])


names = list(layouts)
print(f"## Against the defaults of others\n\nThe same {rows} filings, in the same months and order; queries by DuckDB {duckdb.__version__}, median of {ROUNDS - 1},")
print("warm. A ratio above 1 means that the lake's files are smaller or faster.\n")
print("| | " + " | ".join(names) + " | " + " | ".join(f"ratio to {name}" for name in names[1:]) + " |")
print("| --- |" + " ---: |" * (2 * len(names) - 1))
bytes_a_row = [size(layouts[name]) / rows for name in names]


def line(what, figures, form):
    ratios = [f"{other / figures[0]:.2f}" for other in figures[1:]]
    print(f"| {what} | " + " | ".join(form.format(figure) for figure in figures) + " | " + " | ".join(ratios) + " |")


line("bytes a row", bytes_a_row, "{:.1f}")
answers = []
for what, query in QUERIES.items():
    found = [sorted(map(str, look.sql(query.format(t=scan(layouts[name]))).fetchall())) for name in names]
    assert all(rows == found[0] for rows in found), what
    line(f"{what}, ms", [milliseconds(layouts[name], query) for name in names], "{:.1f}")
