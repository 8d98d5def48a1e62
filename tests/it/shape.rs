//! The shape of the source tree: no import cycle between files, small folders, files and functions, pages that list their folder.
//!
//! `cargo test --test it shape -- --nocapture` prints the figures.

#![expect(clippy::print_stdout, reason = "the figures are for people")]

use crate::support::command::project;
use crate::support::source_paths::module_path;
use crate::support::source_shape::{
    SourceFile, cycles, files_by_folder, functions, imports, source_files, test_files,
};
use std::collections::BTreeMap;
use std::path::Path;

const MOST_FILES_IN_A_FOLDER: usize = 16;
const MOST_LINES_OF_A_FILE: usize = 400;
const MOST_LINES_OF_A_FUNCTION: usize = 60;
const MEDIAN_LINES_OF_A_FUNCTION: usize = 8;

fn sources() -> Vec<SourceFile> {
    source_files(&project().join("src"))
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let files = sources();
    let graph = imports(&files);
    let found = cycles(&graph);
    let edges: usize = graph.values().map(|to| to.len()).sum();
    println!("import cycles between files: {} ({} files, {edges} imports)", found.len(), graph.len());
    assert!(edges > 500, "only {edges} imports were read");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_planted_cycle_is_found_through_re_exports_and_children() {
    let file = |path: &str, text: &str| SourceFile { path: path.into(), text: text.into() };
    let files = [
        file("lake/mod.rs", "mod a;\nmod b;\npub use a::A;\n#[cfg(test)]\nmod fixture;"),
        file("lake/a.rs", "use super::b::B;"),
        file("lake/b.rs", "fn f(a: &crate::lake::A) {}"),
        file("lake/c.rs", "mod tests { use crate::lake::a::A; }\nuse crate::lake::fixture::F;"),
        file("lake/fixture.rs", "use super::c::C;"),
    ];
    assert_eq!(cycles(&imports(&files)), [["lake", "lake::a", "lake::b"]]);
}

#[test]
fn no_comment_has_an_example_that_nothing_runs() {
    let is_comment = |line: &&str| line.starts_with("//!") || line.starts_with("///");
    for file in sources() {
        let comments = file.text.lines().map(str::trim).filter(is_comment);
        let fences = comments.filter_map(|line| line[3..].trim().strip_prefix("```"));
        // A fence opens, the next one closes.
        for language in fences.step_by(2) {
            assert!(["text", "sql"].contains(&language), "{}: ```{language}", file.path.display());
        }
    }
}

#[test]
fn folders_and_files_stay_small() {
    let files = sources();
    let folders = files_by_folder(&files);
    let lines = |file: &SourceFile| file.text.lines().count();
    let largest = files.iter().max_by_key(|file| lines(file)).expect("a file");
    let fullest = folders.iter().max_by_key(|(_, count)| **count).expect("a folder");
    println!("largest folder: {} files ({})", fullest.1, fullest.0.display());
    println!("largest file: {} lines ({})", lines(largest), largest.path.display());
    print_lines_by_module(&files);
    let too_full: Vec<_> = folders.iter().filter(|(_, count)| **count > MOST_FILES_IN_A_FOLDER).collect();
    assert!(too_full.is_empty(), "{too_full:?}");
    let too_long: Vec<_> = files.iter().filter(|file| lines(file) > MOST_LINES_OF_A_FILE).collect();
    assert!(too_long.is_empty(), "{:?}", too_long.iter().map(|file| &file.path).collect::<Vec<_>>());
}

fn print_lines_by_module(files: &[SourceFile]) {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        let module = module_path(&file.path).into_iter().next().unwrap_or_else(|| "lib".to_owned());
        *lines.entry(module).or_default() += file.text.lines().count();
    }
    let total: usize = lines.values().sum();
    let each: Vec<String> = lines.iter().map(|(module, lines)| format!("{module} {lines}")).collect();
    println!("lines of src: {total} ({})", each.join(", "));
}

#[test]
fn functions_stay_short() {
    let mut functions = functions(&sources());
    functions.sort_by_key(|function| function.lines);
    let median = functions[functions.len() / 2].lines;
    let longest = functions.last().expect("a function");
    let at = |line: usize, file: &Path| format!("{}:{line}", file.display());
    println!(
        "functions: {}, median {median} lines, longest {} lines ({} at {})",
        functions.len(),
        longest.lines,
        longest.name,
        at(longest.line, &longest.file),
    );
    assert!(median <= MEDIAN_LINES_OF_A_FUNCTION, "median {median}");
    let too_long: Vec<String> = functions
        .iter()
        .filter(|function| function.lines > MOST_LINES_OF_A_FUNCTION)
        .map(|function| format!("{} at {}", function.name, at(function.line, &function.file)))
        .collect();
    assert!(too_long.is_empty(), "{too_long:?}");
}

#[test]
fn the_page_of_a_folder_lists_its_files() {
    let files = sources();
    let tests = test_files(&files);
    let mut wrong = Vec::new();
    for page in files.iter().filter(|file| file.path.ends_with("mod.rs")) {
        let place = module_path(&page.path);
        if (1..=place.len()).any(|length| tests.contains(&place[..length])) {
            continue;
        }
        let mut listed = listed_files(&page.text);
        let mut declared: Vec<String> = files
            .iter()
            .map(|file| module_path(&file.path))
            .filter(|path| path.len() == place.len() + 1 && path.starts_with(&place) && !tests.contains(path))
            .filter_map(|path| path.last().cloned())
            .collect();
        listed.sort();
        declared.sort();
        if listed != declared {
            wrong.push(format!("{}: lists {listed:?}, holds {declared:?}", page.path.display()));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_map_of_the_project_names_files_that_are_there() {
    let files = sources();
    let map = &files.iter().find(|file| file.path == std::path::Path::new("lib.rs")).expect("the map").text;
    let named: Vec<&str> = map.split('`').skip(1).step_by(2).filter(|name| name.ends_with(".rs")).collect();
    assert!(named.len() > 20, "{named:?}");
    let lost: Vec<&&str> =
        named.iter().filter(|name| !files.iter().any(|file| file.path.ends_with(name))).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

/// Names of the list below the heading "Files, in reading order" of a page.
fn listed_files(page: &str) -> Vec<String> {
    let below = page.lines().skip_while(|line| line.trim() != "//! # Files, in reading order").skip(1);
    below
        .take_while(|line| line.starts_with("//!") && !line.starts_with("//! # "))
        .filter_map(|line| line.strip_prefix("//! - "))
        .filter_map(|entry| entry.trim_start_matches('[').strip_prefix('`')?.split('`').next())
        .map(str::to_owned)
        .collect()
}
