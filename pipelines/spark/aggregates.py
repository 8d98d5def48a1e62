"""Runs the aggregates' SQL on Spark, for lakes that outgrow one machine. The SQL files are the same, unchanged.

    spark-submit pipelines/spark/aggregates.py output/current out/
    spark-submit pipelines/spark/aggregates.py output/snapshots/000002 out/ --sql pipelines/aggregates --only type_month

Reads the tables and aggregates of a snapshot, for aggregates may build on others, and writes out/agg_<name>/ as Parquet, one file each, in the SQL's order.
"""

import argparse
import pathlib

from pyspark.sql import SparkSession


def session():
    builder = SparkSession.builder.appName("sunlake aggregates")
    # Timestamps are UTC in the lake; days must not depend on the machine's time zone.
    return builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()


def register(spark, snapshot):
    """Each table of the snapshot under its name; the month in the path of filings is left out, as in the other engines."""
    folders = [folder for folder in sorted(pathlib.Path(snapshot).resolve().iterdir()) if folder.is_dir()]
    for folder in folders:
        frame = spark.read.option("recursiveFileLookup", "true").parquet(folder.as_uri())
        frame.createOrReplaceTempView(folder.name)


def aggregates(folder, only):
    files = sorted(pathlib.Path(folder).glob("*.sql"))
    return [file for file in files if not only or file.stem in only]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("snapshot", help="folder of a snapshot, say output/current")
    arguments.add_argument("out", help="folder of the results")
    arguments.add_argument("--sql", default=pathlib.Path(__file__).parent.parent / "aggregates", help="folder of the SQL")
    arguments.add_argument("--only", action="append", help="name of an aggregate; may be given again")
    given = arguments.parse_args()
    spark = session()
    register(spark, given.snapshot)
    for file in aggregates(given.sql, given.only):
        target = pathlib.Path(given.out).resolve() / f"agg_{file.stem}"
        spark.sql(file.read_text()).coalesce(1).write.mode("overwrite").parquet(target.as_uri())
        print(f"{target}: {spark.read.parquet(target.as_uri()).count()} rows", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
