//! Reads the SQL files of a folder.

use super::error::AggregateError;
use std::path::Path;

/// Prefix of every aggregate's table name.
pub(crate) const TABLE_PREFIX: &str = "agg_";

/// The aggregates of a folder: name and SQL of each `*.sql` file, by name. Other files are ignored.
pub(crate) fn load_aggregates(dir: &Path) -> Result<Vec<(String, String)>, AggregateError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| AggregateError::Unreadable { path, source }
    };
    let mut aggregates = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(unreadable(dir))? {
        let path = entry.map_err(unreadable(dir))?.path();
        if path.extension().is_none_or(|extension| extension != "sql") {
            continue;
        }
        let name = aggregate_name(&path)?;
        let sql = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
        aggregates.push((name, sql));
    }
    aggregates.sort();
    Ok(aggregates)
}

/// The comment at the head of an aggregate's SQL without its `--`: a question, then its columns.
pub(crate) fn head_comment(sql: &str) -> String {
    let lines = sql.lines().map_while(|line| line.strip_prefix("--"));
    let plain = lines.map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
    plain.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn aggregate_name(path: &Path) -> Result<String, AggregateError> {
    let is_name = |name: &&str| {
        !name.is_empty() && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
    };
    let name = path.file_stem().and_then(|stem| stem.to_str()).filter(is_name);
    name.map(str::to_owned).ok_or_else(|| AggregateError::BadName { path: path.to_owned() })
}
