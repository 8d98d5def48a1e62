#!/usr/bin/env python3
"""Lists words that have a plainer one, in every text a person reads. Exit 1 when there are any.

Read: Markdown, TOML, SQL, shell, Python, YAML, CSS and unit files as they are; of Rust files the comments, the string
literals and the names of tests. `.ci/words.txt` has one pattern a line, a tab, and the words to write instead.

    .ci/words.py [--count] [PATH …]    # PATHs: files or folders, default all files git knows
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = {".md", ".toml", ".sql", ".sh", ".py", ".yml", ".yaml", ".css", ".service", ".timer", ".html", ""}
# In order: line comment, block comment, raw string, string, character, name of a function.
RUST = re.compile(
    r"""//[^\n]*|/\*.*?\*/|r(?P<h>#*)".*?"(?P=h)|"(?:\\.|[^"\\])*"|'(?:\\[^']*|[^'\\])'|\bfn\s+\w+""", re.S
)


def patterns():
    lines = (ROOT / ".ci/words.txt").read_text().splitlines()
    pairs = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [(re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.I), instead) for pattern, instead in pairs]


def readable(path, text):
    """The text that a person reads, as pairs of its first line's number and itself."""
    if path.suffix != ".rs":
        yield from enumerate(text.splitlines(), 1)
        return
    for match in RUST.finditer(text):
        piece = match.group()
        if piece.startswith("fn"):
            piece = piece.replace("_", " ")
        first = text.count("\n", 0, match.start()) + 1
        yield from enumerate(piece.splitlines(), first)


def files(paths):
    listed = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard", *paths], cwd=ROOT, text=True)
    for name in listed.splitlines():
        path = ROOT / name
        if path.suffix in {".rs", *TEXT} and path.name not in {"words.txt", "LICENSE"} and path.is_file():
            yield name, path


def main():
    arguments = sys.argv[1:]
    only_count = "--count" in arguments
    words = patterns()
    hits = 0
    for name, path in files([a for a in arguments if a != "--count"]):
        for line, text in readable(path, path.read_text(errors="replace")):
            for pattern, instead in words:
                for match in pattern.finditer(text):
                    hits += 1
                    if not only_count:
                        print(f"{name}:{line}: {match.group()!r}: write {instead}: {text.strip()[:120]}")
    print(f"{hits} words to replace")
    sys.exit(1 if hits else 0)


if __name__ == "__main__":
    main()
