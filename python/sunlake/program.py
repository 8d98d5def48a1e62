"""Runs a pipeline with the program of this package, and raises by its exit code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
from typing import Any


class ProgramError(Exception):
    """The program ended with another exit code than 0. ``code`` has it, ``summary`` what was printed before, if anything."""

    def __init__(self, code: int, message: str, summary: dict[str, Any] | None) -> None:
        super().__init__(message or f"sunlake ended with exit code {code}")
        self.code = code
        self.summary = summary


class SettingsError(ProgramError):
    """Exit codes 2 and 3: the command line, the pipeline or a setting is wrong."""


class AccountError(ProgramError):
    """Exit code 4: the API refused the key."""


class Incomplete(ProgramError):
    """Exit code 5: the run stopped in good order and is not complete. Run it again."""


class ApiError(ProgramError):
    """Exit code 6: the API is unavailable. Run it again later."""


class CheckError(ProgramError):
    """Exit code 7: a check failed; nothing was published, or the snapshot waits for a person."""


class BusyError(ProgramError):
    """Exit code 8: another run uses the lake. Run it again later."""


class StorageError(ProgramError):
    """Exit code 9: the disk or the object store failed, or a file is damaged."""


_BY_CODE: dict[int, type[ProgramError]] = {
    2: SettingsError,
    3: SettingsError,
    4: AccountError,
    5: Incomplete,
    6: ApiError,
    7: CheckError,
    8: BusyError,
    9: StorageError,
}


def run(pipeline: str | os.PathLike[str], *arguments: str, lake: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Runs a pipeline and returns its summary, as ``sunlake run --json`` prints it.

    ``pipeline`` is a name such as ``daily``, or a file. ``arguments`` are those of the command line. The program reads the same
    variables as always, and its progress goes to the standard error of this process. Raises a ProgramError by the exit code, with
    what was wrong and the way out.
    """
    command = [_program(), "run", os.fspath(pipeline), "--json", *arguments]
    if lake is not None:
        command += ["--lake", os.fspath(lake)]
    code, printed, problem = _execute(command)
    try:
        summary = json.loads(printed)
    except json.JSONDecodeError:
        summary = None
    if code == 0 and isinstance(summary, dict):
        return summary
    stopped = str(summary.get("stopped") or "") if isinstance(summary, dict) else ""
    raise _BY_CODE.get(code, ProgramError)(code, problem or stopped, summary)


def _execute(command: list[str]) -> tuple[int, str, str]:
    """Exit code, standard output, and the error and its hint. A terminal shows these itself, and gets the progress bar."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=None if is_terminal else subprocess.PIPE, text=True)
    problem: list[str] = []

    def forward() -> None:
        # In a notebook the standard error of Python is no file that a program can write to.
        for line in process.stderr or ():
            if sys.stderr is not None:
                sys.stderr.write(line)
            if line.startswith(("error: ", "hint: ")):
                problem.append(line.removeprefix("error: ").rstrip())

    reader = threading.Thread(target=forward, daemon=True)
    reader.start()
    try:
        printed = process.stdout.read() if process.stdout else ""
        reader.join()
        return process.wait(), printed, "\n".join(problem)
    except BaseException:
        # An interrupted cell of a notebook: the run ends in good order.
        process.terminate()
        process.wait()
        raise


def _program() -> str:
    """The program that came with this package, or the first on the path."""
    found = shutil.which("sunlake", path=sysconfig.get_path("scripts")) or shutil.which("sunlake")
    if found is None:
        raise FileNotFoundError("the program sunlake is neither in this environment nor on the path")
    return found
