//! What the terminal of a command allows, by its flags and the variables that all programs share.

use crate::cli::args::{Common, LogFormat};

/// How stderr is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terminal {
    /// Whether colours are used.
    pub(crate) has_colour: bool,
    /// How progress is shown.
    pub(crate) progress: ProgressForm,
}

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgressForm {
    /// A bar, and a line for each finished part.
    Bar,
    /// On a terminal that cannot redraw a line: a line for each finished part.
    Plain,
    /// A log line a minute.
    Lines,
    /// Not at all.
    Hidden,
}

impl Terminal {
    /// `is_terminal`: whether stderr is one. `variable` reads a variable; an empty one counts as unset.
    pub(crate) fn of(common: &Common, is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_dumb = variable("TERM").is_none_or(|term| term == "dumb");
        let is_forced = variable("CLICOLOR_FORCE").is_some_and(|forced| forced != "0");
        let has_colour = variable("NO_COLOR").is_none() && (is_forced || is_terminal && !is_dumb);
        let progress = match common.log_format {
            _ if common.quiet || common.no_progress => ProgressForm::Hidden,
            LogFormat::Json => ProgressForm::Lines,
            LogFormat::Text if !is_terminal => ProgressForm::Lines,
            LogFormat::Text if is_dumb => ProgressForm::Plain,
            LogFormat::Text => ProgressForm::Bar,
        };
        Self { has_colour, progress }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Cli;
    use clap::Parser;

    fn terminal(flags: &[&str], is_terminal: bool, set: &'static [(&'static str, &'static str)]) -> Terminal {
        let cli = Cli::parse_from(["sunlake"].iter().chain(flags).chain(&["status"]));
        let variable =
            |name: &str| set.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned());
        Terminal::of(&cli.common, is_terminal, variable)
    }

    #[test]
    fn flags_and_variables_decide_on_colours_and_progress() {
        use ProgressForm::{Bar, Hidden, Lines, Plain};
        for (flags, is_terminal, set, has_colour, progress) in [
            (&[][..], true, &[("TERM", "xterm")][..], true, Bar),
            (&[], true, &[("TERM", "xterm"), ("NO_COLOR", "1")], false, Bar),
            (&[], true, &[("TERM", "xterm"), ("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], false, Bar),
            (&[], true, &[("TERM", "dumb")], false, Plain),
            (&[], true, &[], false, Plain),
            (&[], false, &[("TERM", "xterm")], false, Lines),
            (&[], false, &[("CLICOLOR_FORCE", "1")], true, Lines),
            (&[], false, &[("CLICOLOR_FORCE", "0")], false, Lines),
            (&["--log-format", "json"], true, &[("TERM", "xterm")], true, Lines),
            (&["--quiet"], true, &[("TERM", "xterm")], true, Hidden),
            (&["--no-progress"], false, &[], false, Hidden),
        ] {
            assert_eq!(
                terminal(flags, is_terminal, set),
                Terminal { has_colour, progress },
                "{flags:?} {set:?}"
            );
        }
    }
}
