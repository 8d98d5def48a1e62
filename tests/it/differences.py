"""Compares another engine's result with the lake, cell by cell: the least tolerance that sums in another order need."""

import math


def same(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return type(one) is type(other) and one == other


def compare(ran, kept):
    """Two results of DuckDB; the rows must stand in the same order."""
    rows, lie = ran.fetchall(), kept.fetchall()
    differences = [
        f"row {number}, {column}: {one!r}, the lake has {other!r}"
        for number, (row, other_row) in enumerate(zip(rows, lie))
        for column, one, other in zip(ran.columns, row, other_row)
        if not same(one, other)
    ]
    return {
        "columns": [ran.columns, kept.columns],
        "rows": [len(rows), len(lie)],
        "differences": len(differences),
        "first": differences[:5],
    }
