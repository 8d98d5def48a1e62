"""Has Spark, as a cluster of two executor processes, read every table of two snapshots and run the shipped runner."""

import json
import os
import pathlib
import subprocess
import sys

import pyspark

current, old, pipelines, out = map(pathlib.Path, sys.argv[1:5])
home = pathlib.Path(pyspark.__file__).parent
environment = {**os.environ, "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
os.environ.update(environment)
MASTER = "local-cluster[2,1,1024]"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.host": "127.0.0.1",
    # Work begins when both executors are there, and none is given up because the machine is busy.
    "spark.cores.max": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "30min",
    "spark.network.timeout": "30min",
    "spark.executor.heartbeatInterval": "1min",
    "spark.worker.timeout": "1800",
    "spark.sql.broadcastTimeout": "1800",
}

options = [word for name, value in SETTINGS.items() for word in ("--conf", f"{name}={value}")]
command = [home / "bin/spark-submit", "--master", MASTER, *options, pipelines / "spark/aggregates.py", current, out]
done = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True)
if done.returncode != 0:
    sys.exit(done.stdout + done.stderr)

from pyspark.sql import SparkSession, functions

builder = SparkSession.builder.master(MASTER).config("spark.sql.session.timeZone", "UTC")
for name, value in SETTINGS.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()


def text_of(value, kind):
    """Same text as fingerprint.text_of."""
    if value is None:
        return None
    if kind in ("int", "bigint", "double"):
        return f"{float(value):.12g}"
    return str(value).lower() if kind == "boolean" else str(value)


def figures(folder):
    frame = spark.read.parquet(folder.as_uri())
    wanted = [functions.count(functions.lit(1))]
    for name, kind in frame.dtypes:
        value = frame[name]
        bounded = functions.unix_micros(value) if kind == "timestamp" else value
        wanted += [functions.count(value), functions.min(bounded), functions.max(bounded)]
    row = list(frame.agg(*[column.alias(f"c{at}") for at, column in enumerate(wanted)]).first())
    cells = {}
    for at, (name, kind) in enumerate(frame.dtypes):
        values, least, most = row[1 + 3 * at : 4 + 3 * at]
        cells[name] = [values, text_of(least, kind), text_of(most, kind)]
    return {"rows": row[0], "columns": cells}


def everything(snapshot):
    return {table.name: figures(table) for table in sorted(snapshot.resolve().iterdir()) if table.is_dir()}


seen = {"current": everything(current), "old": everything(old)}
# Executors besides the driver, as the driver's own block manager counts them.
seen["executors"] = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
spark.stop()
json.dump(seen, sys.stdout)
