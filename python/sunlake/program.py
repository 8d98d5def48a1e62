"""Runs a pipeline with the program of this package, and raises by its exit code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
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
    variables as always, and writes its progress to the standard error of this process. Raises a ProgramError by the exit code.
    """
    command = [_program(), "run", os.fspath(pipeline), "--json", *arguments]
    if lake is not None:
        command += ["--lake", os.fspath(lake)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    try:
        summary = json.loads(done.stdout)
    except json.JSONDecodeError:
        summary = None
    if done.returncode == 0 and isinstance(summary, dict):
        return summary
    message = str(summary.get("stopped") or "") if isinstance(summary, dict) else ""
    raise _BY_CODE.get(done.returncode, ProgramError)(done.returncode, message, summary)


def _program() -> str:
    """The program that came with this package, or the first on the path."""
    found = shutil.which("sunlake", path=sysconfig.get_path("scripts")) or shutil.which("sunlake")
    if found is None:
        raise FileNotFoundError("the program sunlake is neither in this environment nor on the path")
    return found
