"""Measures reading and adding up, each next to a peer in the same run, and writes docs/performance.md.

python benches/performance.py [--days 365] [--rounds 3]

Needs cargo, and PyPI for dlt and DuckDB.
"""

import argparse
import os
import pathlib
import platform
import subprocess
import tempfile
import venv

PACKAGES = ["dlt[filesystem,parquet]==1.31.0", "duckdb"]
PROJECT = pathlib.Path(__file__).resolve().parent.parent
BENCHES = PROJECT / "benches"
TODAY = "2026-11-20"

HEAD = """# Performance

Made by `python benches/performance.py`. Each figure has that of a peer, measured in the same run: dlt for reading, DuckDB for adding up.
All processes share the {cores} cores of one machine ({processor}). The filings are the sample's, from seed 1.

More pages, each made by one command that it names: [requests](internals/efficiency.md) against the lower bound, [the lake](internals/lake.md)
against files of DuckDB and pyarrow, [the server](internals/serving.md) against ROAPI, [the import](internals/import.md) of the state's files
against DuckDB over the same lines, and [where the time goes](internals/profile.md), by a profile.
"""

READING = """
## Reading

From one `sunlake serve` without limits. The reader sends a request for each 100 rows, checks that the rows are complete, and publishes Parquet.
dlt reads each day by search in two threads, without a check, as far as an offset reaches.

"""

ADDING = """
## Adding up

The shipped aggregates over a snapshot of the same rows, and the same SQL by DuckDB {version} over the same files: two threads each, median of five.
A ratio below 1 means that sunlake uses less.

"""


def environment(work):
    """Python with dlt and DuckDB."""
    venv.create(work / "python", with_pip=True)
    python = work / "python/bin/python"
    subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    return python


def make_lake(program, work, days):
    """A lake with the sample's newest days."""
    lake, pipeline = work / "lake", work / "source.toml"
    pipeline.write_text(
        f'name = "source"\n[source]\nembedded = true\n[source.sample]\nseed = 1\ndays = {days}\nscale = 1.0\nplan = "enterprise"\n'
        f"per_minute = 4000000\nper_day = 4000000\nper_month = 4000000\n[extract]\ndays = {days}\n[report]\nenabled = false\n"
    )
    subprocess.run([program, "run", pipeline, "--lake", lake, "--today", TODAY, "--json"], check=True, stdout=subprocess.DEVNULL)
    return lake


def printed(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def processor():
    names = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return names[0] if names else platform.machine()


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--days", type=int, default=365)
    asked.add_argument("--rounds", type=int, default=3)
    asked = asked.parse_args()
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", PROJECT / "target"))
    subprocess.run(["cargo", "build", "--release", "--locked"], check=True, cwd=PROJECT)
    program = target / "release/sunlake"
    page = HEAD.format(cores=os.cpu_count(), processor=processor())
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        python = environment(work)
        version = printed(python, "-c", "import duckdb; print(duckdb.__version__)").strip()
        lake = make_lake(program, work, asked.days)
        page += READING + printed(python, BENCHES / "extraction.py", program, lake, str(asked.days), str(asked.rounds))
        page += ADDING.format(version=version) + printed(python, BENCHES / "aggregates.py", (lake / "current").resolve())
    (PROJECT / "docs/performance.md").write_text(page)


if __name__ == "__main__":
    main()
