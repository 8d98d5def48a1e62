//! Commands and the environment, from the definition of the command line.

use super::page::{check, code, head, prose, table};
use clap::{Arg, Command, CommandFactory};
use std::collections::BTreeMap;
use sunlake::cli::Cli;

/// Variables that no flag has: name, meaning.
const WITHOUT_FLAG: [(&str, &str); 17] = [
    ("SUNLAKE_API_KEY", "The key of the API. It is never given on the command line."),
    ("SUNLAKE_API_KEY_FILE", "A file with that key. Read when `SUNLAKE_API_KEY` is not set."),
    ("SUNLAKE_USAGE_USER", "The user of the store that `--usage redis://…` names. Never in the address."),
    ("SUNLAKE_USAGE_PASSWORD", "The password of that store. Never in the address."),
    (
        "SUNLAKE_USAGE_PASSWORD_FILE",
        "A file with that password. Read when `SUNLAKE_USAGE_PASSWORD` is not set.",
    ),
    ("AWS_…", "Credentials, region and endpoint of an S3 lake: every variable that begins with `AWS_`."),
    ("AZURE_…", "The same for Azure."),
    ("GOOGLE_…", "The same for Google Cloud Storage."),
    ("XDG_STATE_HOME", "Parent folder of the default of `--state`. Must be an absolute path."),
    ("XDG_CACHE_HOME", "Parent folder of the default of `--work`."),
    ("HOME", "Used where the two above are not set: `~/.local/state` and `~/.cache`."),
    (
        "HTTPS_PROXY, ALL_PROXY, NO_PROXY",
        "The proxy for https, and the hosts without one; also in small letters. Plain http and this machine are asked without a proxy.",
    ),
    (
        "SSL_CERT_FILE, SSL_CERT_DIR",
        "Certificates of the authorities to trust, in PEM, in place of the system's.",
    ),
    (
        "TOKIO_WORKER_THREADS, POLARS_MAX_THREADS, RAYON_NUM_THREADS",
        "Numbers of threads, from 1 to 1024; the third is that of an import. Other values, and other variables that begin with `POLARS_` than the next two, are not used.",
    ),
    (
        "POLARS_TEMP_DIR, POLARS_VERBOSE",
        "A folder for temporary files of large queries; 1 to print what polars does.",
    ),
    ("SUNLAKE_LEFT_OUT", "Set by the program for itself: the variables that it does not use."),
    ("RUST_LOG", "Not read. Use `-v`, `-q` and `--log-format`."),
];

/// Every command that does something, by its words.
fn leaves() -> BTreeMap<String, Command> {
    let mut root = Cli::command();
    root.build();
    let mut leaves = BTreeMap::new();
    let mut open = vec![(String::new(), root)];
    while let Some((words, command)) = open.pop() {
        let subcommands: Vec<Command> = command.get_subcommands().cloned().collect();
        let is_leaf = subcommands.is_empty();
        for sub in subcommands.into_iter().filter(|sub| sub.get_name() != "help") {
            open.push((format!("{words} {}", sub.get_name()).trim().to_owned(), sub));
        }
        if is_leaf {
            leaves.insert(words, command);
        }
    }
    leaves
}

fn is_of_program(arg: &Arg) -> bool {
    !["help", "version"].contains(&arg.get_id().as_str())
}

fn shown(arg: &Arg) -> String {
    let value =
        arg.get_value_names().filter(|_| arg.get_action().takes_values()).map(|names| names.join(" "));
    match (arg.get_long(), value) {
        (Some(long), Some(value)) => code(&format!("--{long} {value}")),
        (Some(long), None) => {
            let short = arg.get_short().map(|short| format!("`-{short}`, ")).unwrap_or_default();
            format!("{short}{}", code(&format!("--{long}")))
        }
        (None, value) => code(&value.unwrap_or_else(|| arg.get_id().to_string().to_uppercase())),
    }
}

fn variable(arg: &Arg) -> String {
    arg.get_env().map(|name| code(&name.to_string_lossy())).unwrap_or_default()
}

fn default(arg: &Arg) -> String {
    let values = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect::<Vec<_>>();
    match values.join(",").as_str() {
        "" | "false" => String::new(),
        value => code(value),
    }
}

fn rows<'a>(arguments: impl Iterator<Item = &'a Arg>) -> Vec<Vec<String>> {
    let of_program = arguments.filter(|arg| is_of_program(arg));
    let row = |arg: &Arg| {
        let help = prose(&arg.get_help().map(ToString::to_string).unwrap_or_default());
        let values: Vec<String> = match arg.get_action().takes_values() {
            true => arg.get_possible_values().iter().map(|value| code(value.get_name())).collect(),
            false => Vec::new(),
        };
        let values = if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
        vec![shown(arg), variable(arg), default(arg), format!("{help}{values}")]
    };
    of_program.map(row).collect()
}

#[test]
fn every_command_and_every_argument_has_help() {
    Cli::command().debug_assert();
    for (words, command) in leaves() {
        assert!(command.get_about().is_some(), "sunlake {words}");
        for arg in command.get_arguments() {
            assert!(arg.get_help().is_some(), "sunlake {words}: {}", arg.get_id());
        }
    }
}

#[test]
fn every_flag_has_a_variable() {
    for (words, command) in leaves() {
        for arg in command.get_arguments().filter(|arg| arg.get_long().is_some() && is_of_program(arg)) {
            let variable = variable(arg);
            assert!(variable.starts_with("`SUNLAKE_"), "sunlake {words} {}", shown(arg));
        }
    }
}

#[test]
fn commands_page_is_what_the_command_line_says() {
    let columns = ["argument", "variable", "default", "meaning"];
    let introduction = "Every flag has a variable; a flag overrides its variable. \
                        An empty variable counts as unset. A flag without a value is on when its variable is `1`, `true`, \
                        `yes` or `on`, and off when it is `0`, `false`, `no` or `off`. \
                        What each command prints with `--json`: [JSON](json.md).";
    let mut text = head("Commands", introduction);
    let root = Cli::command();
    text.push_str("## Flags of every command\n\n");
    text.push_str(&table(&columns, &rows(root.get_arguments().filter(|arg| arg.is_global_set()))));
    for (words, mut command) in leaves() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let usage = command.render_usage().to_string().replace("Usage: ", "");
        text.push_str(&format!("## sunlake {words}\n\n{}.\n\n```text\n{usage}\n```\n\n", prose(&about)));
        let is_common = |arg: &&Arg| root.get_arguments().any(|common| common.get_id() == arg.get_id());
        text.push_str(&table(&columns, &rows(command.get_arguments().filter(|arg| !is_common(arg)))));
    }
    check("commands.md", &format!("{}\n", text.trim_end()));
}

#[test]
fn environment_page_names_every_variable() {
    let mut flags: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    let root = Cli::command();
    for (words, command) in leaves() {
        for arg in command.get_arguments().filter(|arg| arg.get_env().is_some()) {
            let is_common = root.get_arguments().any(|common| common.get_id() == arg.get_id());
            let commands = flags.entry(variable(arg)).or_default().entry(shown(arg)).or_default();
            if !is_common {
                commands.push(code(&words));
            }
        }
    }
    let row = |(variable, flags): (String, BTreeMap<String, Vec<String>>)| {
        let flags = flags.into_iter().map(|(flag, commands)| match commands.is_empty() {
            true => flag,
            false => format!("{flag} of {}", commands.join(", ")),
        });
        vec![variable, flags.collect::<Vec<_>>().join("; ")]
    };
    let mut text = head(
        "Environment",
        "A flag overrides its variable. An empty variable counts as unset. What a flag means is in [Commands](commands.md).",
    );
    text.push_str("## Variables of flags\n\n");
    text.push_str(&table(&["variable", "flag"], &flags.into_iter().map(row).collect::<Vec<_>>()));
    text.push_str("## Other variables\n\n");
    let other = WITHOUT_FLAG.map(|(name, meaning)| {
        let names: Vec<String> = name.split(", ").map(code).collect();
        vec![names.join(", "), meaning.to_owned()]
    });
    text.push_str(&table(&["variable", "meaning"], &other));
    check("environment.md", &format!("{}\n", text.trim_end()));
}
