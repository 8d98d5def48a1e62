//! The command line with its examples; each command shows only the flags that apply to it.

use super::commands::Cli;
use clap::{Arg, Command, CommandFactory};

/// Commands, each with an example or two.
const EXAMPLES: [(&str, &str); 33] = [
    (
        "run",
        "sunlake run daily --base-url https://api.example.com\n  \
         sunlake run pipelines/mine.toml --lake florida",
    ),
    ("plan", "sunlake plan backfill"),
    ("demo", "sunlake demo\n  sunlake demo --lake /tmp/florida"),
    ("init", "sunlake init\n  sunlake init florida --schedule systemd"),
    (
        "query",
        "sunlake query \"SELECT county, COUNT(*) AS n FROM filings WHERE listed GROUP BY county ORDER BY n DESC\"\n  \
         sunlake query -f growth.sql --format csv -o growth.csv",
    ),
    (
        "changes",
        "sunlake changes --county Orange --type llc\n  sunlake changes --since 2026-11-01 --format atom -o changes.atom",
    ),
    ("schema", "sunlake schema pipeline > pipeline.json"),
    ("man", "sunlake man ~/.local/share/man/man1"),
    ("status", "sunlake status\n  sunlake status --tables --lake s3://bucket/florida"),
    ("verify", "sunlake verify latest\n  sunlake verify --repair"),
    ("snapshot", "sunlake snapshot list\n  sunlake snapshot diff 3 latest"),
    ("snapshot list", "sunlake snapshot list"),
    ("snapshot show", "sunlake snapshot show latest"),
    ("snapshot diff", "sunlake snapshot diff 3 latest"),
    ("snapshot pin", "sunlake snapshot pin 3"),
    ("snapshot unpin", "sunlake snapshot unpin 3"),
    ("snapshot rollback", "sunlake snapshot rollback 3"),
    ("snapshot accept", "sunlake snapshot accept 4"),
    ("snapshot prune", "sunlake snapshot prune --keep-daily 30 --keep-monthly 24 --dry-run"),
    ("replay", "sunlake replay 20261120T100000000Z-daily-k3f9q2"),
    ("serve", "sunlake serve --demo\n  sunlake serve --keys keys.toml --listen 8080"),
    ("keys", "sunlake keys create --account acme --plan agency\n  sunlake keys list"),
    ("keys create", "sunlake keys create --account acme --plan agency --expires 90d > key.txt"),
    ("keys list", "sunlake keys list --keys keys.toml"),
    ("keys revoke", "sunlake keys revoke KEYID"),
    ("report", "sunlake report --lake sample"),
    ("doctor", "sunlake doctor --base-url https://api.example.com"),
    ("export", "sunlake export csv out --table filings,counties\n  sunlake export duckdb florida.duckdb"),
    (
        "export csv",
        "sunlake export csv out --table filings,counties\n  sunlake export csv orange --where \"county = 'Orange' AND status = 'active'\"",
    ),
    ("export duckdb", "sunlake export duckdb florida.duckdb"),
    ("export delta", "sunlake export delta delta/filings"),
    ("export ducklake", "sunlake export ducklake florida.ducklake"),
    ("completions", "sunlake completions bash > ~/.local/share/bash-completion/completions/sunlake"),
];

/// Flags of the program, and the commands that they apply to.
const ONLY_FOR: [(&str, &str); 3] = [
    ("base_url", "run, plan, doctor"),
    ("state", "run, plan, demo, status, doctor"),
    ("no_progress", "run, plan, demo"),
];

/// Flags of the program, and the commands that they do not apply to.
const NOT_FOR: [(&str, &str); 4] = [
    ("lake", "completions, man, schema, init, keys create, keys revoke"),
    ("work", "completions, man, schema, init, demo, keys create, keys revoke"),
    ("json", "completions, schema"),
    (
        "today",
        "completions, man, schema, init, export, report, query, changes, keys, snapshot list, snapshot show, snapshot diff, \
         snapshot pin, snapshot unpin, snapshot accept",
    ),
];

/// The command line of the program.
pub fn command_line() -> Command {
    // However the program was started, its help calls it by its name.
    // Without a command, the program says what to start with, not its help.
    let line = Cli::command().bin_name("sunlake").arg_required_else_help(false);
    let flags: Vec<Arg> = line.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    with_commands(line, "", &flags)
}

/// A command whose commands have examples, and show only the flags of the program that apply to them.
fn with_commands(mut line: Command, above: &str, flags: &[Arg]) -> Command {
    let names: Vec<String> = line.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    for name in &names {
        let path = format!("{above} {name}").trim_start().to_owned();
        let hidden = flags.iter().filter(|flag| !applies(flag.get_id().as_str(), &path));
        // A hidden copy on the command keeps clap from handing down the visible flag.
        let hidden: Vec<Arg> = hidden.map(|flag| flag.clone().hide(true)).collect();
        let example = EXAMPLES.iter().find(|(command, _)| *command == path);
        line = line.mut_subcommand(name, |command| {
            let command = with_commands(command.args(hidden), &path, flags);
            match example {
                Some((_, example)) => command.after_help(format!("Examples:\n  {example}")),
                None => command,
            }
        });
    }
    line
}

/// Whether a flag applies to a command, such as `keys create`. An entry without a blank, such as `keys`, covers its commands.
fn applies(flag: &str, command: &str) -> bool {
    let first = command.split(' ').next().unwrap_or_default();
    let named = |table: &[(&str, &str)]| {
        let (_, commands) = table.iter().find(|(name, _)| *name == flag)?;
        Some(commands.split(", ").any(|named| named == command || named == first))
    };
    named(&ONLY_FOR).unwrap_or(true) && !named(&NOT_FOR).unwrap_or(false)
}

/// What the program says without a command.
pub(super) const START: &str = "\
sunlake turns the Florida Business Filings API into a columnar lake, and serves that API from the lake.

Start with:
  sunlake demo                the sample, without a key or a network
  sunlake init                pipelines and a schedule in a folder of your own
  sunlake run PIPELINE        read what is new into the lake
  sunlake query \"SELECT …\"    ask the lake
  sunlake status              what the lake has, and what to do next

All commands: sunlake --help
";
