//! What a run shows on a terminal, and to a reader that is none.

use crate::support::command::{Finished, Sunlake, project};
use crate::support::proxy::Reply;
use crate::support::scratch::Scratch;
use crate::support::source;
use crate::support::weather::Weather;

/// A short run of a sample, with variables; on a terminal where `columns` are given.
fn run(columns: Option<&str>, arguments: &[&str], variables: &[(&str, &str)]) -> Finished {
    let scratch = Scratch::new();
    let pipeline = scratch.file("sample.toml", &source::sample_pipeline(3, 0.05));
    let mut run = Sunlake::on(&scratch.lake(), ["run", "--today", "2026-03-20"]).args([pipeline]);
    run = run.args(arguments).env("NO_COLOR", "").env("CLICOLOR_FORCE", "").env("TERM", "xterm");
    for (name, value) in variables {
        run = run.env(name, value);
    }
    let script = project().join("tests/it/terminal.py");
    match columns {
        Some(columns) => {
            run.env("COLUMNS", columns).through(&["python3", &script.to_string_lossy(), ""]).finish()
        }
        None => run.finish(),
    }
}

/// What stays on a terminal's screen: text that is written over is gone.
fn screen(said: &str) -> Vec<String> {
    let mut lines = vec![Vec::new()];
    let (mut column, mut rest) = (0, said);
    while let Some(next) = rest.chars().next() {
        let (line, after) = (lines.last_mut().expect("a line"), &rest[next.len_utf8()..]);
        rest = after;
        match next {
            '\n' => {
                lines.push(Vec::new());
                column = 0;
            }
            '\r' => column = 0,
            '\u{1b}' => {
                let end = after.find(|c: char| c.is_ascii_alphabetic()).expect("an escape code");
                if after[..=end].ends_with('K') {
                    line.clear();
                }
                rest = &after[end + 1..];
            }
            other => {
                line.resize(line.len().max(column + 1), ' ');
                line[column] = other;
                column += 1;
            }
        }
    }
    lines.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned()).collect()
}

#[test]
fn a_terminal_keeps_a_line_for_each_finished_part_and_nothing_of_the_bar() {
    for columns in ["60", "80", "120"] {
        let done = run(Some(columns), &[], &[]).exits(0);
        let lines = screen(&done.stdout);
        let begins = |line: &&String| line.starts_with('✓');
        let parts: Vec<&String> = lines.iter().filter(begins).collect();
        let [read, added_up, published] = parts[..] else { panic!("{lines:?}") };
        assert!(
            read.starts_with("✓ Read ") && read.contains(" filings in ") && read.ends_with('s'),
            "{read}"
        );
        assert!(added_up.starts_with("✓ Added up ") && added_up.contains(" aggregates in "), "{added_up}");
        assert_eq!(published, "✓ Published snapshot 1");
        assert!(!lines.iter().any(|line| line.contains(" requests  ") || line.contains("░")), "{lines:?}");
    }
}

#[test]
fn log_lines_on_a_terminal_are_lines_of_their_own() {
    let done = run(Some("80"), &["-v"], &[("NO_COLOR", "1")]).exits(0);
    let lines = screen(&done.stdout);
    let logged: Vec<&String> = lines.iter().filter(|line| line.contains(" INFO ")).collect();
    assert!(logged.len() > 2, "{lines:?}");
    assert!(logged.iter().all(|line| line.starts_with("20")), "{logged:?}");
}

#[test]
fn variables_turn_colours_and_the_bar_off_and_on() {
    let has_codes = |said: &str| said.contains('\u{1b}');
    let dumb = run(Some("80"), &["-v"], &[("TERM", "dumb")]).exits(0);
    assert!(!has_codes(&dumb.stdout) && dumb.stdout.contains("✓ Published snapshot 1"), "{}", dumb.shown());
    let plain = run(Some("80"), &["-v"], &[("NO_COLOR", "1")]).exits(0);
    assert!(!has_codes(&plain.stdout) && plain.stdout.contains("Asking the API"), "{}", plain.shown());
    let coloured = run(Some("80"), &["-v", "--no-progress"], &[]).exits(0);
    assert!(has_codes(&coloured.stdout), "{}", coloured.shown());
    let forced = run(None, &["-v"], &[("CLICOLOR_FORCE", "1")]).exits(0);
    assert!(has_codes(&forced.stderr), "{}", forced.shown());
    let piped = run(None, &["-v"], &[]).exits(0);
    assert!(!has_codes(&piped.stderr) && piped.stderr.contains("Published snapshot 1"), "{}", piped.shown());
    let quiet = run(None, &[], &[]).exits(0);
    assert_eq!(quiet.stderr, "", "a short run has nothing to say");
}

#[test]
fn the_bar_says_what_a_run_waits_for() {
    let weather = Weather::new(|request| match request.number {
        12 => Reply::error(503, vec![("Retry-After", "2".to_owned())]),
        _ => Reply::Forward,
    });
    let run = Sunlake::on(&weather.scratch.lake(), ["run", "--yes"]).args([weather.pipeline("")]);
    let run = weather.asking(run, weather.source.today).env("TERM", "xterm").env("COLUMNS", "160");
    let script = project().join("tests/it/terminal.py");
    let done = run.through(&["python3", &script.to_string_lossy(), ""]).finish().exits(0);
    let bars: Vec<&str> =
        done.stdout.split(['\r', '\n']).filter(|line| line.contains(" requests  ")).collect();
    for words in ["/90 days", " as the API asks  ", " left today", " s to go"] {
        assert!(bars.iter().any(|line| line.contains(words)), "{words}{}", done.shown());
    }
}
