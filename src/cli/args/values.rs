//! Parsers of values. An error of a value that came from a variable names the variable, not the flag.

use crate::contract::county::FLORIDA_COUNTIES;
use crate::contract::hint::{NEAR, nearest};
use crate::contract::plan::Plan;
use crate::contract::reference::EntityType;
use clap::builder::{PathBufValueParser, PossibleValue, Resettable, TypedValueParser};
use clap::error::{ContextKind, ContextValue, Error};
use clap::parser::ValueSource;
use clap::{Arg, Command};
use jiff::civil::Date;
use std::ffi::OsStr;

/// A parser of values that may come from a variable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<P>(P);

/// A parser that reads as `parser` does.
pub(super) fn named<P: TypedValueParser>(parser: P) -> Named<P> {
    Named(parser)
}

/// A parser of paths.
pub(super) fn named_path() -> Named<PathBufValueParser> {
    named(PathBufValueParser::new())
}

impl<P: TypedValueParser> TypedValueParser for Named<P> {
    type Value = P::Value;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Self::Value, Error> {
        self.0.parse_ref(command, arg, value)
    }

    fn parse_ref_(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
        source: ValueSource,
    ) -> Result<Self::Value, Error> {
        let variable = arg.filter(|_| source == ValueSource::EnvVariable).and_then(Arg::get_env);
        self.0.parse_ref_(command, arg, value, source).map_err(|mut error| {
            if let Some(variable) = variable {
                let name = variable.to_string_lossy().into_owned();
                error.insert(ContextKind::InvalidArg, ContextValue::String(name));
            }
            error
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// The command line without the variables that are set to nothing, which count as unset.
pub fn without_empty_variables(command: Command, is_empty: &dyn Fn(&OsStr) -> bool) -> Command {
    let command = command
        .mut_args(|arg| if arg.get_env().is_some_and(is_empty) { arg.env(Resettable::Reset) } else { arg });
    command.mut_subcommands(|command| without_empty_variables(command, is_empty))
}

/// A snapshot as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotName {
    /// The newest.
    Latest,
    /// The one with this number.
    Number(u64),
}

/// A number of a snapshot, or `latest`.
pub(super) fn snapshot_name(text: &str) -> Result<SnapshotName, String> {
    match text {
        "latest" => Ok(SnapshotName::Latest),
        number => number
            .parse()
            .map(SnapshotName::Number)
            .map_err(|_| "a snapshot is a number or `latest`: `sunlake snapshot list`".to_owned()),
    }
}

/// An address to listen on. A port alone is one of this machine.
pub(super) fn listen_address(text: &str) -> Result<String, String> {
    let is_port = text.parse::<u16>().is_ok();
    match text.rsplit_once(':') {
        None if is_port => Ok(format!("127.0.0.1:{text}")),
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(text.to_owned()),
        _ => Err("give a host and a port, such as 127.0.0.1:8080, or a port".to_owned()),
    }
}

/// A flag that is on or off.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err("give 1, true, yes or on, or 0, false, no or off".to_owned()),
    }
}

/// The number of `-v` flags: a number, or a word for on or off.
pub(super) fn verbosity(text: &str) -> Result<u8, String> {
    let number = text.parse().or_else(|_| switch(text).map(u8::from));
    number.map_err(|_| "give 0, 1 or 2".to_owned())
}

pub(super) fn day(text: &str) -> Result<Date, String> {
    text.parse().map_err(|_| "a day is YYYY-MM-DD, such as 2026-11-20".to_owned())
}

/// A day, or the number of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// From this day on.
    Day(Date),
    /// After this snapshot.
    Snapshot(u64),
}

pub(super) fn since(text: &str) -> Result<Since, String> {
    let number = text.parse().map(Since::Snapshot).ok();
    let day = || text.parse().map(Since::Day).ok();
    number.or_else(day).ok_or_else(|| "give a day, YYYY-MM-DD, or the number of a snapshot".to_owned())
}

/// When a key expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// On this Eastern day.
    On(Date),
    /// This number of days from today.
    InDays(u32),
}

pub(super) fn expiry(text: &str) -> Result<Expiry, String> {
    let days = text.strip_suffix('d').and_then(|days| days.parse().ok()).filter(|days| *days > 0);
    let day = || text.parse().map(Expiry::On).ok();
    let wrong = || "give a day, YYYY-MM-DD, or a number of days from 1, such as 90d".to_owned();
    days.map(Expiry::InDays).or_else(day).ok_or_else(wrong)
}

/// The county of a name or key, with or without its signs: `St. Johns`, `st johns`, `MIAMI-DADE`.
pub(super) fn county(text: &str) -> Result<&'static str, String> {
    let letters = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
    };
    let named = FLORIDA_COUNTIES.into_iter().find(|county| letters(county) == letters(text));
    named.ok_or_else(|| match nearest(text, FLORIDA_COUNTIES, NEAR) {
        Some(near) => format!("Florida has no such county; did you mean {near:?}?"),
        None => "Florida has no such county".to_owned(),
    })
}

pub(super) fn entity_type(text: &str) -> Result<EntityType, String> {
    let keys = EntityType::ALL.map(EntityType::key);
    EntityType::from_key(&text.to_lowercase()).ok_or_else(|| match nearest(text, keys, NEAR) {
        Some(near) => format!("there is no such type; did you mean {near}?"),
        None => format!("a type is one of {}", keys.join(", ")),
    })
}

pub(super) fn plan(text: &str) -> Result<Plan, String> {
    match text {
        "starter" => Ok(Plan::Starter),
        "agency" => Ok(Plan::Agency),
        "enterprise" => Ok(Plan::Enterprise),
        _ => Err("give one of starter, agency, enterprise".to_owned()),
    }
}

pub(super) fn whole_number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "give a whole number, such as 7".to_owned())
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

/// The origin of web pages: `*`, or an address without a path.
pub(super) fn origin(text: &str) -> Result<String, String> {
    let is_origin =
        || web_address(text).is_ok_and(|address| address == text && text.matches('/').count() == 2);
    (text == "*" || is_origin())
        .then(|| text.to_owned())
        .ok_or_else(|| "an origin is like https://app.example.org, without a path".to_owned())
}

/// A name without the spaces that may follow a comma.
pub(super) fn table_name(text: &str) -> Result<String, std::convert::Infallible> {
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_no_path() {
        for right in ["*", "https://app.example.org", "http://localhost:5173"] {
            assert_eq!(origin(right).as_deref(), Ok(right));
        }
        for wrong in ["", "app.example.org", "https://app.example.org/", "https://app.example.org/x", "null"]
        {
            assert!(origin(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_key_expires_on_a_day_or_after_days() {
        let day = jiff::civil::date(2027, 2, 1);
        for (text, expected) in [
            ("2027-02-01", Some(Expiry::On(day))),
            ("90d", Some(Expiry::InDays(90))),
            ("0d", None),
            ("-1d", None),
            ("90", None),
            ("2027-02-30", None),
            ("", None),
        ] {
            assert_eq!(expiry(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn a_county_is_known_by_its_letters_and_a_misspelt_one_has_a_nearest() {
        for (typed, name) in [("Miami-Dade", "Miami-Dade"), ("st johns", "St. Johns"), ("DE SOTO", "DeSoto")]
        {
            assert_eq!(county(typed), Ok(name));
        }
        assert!(county("Miami").expect_err("no county").ends_with("did you mean \"Miami-Dade\"?"));
        assert_eq!(county("").expect_err("no county"), "Florida has no such county");
        assert_eq!(entity_type("LLC"), Ok(EntityType::Llc));
        assert!(entity_type("lcc").expect_err("no type").ends_with("did you mean llc?"));
    }

    fn refusal(source: ValueSource) -> String {
        let arg = Arg::new("day").long("day").env("SUNLAKE_NO_SUCH_DAY");
        let mut command = Command::new("sunlake").arg(arg);
        command.build();
        let arg = command.get_arguments().find(|arg| arg.get_id() == "day");
        let refuse = |_: &str| Err::<u8, String>("it is no day".to_owned());
        let read = named(refuse).parse_ref_(&command, arg, OsStr::new("x"), source);
        read.expect_err("no day").to_string()
    }

    #[test]
    fn an_error_names_the_flag_or_the_variable_of_the_value() {
        let (typed, found) = (refusal(ValueSource::CommandLine), refusal(ValueSource::EnvVariable));
        assert!(typed.contains("--day") && typed.contains("it is no day"), "{typed}");
        assert!(found.contains("'SUNLAKE_NO_SUCH_DAY': it is no day"), "{found}");
        assert!(!found.contains("--day"), "{found}");
    }
}
