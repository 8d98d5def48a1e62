"""Compares the answers of the program with those of DuckDB: sql_compare.py TABLES VIEWS QUERIES ANSWERS.

QUERIES has a query a line. ANSWERS has for the query N `agg_qN.parquet`, or `qN.refused` with the reason.
"""

import datetime
import decimal
import json
import math
import pathlib
import re
import sys

import duckdb

tables, views, queries, answers = map(pathlib.Path, sys.argv[1:5])
database = duckdb.connect()
database.sql("SET TimeZone = 'UTC'")
for table in sorted(tables.iterdir()):
    month = ", strftime(filed_date, '%Y-%m') AS filed_month" if table.name == "filings" else ""
    database.execute(f"CREATE TABLE {table.name} AS SELECT *{month} FROM read_parquet('{table}/*.parquet', hive_partitioning = false)")
for name in ["businesses", "changes_detail"]:
    found = re.search(rf"CREATE OR REPLACE VIEW {name} AS\n.*?;\n", views.read_text(), re.S)
    database.execute(found.group(0))


def cell(value):
    if value is None or isinstance(value, bool):
        return ("known", str(value))
    if isinstance(value, datetime.datetime):
        return ("time", str(value.replace(tzinfo=None)))
    if isinstance(value, datetime.date):
        return ("time", f"{value} 00:00:00")
    if isinstance(value, int):
        return ("number", value)
    if isinstance(value, (float, decimal.Decimal)):
        return ("number", float(value) + 0.0) if not math.isnan(value) else ("known", "nan")
    return ("text", str(value))


def rows_of(rows):
    return [tuple(map(cell, row)) for row in rows]


def is_equal(one, other):
    if one == other:
        return True
    is_number = one[0] == other[0] == "number" and not (isinstance(one[1], int) and isinstance(other[1], int))
    return is_number and math.isclose(one[1], other[1], rel_tol=1e-8, abs_tol=1e-9)


def key(row):
    numbers = [value for kind, value in row if kind == "number"]
    return [f"{value:.6e}" if kind == "number" else value for kind, value in row], numbers


def are_equal(one, other, is_ordered):
    if len(one) != len(other):
        return False
    if not is_ordered:
        one, other = sorted(one, key=key), sorted(other, key=key)
    return all(len(a) == len(b) and all(map(is_equal, a, b)) for a, b in zip(one, other))


result = {"same": 0, "wrong": [], "refused": [], "refused_by_duckdb": 0, "refused_by_both": 0, "by_optimizer": 0}
for number, query in enumerate(queries.read_text().splitlines()):
    refused = answers / f"q{number}.refused"
    try:
        expected = database.execute(query).fetchall()
    except duckdb.Error:
        expected = None
    if refused.exists():
        if expected is None:
            result["refused_by_both"] += 1
        else:
            result["refused"].append([refused.read_text(), query])
        continue
    if expected is None:
        result["refused_by_duckdb"] += 1
        continue
    found = database.execute(f"SELECT * FROM '{answers}/agg_q{number}.parquet'").fetchall()
    is_ordered = re.search(r"ORDER BY x0[^()]*$", query) is not None
    if not are_equal(rows_of(expected), rows_of(found), is_ordered):
        # DuckDB 2.0.0 takes EXISTS over a filter with the count of a table without rows for false, by its optimizer alone.
        database.execute("PRAGMA disable_optimizer")
        expected = database.execute(query).fetchall()
        database.execute("PRAGMA enable_optimizer")
        result["by_optimizer"] += 1
    if are_equal(rows_of(expected), rows_of(found), is_ordered):
        result["same"] += 1
    else:
        result["wrong"].append(f"{query}\n    DuckDB {expected[:3]}\n    sunlake {found[:3]}")
json.dump(result, sys.stdout)
