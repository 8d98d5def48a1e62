"""Read a lake of sunlake from Python, and run the program.

    import sunlake

    sunlake.run("daily")
    lake = sunlake.Lake("output")
    lake.polars("filings").filter(pl.col("county") == "Duval").collect()
    lake.duckdb().sql("SELECT county, count(*) FROM businesses GROUP BY county")

The files of a table come from the commit of a snapshot, not from a list of a folder. So a run that publishes changes nothing for a
reader: a snapshot that is open stays as it is until it is pruned.
"""

from .lake import Lake, LakeError, Snapshot
from .program import (
    AccountError,
    ApiError,
    BusyError,
    CheckError,
    Incomplete,
    ProgramError,
    SettingsError,
    StorageError,
    run,
)

__all__ = [
    "AccountError",
    "ApiError",
    "BusyError",
    "CheckError",
    "Incomplete",
    "Lake",
    "LakeError",
    "ProgramError",
    "SettingsError",
    "Snapshot",
    "StorageError",
    "run",
]
