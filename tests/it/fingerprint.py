"""What a table holds, in figures that every engine can give: rows, and of each column the values, the least and the greatest."""

import datetime
import numbers

import pandas


def text_of(value):
    """A value as text, the same from every engine."""
    if value is None or value is pandas.NaT or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, (bool,)) or type(value).__name__ in ("bool_", "bool"):
        return str(bool(value)).lower()
    if isinstance(value, datetime.datetime):
        instant = pandas.Timestamp(value)
        instant = instant.tz_localize("UTC") if instant.tzinfo is None else instant.tz_convert("UTC")
        return str(instant.value // 1000)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, numbers.Number):
        return f"{float(value):.12g}"
    return str(value)


def day(value):
    """Days come as instants from some engines."""
    return value.date() if isinstance(value, datetime.datetime) else value


def of_frame(frame, days):
    """The figures of a pandas frame; `days` are the names of its columns of days."""
    columns = {}
    for name in frame.columns:
        values = frame[name].dropna()
        values = values.astype(object) if values.dtype.name == "category" else values
        least, most = (values.min(), values.max()) if len(values) else (None, None)
        if name in days:
            least, most = day(least), day(most)
        columns[name] = [len(values), text_of(least), text_of(most)]
    return {"rows": len(frame), "columns": columns}
