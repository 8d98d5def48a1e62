//! What is wrong with SQL, in plain words, and the way out; names that are near a wrong one.

/// The name that is nearest to a wrong one, if any is near.
pub(crate) fn nearest<'n>(
    wrong: &str,
    names: impl IntoIterator<Item = &'n str>,
    least: f64,
) -> Option<&'n str> {
    let wrong = wrong.to_lowercase();
    let scored = names.into_iter().map(|name| (strsim::jaro_winkler(&wrong, &name.to_lowercase()), name));
    let (score, name) = scored.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (score > least).then_some(name)
}

/// How alike names of tables and columns are that are taken for one another.
const ALIKE: f64 = 0.8;

/// The names nearest to a wrong one of a table or column, or all there are.
pub(crate) fn right_names(wrong: &str, known: &[&str]) -> String {
    match nearest(wrong, known.iter().copied(), ALIKE) {
        Some(near) => format!("did you mean {near}?"),
        None if known.is_empty() => "there is none".to_owned(),
        None => format!("there are {}", known.join(", ")),
    }
}

/// A message of polars without what is no help.
pub(super) fn problem(said: &str) -> String {
    match unknown_column(said) {
        Some((column, _)) => format!("there is no column {column}"),
        None => first_sentence(said).trim_start_matches("sql parser error: ").to_owned(),
    }
}

/// The way out of a problem that polars reports.
pub(crate) fn way_out(said: &str) -> Option<String> {
    let (column, known) = unknown_column(said)?;
    if nearest(&column, known.iter().map(String::as_str), ALIKE).is_none() {
        return Some(format!(
            "a text is in single quotes: '{column}'; for a column, there are {}",
            known.join(", ")
        ));
    }
    Some(right_names(&column, &known.iter().map(String::as_str).collect::<Vec<_>>()))
}

/// The column that polars does not find, and those there are.
fn unknown_column(said: &str) -> Option<(String, Vec<String>)> {
    let (_, rest) = said.split_once("unable to find column \"")?;
    let (column, rest) = rest.split_once('"')?;
    let (_, known) = rest.split_once("valid columns: [")?;
    let known = known.split_once(']')?.0.split(", ").map(|name| name.trim_matches('"').to_owned());
    Some((column.to_owned(), known.filter(|name| !name.is_empty()).collect()))
}

/// The first line of a message; the rest is internal detail.
fn first_sentence(said: &str) -> &str {
    said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_column_is_a_name_misspelt_or_a_text_in_the_wrong_quotes() {
        let said = |column: &str| {
            format!(
                "not found: unable to find column \"{column}\"; valid columns: [\"county\", \"entity_type\"]"
            )
        };
        assert_eq!(problem(&said("kounty")), "there is no column kounty");
        assert_eq!(way_out(&said("kounty")).as_deref(), Some("did you mean county?"));
        assert_eq!(way_out(&said("COUNTY")).as_deref(), Some("did you mean county?"));
        let text = "a text is in single quotes: 'llc'; for a column, there are county, entity_type";
        assert_eq!(way_out(&said("llc")).as_deref(), Some(text));
        assert_eq!(problem("sql parser error: Expected: x\n\ninner"), "Expected: x");
        assert_eq!(way_out("unsupported function 'foo'"), None);
    }
}
