//! An error of a value that came from a variable names the variable, not the flag.

use clap::builder::{PathBufValueParser, PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, Error};
use clap::parser::ValueSource;
use clap::{Arg, Command};
use std::ffi::OsStr;

/// A parser of values that may come from a variable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<P>(P);

/// A parser that reads as `parser` does.
pub(crate) fn named<P: TypedValueParser>(parser: P) -> Named<P> {
    Named(parser)
}

/// A parser of paths.
pub(crate) fn named_path() -> Named<PathBufValueParser> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
