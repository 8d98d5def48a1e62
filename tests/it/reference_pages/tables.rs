//! Tables and aggregates, from the column dictionary and the heads of the SQL files.

use super::page::{check, code, files_of, head, project, prose, table};
use sunlake::table::{Column, ColumnKind, Table, columns};

fn column_row(column: &Column) -> Vec<String> {
    let kind = match column.kind {
        ColumnKind::Int32 => "int32",
        ColumnKind::Int64 => "int64",
        ColumnKind::Text => "text",
        ColumnKind::Boolean => "boolean",
        ColumnKind::Double => "double",
        ColumnKind::Date => "date",
        ColumnKind::Timestamp => "timestamp",
    };
    let null = if column.nullable { ", null" } else { "" };
    vec![code(column.name), format!("{kind}{null}"), prose(column.meaning)]
}

#[test]
fn tables_page_is_the_column_dictionary() {
    let mut text = head(
        "Tables",
        "Read a table with `FROM 'output/current/TABLE/**/*.parquet'`. `null` marks columns that can be null. \
         Timestamps are UTC with microseconds; they are real time, not `--today`. \
         `filings` is partitioned by `filed_month` (`YYYY-MM`, text, only in the path). \
         `details` and `officers` are filled by [enrich pipelines](../guides/enrich.md).",
    );
    for table_ in Table::ALL {
        let key: Vec<String> = table_.key().iter().map(|name| code(name)).collect();
        let rows: Vec<Vec<String>> = columns(table_).iter().map(column_row).collect();
        text.push_str(&format!(
            "## {}\n\n{}. Key: {}.\n\n",
            table_.name(),
            prose(table_.meaning()),
            key.join(", ")
        ));
        text.push_str(&table(&["column", "type", "meaning"], &rows));
    }
    check("tables.md", &format!("{}\n", text.trim_end()));
}

/// The head of an aggregate's SQL file.
#[derive(Default)]
pub(super) struct AggregateHead {
    pub(super) question: String,
    about: String,
    /// Columns with their meanings.
    pub(super) columns: Vec<(String, String)>,
    check: String,
}

impl AggregateHead {
    pub(super) fn of(sql: &str) -> Self {
        let lines: Vec<&str> = sql.lines().map_while(|line| line.strip_prefix("--")).collect();
        let question = lines.first().expect("a head").trim().to_owned();
        let mut head = Self { question, ..Self::default() };
        for line in &lines[1..] {
            let words = line.trim();
            let indent = line.len() - line.trim_start().len();
            match words.split_once(char::is_whitespace) {
                Some((column, meaning)) if indent == 3 => {
                    head.columns.push((column.to_owned(), meaning.trim().to_owned()));
                }
                _ if indent > 3 => {
                    let (_, meaning) = head.columns.last_mut().expect("a column before its second line");
                    meaning.push_str(&format!(" {words}"));
                }
                _ => match words.strip_prefix("Adds up: ") {
                    Some(equation) => head.check = equation.to_owned(),
                    None => head.about.push_str(&format!(" {words}")),
                },
            }
        }
        head
    }

    fn page(&self, name: &str) -> String {
        let row = |(column, meaning): &(String, String)| vec![code(column), prose(meaning)];
        let columns = table(&["column", "meaning"], &self.columns.iter().map(row).collect::<Vec<_>>());
        let check = match self.check.split_once(" equals ") {
            Some((left, right)) => {
                format!("Checked before publishing: {} equals {}.\n\n", code(left), code(right))
            }
            None => String::new(),
        };
        let (question, about) = (&self.question, prose(self.about.trim()));
        format!("## agg_{name}\n\n**{question}** {about}.\n\n{columns}{check}")
    }
}

#[test]
fn aggregates_page_is_the_heads_of_the_sql_files() {
    let mut text = head(
        "Aggregates",
        "Each `pipelines/aggregates/NAME.sql` becomes the table `agg_NAME`: one file, written by every run from the tables of that run. \
         A file you add may read every [table](tables.md) and every other aggregate, in [the SQL of `query`](../guides/query.md#the-sql); \
         its columns are BIGINT, DOUBLE, STRING, BOOLEAN or DATE. \
         The shipped files give the same cells on DuckDB and on Spark.",
    );
    for file in files_of(&project().join("pipelines/aggregates"), "sql") {
        let name = file.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let sql = std::fs::read_to_string(&file).expect("SQL");
        text.push_str(&AggregateHead::of(&sql).page(name));
    }
    check("aggregates.md", &format!("{}\n", text.trim_end()));
}
