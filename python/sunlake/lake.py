"""A lake and its snapshots: which files a table has, and these files in DuckDB, polars and pandas."""

from __future__ import annotations

import importlib
import json
import os
import re
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars

#: The column of a table's path, which the files do not have.
MONTH = "filed_month"


class LakeError(Exception):
    """There is no lake, no such snapshot or no such table."""


class Lake:
    """A lake in a folder, or in an object store: ``s3://``, ``gs://`` or ``az://`` with bucket and name.

    A folder needs no package. An object store needs ``obstore``, and the variables of its cloud, as the program does.
    The methods that read tables are those of the newest snapshot.
    """

    def __init__(self, root: str | os.PathLike[str] = "output") -> None:
        text = os.fspath(root)
        self._place: _Place = _Store(text) if "://" in text else _Folder(Path(text))
        if not self.snapshots:
            raise LakeError(f"{self.root} is no lake of sunlake: give the folder that `sunlake run` wrote, or run it first")

    @property
    def root(self) -> str:
        """Path or address of the lake."""
        return self._place.root

    @property
    def snapshots(self) -> list[int]:
        """Numbers of the snapshots that can be read, oldest first; looked up again each time."""
        return sorted(self._place.numbers("commits") - self._place.numbers("pruned"))

    def snapshot(self, number: int | None = None) -> Snapshot:
        """A snapshot; the newest one without a number.

        Raises LakeError if there is no such snapshot, or if it was pruned.
        """
        known = self.snapshots
        chosen = known[-1] if number is None else number
        if chosen not in known:
            raise LakeError(f"{self.root} has no snapshot {chosen!r}; it has {', '.join(map(str, known))}")
        return Snapshot(self._place, chosen)

    def files(self, table: str) -> list[str]:
        """Paths or addresses of the Parquet files of a table in the newest snapshot."""
        return self.snapshot().files(table)

    def duckdb(self) -> duckdb.DuckDBPyConnection:
        """A connection with a view for each table of the newest snapshot; see :meth:`Snapshot.duckdb`."""
        return self.snapshot().duckdb()

    def polars(self, table: str) -> polars.LazyFrame:
        """A table of the newest snapshot, not read yet."""
        return self.snapshot().polars(table)

    def pandas(self, table: str, columns: list[str] | None = None) -> pandas.DataFrame:
        """A table of the newest snapshot, or some of its columns."""
        return self.snapshot().pandas(table, columns)

    def __repr__(self) -> str:
        return f"Lake({self.root!r})"


class Snapshot:
    """One snapshot of a lake. What it has never changes."""

    def __init__(self, place: _Place, number: int) -> None:
        self._place = place
        self.number = number

    @cached_property
    def commit(self) -> dict[str, Any]:
        """The commit, as the program wrote it: see *Formats* in the documentation."""
        found: dict[str, Any] = json.loads(self._place.text(f"commits/{self.number:06}.json"))
        return found

    @property
    def tables(self) -> list[str]:
        """Names of the tables, in the order of the alphabet."""
        return sorted(self.commit["tables"])

    @property
    def today(self) -> date:
        """Eastern day of the run that made it."""
        return date.fromisoformat(self.commit["today"])

    @property
    def committed_at(self) -> datetime:
        """When it was made, in UTC."""
        # Before Python 3.11 only three or six digits of a second are read.
        seconds, _, digits = self.commit["committed_at"].rstrip("Z").partition(".")
        return datetime.fromisoformat(f"{seconds}.{digits[:6]:0<6}+00:00")

    def rows(self, table: str) -> int:
        """Number of rows of a table. Raises LakeError if there is no such table."""
        return int(self._table(table)["rows"])

    def files(self, table: str) -> list[str]:
        """Paths or addresses of the Parquet files of a table. Raises LakeError if there is no such table."""
        return [self._place.path(self.number, file) for file in self._table(table)["files"]]

    def duckdb(self) -> duckdb.DuckDBPyConnection:
        """A new connection in memory with a view for each table, and the views ``businesses`` and ``changes_detail``.

        Over S3 it loads DuckDB's extension ``httpfs`` and makes a secret from the variables that begin with ``AWS_``.
        """
        connection: duckdb.DuckDBPyConnection = _package("duckdb").connect()
        self._place.prepare(connection)
        for table in self.tables:
            if files := self.files(table):
                paths = ", ".join(_quoted(_pattern(file)) for file in files)
                has_month = f"{MONTH}=" in files[0]
                hive = f"hive_partitioning = true, hive_types = {{'{MONTH}': VARCHAR}}"
                options = hive if has_month else "hive_partitioning = false"
                connection.execute(f'CREATE VIEW "{table}" AS SELECT * FROM read_parquet([{paths}], {options})')
        for view in _views(self._place.text("catalog/views.sql")):
            connection.execute(view)
        return connection

    def polars(self, table: str) -> polars.LazyFrame:
        """A table, not read yet. Raises LakeError if there is no such table."""
        files, pl = self.files(table), _package("polars")
        frame: polars.LazyFrame
        if not files:
            frame = pl.LazyFrame()
        elif f"{MONTH}=" in files[0]:
            frame = pl.scan_parquet(files, glob=False, hive_partitioning=True, hive_schema={MONTH: pl.String})
        else:
            frame = pl.scan_parquet(files, glob=False, hive_partitioning=False)
        return frame

    def pandas(self, table: str, columns: list[str] | None = None) -> pandas.DataFrame:
        """A table, or some of its columns, by way of DuckDB. Raises LakeError if there is no such table."""
        self._table(table)
        _package("pandas")
        chosen = ", ".join(f'"{column}"' for column in columns) if columns else "*"
        rows: pandas.DataFrame = self.duckdb().sql(f'SELECT {chosen} FROM "{table}"').df()
        return rows

    def _table(self, table: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = self.commit["tables"][table]
        except KeyError:
            raise LakeError(f"snapshot {self.number} has no table {table}; it has {', '.join(self.tables)}") from None
        return found

    def __repr__(self) -> str:
        return f"Snapshot({self._place.root!r}, {self.number})"


class _Place(Protocol):
    """Where a lake is."""

    root: str

    def numbers(self, folder: str) -> set[int]:
        """Numbers of the files ``000001.json`` of a folder."""

    def text(self, path: str) -> str: ...

    def path(self, snapshot: int, file: dict[str, Any]) -> str: ...

    def prepare(self, connection: duckdb.DuckDBPyConnection) -> None: ...


class _Folder:
    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self.root = str(self._root)

    def numbers(self, folder: str) -> set[int]:
        return _numbers(path.name for path in (self._root / folder).glob("*.json"))

    def text(self, path: str) -> str:
        return (self._root / path).read_text(encoding="utf-8")

    def path(self, snapshot: int, file: dict[str, Any]) -> str:
        return str(self._root / f"snapshots/{snapshot:06}" / file["path"])

    def prepare(self, connection: duckdb.DuckDBPyConnection) -> None:
        pass


class _Store:
    def __init__(self, address: str) -> None:
        self._obstore = _package("obstore")
        self.root = address.rstrip("/")
        self._store = self._obstore.store.from_url(self.root)

    def numbers(self, folder: str) -> set[int]:
        found = self._obstore.list_with_delimiter(self._store, folder)
        return _numbers(item["path"] for item in found["objects"])

    def text(self, path: str) -> str:
        return bytes(self._obstore.get(self._store, path).bytes()).decode()

    def path(self, snapshot: int, file: dict[str, Any]) -> str:
        return f"{self.root}/snapshots/{file.get('lies_in') or snapshot:06}/{file['path']}"

    def prepare(self, connection: duckdb.DuckDBPyConnection) -> None:
        if not self.root.startswith("s3://"):
            return
        connection.execute("LOAD httpfs")
        of = os.environ.get
        options = {
            "KEY_ID": of("AWS_ACCESS_KEY_ID"),
            "SECRET": of("AWS_SECRET_ACCESS_KEY"),
            "SESSION_TOKEN": of("AWS_SESSION_TOKEN"),
            "REGION": of("AWS_REGION") or of("AWS_DEFAULT_REGION"),
        }
        if endpoint := of("AWS_ENDPOINT") or of("AWS_ENDPOINT_URL"):
            scheme, _, host = endpoint.rpartition("://")
            options |= {"ENDPOINT": host, "URL_STYLE": "path", "USE_SSL": str(scheme != "http").lower()}
        given = "".join(f", {name} {_quoted(value)}" for name, value in options.items() if value)
        connection.execute(f"CREATE SECRET (TYPE s3{given})")


def _package(name: str) -> Any:
    """A package that not every reader needs."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
        raise ModuleNotFoundError(f"this needs {name}: run `pip install {name}`", name=name) from None


def _numbers(names: Any) -> set[int]:
    matches = (re.search(r"(?:^|/)(\d{6,})\.json$", name) for name in names)
    return {int(match[1]) for match in matches if match}


def _views(sql: str) -> list[str]:
    """The views that build on tables, from ``catalog/views.sql``."""
    pattern = r"^CREATE OR REPLACE VIEW (?:businesses|changes_detail) AS\n.*?;$"
    return re.findall(pattern, sql, re.MULTILINE | re.DOTALL)


def _pattern(path: str) -> str:
    """The pattern that finds a path and no other: DuckDB takes each path for a pattern."""
    return re.sub(r"([*?[])", r"[\1]", path)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
