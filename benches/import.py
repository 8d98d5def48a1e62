"""The state's files into a lake by sunlake, and the same lines into Parquet by DuckDB, in turns: records a second, CPU, peak memory, bytes on disk.

python benches/import.py PROGRAM FOLDER COUNT... > docs/internals/import.md

FOLDER has one quarterly set of corporations as texts (cordata0.txt to cordata9.txt, corevt.txt), and two or more daily files (20261012c.txt and 20261012ce.txt
and so on), anywhere below it. Each COUNT of records is made of the set: fewer by leaving records out evenly, more by copies under other numbers, whose
contents other filing dates have.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

TODAY = "2026-11-20"
BLOCK = 20_000
RECORD, EVENT = 1442, 664
NUMBER_AND_DATE = (*range(12), *range(472, 480))
# Records between the contents of a copy and their own number.
STEP = 1499
DIGITS = b"0123456789"
# In place of a digit of a document number, by copy.
OTHER_DIGITS = (DIGITS, b"ABCDEFGHIJ", b"KLMNOPQRST")
# Copies of a set repeat what its parts have by chance.
IMPORT = '[import]\nfolder = "files"\nmax_short_percent = 100\n[checks]\ndrop = "tell"\nquarantine = "tell"\n'
ALONE = "[aggregates]\nenabled = false\n[report]\nenabled = false\n"

PAGE = """# The import of the state's files

Made by `python benches/import.py PROGRAM FOLDER 1000000 4000000 12800000`. FOLDER has an invented register in the state's layouts. Larger ones are copies of it
under other document numbers. All processes share the 2 cores of one machine.

sunlake checks every line, keeps the newest record of each business with its events, derives city, county, industry and status, and publishes five sorted
tables by month. DuckDB cuts the same lines into their fields with `substring`, and writes them to two Parquet files in the order of the lines. A ratio is
sunlake's figure by DuckDB's.
"""

BY_DUCKDB = '''
import sys
import duckdb

folder, out = sys.argv[1:3]
database = duckdb.connect()
database.execute("SET threads = 2")

def cut(first, *widths):
    for width in widths:
        yield f"rtrim(substring(line, {first}, {width})) AS c{first}"
        first += width

def parse(files, columns, name):
    text = f"read_csv('{folder}/**/{files}', columns = {{'line': 'VARCHAR'}}, header = false, auto_detect = false, delim = '\\x01', quote = '', escape = '', encoding = 'latin-1')"
    database.execute(f"COPY (SELECT {', '.join(columns)} FROM {text}) TO '{out}/{name}.parquet' (FORMAT parquet, COMPRESSION zstd)")

officers = [column for at in range(6) for column in cut(669 + 128 * at, 4, 1, 42)]
record = [*cut(1, 12, 192, 1, 15, 42, 42, 28, 2, 10, 2, 42, 42, 28, 2, 10, 2, 8), *cut(495, 1, 8, 2, 4), *cut(519, 4), *cut(532, 4), *cut(545, 42, 1), *officers]
parse("cordata*.txt", record, "records")
parse("corevt.txt", cut(1, 12, 5, 20, 40, 8, 8, 35, 35, 35, 12, 192, 5, 5, 1, 1, 42, 42, 28, 2, 10), "events")
'''


def lines_of(path, length):
    """Blocks of complete lines."""
    if path.stat().st_size % length:
        sys.exit(f"{path}: its lines are not of {length} bytes")
    with open(path, "rb") as text:
        while block := text.read(BLOCK * length):
            yield bytearray(block)


def renumber(block, length, copy):
    """Changes the document numbers of lines to those of a copy."""
    for place in (1, 2, 3):
        copy, digits = divmod(copy, len(OTHER_DIGITS))
        block[place::length] = bytes(block[place::length]).translate(bytes.maketrans(DIGITS, OTHER_DIGITS[digits]))
    return block


def exchanged(block, copy):
    """Gives the contents of records to other document numbers and filing dates."""
    start = copy * STEP * RECORD % len(block)
    others = block[start:] + block[:start]
    for place in NUMBER_AND_DATE:
        others[place::RECORD] = block[place::RECORD]
    return others


def part_of(blocks, length, is_kept):
    at = 0
    for block in blocks:
        lines = [block[start : start + length] for start in range(0, len(block), length)]
        yield bytearray(b"".join(line for number, line in enumerate(lines, at) if is_kept(number, line)))
        at += len(lines)


def make_set(base, count, files):
    """A quarterly set with this number of records. Returns the numbers of records and of events."""
    files.mkdir(parents=True)
    texts = sorted(base.glob("**/cordata[0-9].txt"))
    in_base = sum(path.stat().st_size for path in texts) // RECORD
    events = 0
    for copy in range(-(-count // in_base)):
        share = min(1, count / in_base - copy)
        kept = set()
        for path in texts:
            blocks = lines_of(path, RECORD)
            if share < 1:
                blocks = part_of(blocks, RECORD, lambda at, _: int((at + 1) * share) > int(at * share))
            with open(files / path.name, "ab") as out:
                for block in blocks:
                    if share < 1:
                        kept.update(bytes(block[start : start + 12]) for start in range(0, len(block), RECORD))
                    out.write(renumber(exchanged(block, copy), RECORD, copy))
        blocks = lines_of(next(base.glob("**/corevt.txt")), EVENT)
        if share < 1:
            blocks = part_of(blocks, EVENT, lambda _, line: bytes(line[:12]) in kept)
        with open(files / "corevt.txt", "ab") as out:
            for block in blocks:
                events += len(block) // EVENT
                out.write(renumber(block, EVENT, copy))
    return sum(path.stat().st_size for path in files.glob("cordata*.txt")) // RECORD, events


def measured(command, work):
    """Seconds, CPU-seconds and peak MiB of a command."""
    begun = time.perf_counter()
    with open(work / "printed", "w+") as printed:
        process = subprocess.Popen(command, stdout=printed, stderr=printed, cwd=work)
        _, status, used = os.wait4(process.pid, 0)
        secs = time.perf_counter() - begun
        printed.seek(0)
        if status:
            sys.exit(f"{command} ended with {status}: {printed.read()}")
    return secs, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def run(program, work, more):
    (work / "state.toml").write_text(f'name = "state"\n{IMPORT}{more}')
    return measured([program, "run", work / "state.toml", "--lake", work / "lake", "--today", TODAY, "--json"], work)


def files_below(folder):
    return {found.stat().st_ino: found.stat().st_size for found in folder.rglob("*") if found.is_file()}


def size_of(folder):
    return sum(files_below(folder.resolve()).values())


def row(*cells):
    print("| " + " | ".join(cell if isinstance(cell, str) else f"{cell:,.0f}" for cell in cells) + " |", flush=True)


def figures(name, records, events, measured, size):
    secs, cpu, peak = measured
    row(name, records, events, f"{secs:.1f}", records / secs, f"{cpu / records * 1e6:.1f}", peak, size / records)


def deliver(base, day, files):
    """Puts the files of a day, the first being 0, into a folder; the number of their lines."""
    path = sorted(base.glob("**/20??????c.txt"))[day]
    both = [path, next(base.glob(f"**/{path.stem}e.txt"))]
    for path in both:
        shutil.copy(path, files)
    return sum(path.read_bytes().count(b"\n") for path in both)


def bench(program, base, count, work):
    """Prints the rows of one size; returns those of its daily files."""
    records, events = make_set(base, count, work / "files")
    ours = run(program, work, ALONE)
    figures("sunlake", records, events, ours, size_of(work / "lake/current"))
    (work / "parquet").mkdir()
    (work / "by_duckdb.py").write_text(BY_DUCKDB)
    theirs = measured([sys.executable, work / "by_duckdb.py", work / "files", work / "parquet"], work)
    figures("DuckDB", records, events, theirs, size_of(work / "parquet"))
    seconds, cpu, peak = (ours / theirs for ours, theirs in zip(ours, theirs))
    row("ratio", "", "", f"{seconds:.2f}", f"{1 / seconds:.2f}", f"{cpu:.2f}", f"{peak:.2f}", "")
    for folder in ("parquet", "files"):
        shutil.rmtree(work / folder)
    (work / "files").mkdir()
    days = []
    for day, more in enumerate((ALONE, "")):
        before = files_below(work / "lake/snapshots")
        lines = deliver(base, day, work / "files")
        secs, cpu, peak = run(program, work, more)
        new = sum(size for inode, size in files_below(work / "lake/snapshots").items() if inode not in before)
        days.append((records, "with aggregates and report" if more == "" else "alone", lines, f"{secs:.1f}", f"{cpu:.1f}", peak, f"{new / 1e6:.1f}"))
    return days


def main():
    program, base = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    days = []
    print(PAGE)
    print("| | records | events | seconds | records a second | CPU-seconds a million records | peak, MiB | bytes a record |")
    print("| --- |" + " ---: |" * 7)
    for count in map(int, sys.argv[3:]):
        with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as folder:
            days += bench(program, base, count, pathlib.Path(folder))
    print("\n| records of the lake | a daily file | its lines | seconds | CPU-seconds | peak, MiB | MB written |\n| ---: | --- |" + " ---: |" * 5)
    for day in days:
        row(*day)


main()
