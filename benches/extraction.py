"""Reading all days of a window by sunlake and by dlt, in turns, from one `sunlake serve` on the same machine: rows a second, CPU, peak memory.

`benches/performance.py` starts it. Prints Markdown. Needs dlt and a lake to serve. Both readers write Parquet. dlt reads each day by search, page by page, in two threads, as far as an
offset reaches; sunlake reads all rows, adds up, and writes the report.
"""

import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

TODAY = "2026-11-20"
LIMITS = "limits = { rows_per_call = 100, max_offset = 5000, window_days = 365, per_minute = 4000000, per_day = 4000000, per_month = 4000000 }"

READ_BY_DLT = '''
import datetime, os, sys
import dlt
from dlt.sources.helpers import requests

url, days, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
today = datetime.date.fromisoformat(sys.argv[4])
headers = {"Authorization": "Bearer " + os.environ["SUNLAKE_API_KEY"]}

@dlt.resource
def listings():
    for back in range(days):
        for kind in ({}, {"type": "fictitious"}):
            yield {"day": str(today - datetime.timedelta(days=back)), "kind": kind}

@dlt.transformer(data_from=listings, parallelized=True, write_disposition="append")
def filings(listing):
    offset = 0
    while offset <= 5000:
        query = {"filed_from": listing["day"], "filed_to": listing["day"], "limit": 100, "offset": offset, **listing["kind"]}
        page = requests.get(url + "/v1/fl/businesses", params=query, headers=headers).json()
        yield page["data"]
        offset += 100
        if not page["pagination"]["has_more"]:
            return

pipeline = dlt.pipeline("bench", destination=dlt.destinations.filesystem(bucket_url=folder), dataset_name="bench", pipelines_dir=folder + "/state")
pipeline.run(listings | filings, loader_file_format="parquet")
print(pipeline.last_trace.last_normalize_info.row_counts["filings"])
'''


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def start_server(program, lake, work):
    made = subprocess.run([program, "keys", "create", "--account", "bench", "--plan", "enterprise"], cwd=work, check=True, capture_output=True, text=True)
    keys = work / "keys.toml"
    keys.write_text(re.sub(r'(?m)^(name = "bench")$', rf"\1\n{LIMITS}", keys.read_text()))
    url = f"http://127.0.0.1:{free_port()}"
    command = [program, "serve", "--keys", keys, "--lake", lake, "--listen", url[7:], "--today", TODAY, "--usage", work / "usage.json"]
    server = subprocess.Popen(command, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while server.poll() is None:
        try:
            urllib.request.urlopen(url + "/readyz")
            return server, url, made.stdout.strip()
        except OSError:
            time.sleep(0.1)
    sys.exit("the server did not start")


def measured(command, environ, work):
    """Seconds, CPU-seconds and peak MiB of a command with its children, and what it printed."""
    begun = time.perf_counter()
    with open(work / "printed", "w+") as printed:
        process = subprocess.Popen(command, stdout=printed, stderr=subprocess.DEVNULL, env=environ, cwd=work)
        _, status, used = os.wait4(process.pid, 0)
        secs = time.perf_counter() - begun
        printed.seek(0)
        text = printed.read()
    if status:
        sys.exit(f"{command} ended with {status}: {text}")
    return secs, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, text


def read_by_sunlake(program, days, environ, work):
    (work / "bench.toml").write_text(f'name = "bench"\n[extract]\ndays = {days}\n')
    with tempfile.TemporaryDirectory(dir=work) as out:
        *figures, text = measured([program, "run", work / "bench.toml", "--lake", f"{out}/lake", "--today", TODAY, "--json"], environ, work)
    return int(json.loads(text)["rows"]["filings"]["total"]), figures


def read_by_dlt(url, days, environ, work):
    (work / "by_dlt.py").write_text(READ_BY_DLT)
    with tempfile.TemporaryDirectory(dir=work) as out:
        *figures, text = measured([sys.executable, work / "by_dlt.py", url, str(days), out, TODAY], environ, work)
    return int(text.split()[-1]), figures


def line(name, rows, rounds):
    secs, cpu, peak = (statistics.median(figures) for figures in zip(*rounds))
    print(f"| {name} | {rows:,} | {secs:.1f} | {rows / secs:,.0f} | {cpu / rows * 1e6:.1f} | {peak:.0f} |")
    return rows / secs, cpu / rows


program, lake = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
days, rounds = (int(word) for word in sys.argv[3:5])
with tempfile.TemporaryDirectory() as folder:
    work = pathlib.Path(folder)
    server, url, key = start_server(program, lake, work)
    try:
        environ = os.environ | {"SUNLAKE_API_KEY": key, "SUNLAKE_BASE_URL": url, "RUNTIME__DLTHUB_TELEMETRY": "false"}
        ours, theirs = [], []
        for _ in range(rounds):
            rows, figures = read_by_sunlake(program, days, environ, work)
            ours.append(figures)
            their_rows, figures = read_by_dlt(url, days, environ, work)
            theirs.append(figures)
    finally:
        server.terminate()
print(f"{days} days, median of {rounds}, both in turns.\n")
print("| | rows | seconds | rows a second | CPU-seconds a million rows | peak, MiB |")
print("| --- | ---: | ---: | ---: | ---: | ---: |")
our_rate, our_cpu = line("sunlake, with aggregates and report", rows, ours)
their_rate, their_cpu = line("dlt 1.31, rows to Parquet", their_rows, theirs)
print(f"| ratio | | | {our_rate / their_rate:.1f} | {their_cpu / our_cpu:.1f} | |")
