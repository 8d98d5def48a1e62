//! The order of aggregates that build on one another (pure).

use super::dialect::tables_named;
use super::error::AggregateError;
use super::run::TABLE_PREFIX;
use std::collections::BTreeSet;

/// An aggregate: its name and its SQL.
type Aggregate = (String, String);

/// Each aggregate after those that its SQL names, else in the order given.
///
/// # Errors
///
/// [`AggregateError::Circle`] where aggregates build on each other.
pub fn in_order(aggregates: &[(String, String)]) -> Result<Vec<&(String, String)>, AggregateError> {
    let mut left: Vec<(&Aggregate, BTreeSet<String>)> =
        aggregates.iter().map(|aggregate| (aggregate, reads(aggregate, aggregates))).collect();
    let mut ordered: Vec<&Aggregate> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let next = left.iter().position(|(_, reads)| reads.is_empty());
        let Some(next) = next else {
            let names: Vec<&str> = left.iter().map(|((name, _), _)| name.as_str()).collect();
            return Err(AggregateError::Circle { aggregates: names.join(", ") });
        };
        let (aggregate, _) = left.remove(next);
        left.iter_mut().for_each(|(_, reads)| reads.retain(|name| *name != aggregate.0));
        ordered.push(aggregate);
    }
    Ok(ordered)
}

/// The names of the aggregates that one builds on. SQL that cannot be parsed builds on none; running it says why.
fn reads((_, sql): &Aggregate, aggregates: &[Aggregate]) -> BTreeSet<String> {
    let tables = tables_named(sql).unwrap_or_default();
    let names = tables.iter().filter_map(|table| table.strip_prefix(TABLE_PREFIX));
    let known = names.filter(|name| aggregates.iter().any(|(known, _)| known == name));
    known.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aggregates(all: &[(&str, &str)]) -> Vec<Aggregate> {
        all.iter().map(|(name, sql)| ((*name).to_owned(), (*sql).to_owned())).collect()
    }

    #[test]
    fn an_aggregate_comes_after_those_it_builds_on() {
        let all = aggregates(&[
            ("a", "SELECT * FROM agg_c"),
            ("b", "SELECT * FROM filings"),
            ("c", "SELECT * FROM agg_b JOIN agg_elsewhere"),
            ("d", "SELEC"),
        ]);
        let names: Vec<&str> =
            in_order(&all).expect("an order").into_iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["b", "c", "a", "d"]);
    }

    #[test]
    fn aggregates_that_build_on_each_other_are_named() {
        let all = aggregates(&[
            ("a", "SELECT 1 FROM agg_b"),
            ("b", "SELECT 1 FROM agg_a"),
            ("c", "SELECT 1 FROM filings"),
        ]);
        let error = in_order(&all).expect_err("a circle").to_string();
        assert!(error.contains("a, b"), "{error}");
    }
}
