"""Runs SQL examples by DuckDB: a JSON list of them on stdin, a JSON list of results as CSV (or errors) on stdout."""

import csv
import io
import json
import os
import sys

import duckdb

VIEWS = "output/catalog/views.sql"


def cell(value):
    return str(value).lower() if isinstance(value, bool) else value


def run(sql):
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    # As the pages say: the views of the lake are loaded once.
    if os.path.exists(VIEWS):
        connection.execute(open(VIEWS).read())
    # A command of DuckDB's own program, not of its language.
    while sql.startswith(".read "):
        line, sql = sql.split("\n", 1)
        connection.execute(open(line.removeprefix(".read ").strip()).read())
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for statement in connection.extract_statements(sql):
        result = connection.execute(statement)
        if statement.type == duckdb.StatementType.SELECT:
            writer.writerow([column[0] for column in result.description])
            writer.writerows([cell(value) for value in row] for row in result.fetchall())
    return out.getvalue()


def answer(sql):
    try:
        return {"csv": run(sql)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


print(json.dumps([answer(sql) for sql in json.load(sys.stdin)]))
