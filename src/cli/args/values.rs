//! Parsers of values.

use crate::contract::plan::Plan;
use crate::serve::LimitOverride;
use jiff::civil::Date;

/// The number of `-v` flags: a number, or a word for on or off as other flags take it.
pub(super) fn verbosity(text: &str) -> Result<u8, String> {
    match text.to_ascii_lowercase().as_str() {
        "" | "0" | "false" | "no" | "off" => Ok(0),
        "true" | "yes" | "on" => Ok(1),
        number => number.parse().map_err(|_| "give 0, 1 or 2".to_owned()),
    }
}

pub(super) fn day(text: &str) -> Result<Date, String> {
    text.parse().map_err(|_| "a day is YYYY-MM-DD, such as 2026-11-20".to_owned())
}

pub(super) fn plan(text: &str) -> Result<Plan, String> {
    match text {
        "starter" => Ok(Plan::Starter),
        "agency" => Ok(Plan::Agency),
        "enterprise" => Ok(Plan::Enterprise),
        other => Err(format!("{other} is none of starter, agency, enterprise")),
    }
}

pub(super) fn limits(text: &str) -> Result<LimitOverride, String> {
    text.parse()
}

pub(super) fn connections(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "give a whole number from 1".to_owned())
}

pub(super) fn web_address(text: &str) -> Result<String, String> {
    let name = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    match name.map(|name| name.split('/').next().unwrap_or_default()) {
        Some(host)
            if !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || "@?#".contains(c)) =>
        {
            Ok(text.trim_end_matches('/').to_owned())
        }
        _ => Err("an address begins with https:// or http:// and a name".to_owned()),
    }
}
/// A name without the spaces that may follow a comma.
pub(super) fn table_name(text: &str) -> Result<String, std::convert::Infallible> {
    Ok(text.trim().to_owned())
}
