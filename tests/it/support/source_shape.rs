//! Measures the shape of the source tree: imports between files, and the sizes of folders, files and functions.

use super::source_paths::{Token, module_path, paths, tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// One source file below `src`: its path from there, and its text.
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// A function: where it begins, and its lines from `fn` to the closing brace.
pub(crate) struct Function {
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
    pub(crate) name: String,
    pub(crate) lines: usize,
}

/// Every `.rs` file below `src`, sorted by path.
pub(crate) fn source_files(src: &Path) -> Vec<SourceFile> {
    let mut files = Vec::new();
    let mut folders = vec![src.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of src") {
            let path = entry.expect("an entry of src").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source file");
                files.push(SourceFile { path: path.strip_prefix(src).expect("below src").to_owned(), text });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Files that are compiled for tests only: declared under `#[cfg(test)]`, or below such a module.
pub(crate) fn test_files(files: &[SourceFile]) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    for file in files {
        let mut is_test = false;
        for line in file.text.lines().map(str::trim) {
            let declared = line.rsplit_once("mod ").and_then(|(_, rest)| rest.strip_suffix(';'));
            if let Some(name) = declared.filter(|_| is_test) {
                let mut place = module_path(&file.path);
                place.push(name.to_owned());
                found.insert(place);
            }
            is_test = line == "#[cfg(test)]";
        }
    }
    found
}

/// Imports between files: from → to. A path counts for the deepest file that it names; tests do not count.
pub(crate) fn imports(files: &[SourceFile]) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let places: BTreeSet<Vec<String>> = files.iter().map(|file| module_path(&file.path)).collect();
    let tests = test_files(files);
    let is_test = |place: &[String]| (1..=place.len()).any(|length| tests.contains(&place[..length]));
    let mut graph: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
    for file in files {
        let place = module_path(&file.path);
        if place.is_empty() || is_test(&place) {
            continue;
        }
        let named = graph.entry(place.clone()).or_default();
        for path in paths(&file.text, &place).into_iter().filter(|path| !path.in_tests) {
            let names = absolute(&path.names, &place, &places);
            let target = (1..=names.len()).rev().map(|length| &names[..length]).find(|p| places.contains(*p));
            if let Some(target) = target.filter(|target| **target != place[..] && !is_test(target)) {
                named.insert(target.to_vec());
            }
        }
    }
    graph
}

/// A path without its `crate`; in a folder's `mod.rs` a child's name begins a path too.
fn absolute(names: &[String], place: &[String], places: &BTreeSet<Vec<String>>) -> Vec<String> {
    if names.first().is_some_and(|root| root == "crate") {
        return names[1..].to_vec();
    }
    let child: Vec<String> = place.iter().chain(names.first()).cloned().collect();
    if places.contains(&child) { place.iter().chain(names).cloned().collect() } else { Vec::new() }
}

/// Groups of files that import each other, directly or around corners; largest first.
pub(crate) fn cycles(graph: &BTreeMap<Vec<String>, BTreeSet<Vec<String>>>) -> Vec<Vec<String>> {
    let reach: BTreeMap<&Vec<String>, BTreeSet<&Vec<String>>> =
        graph.keys().map(|from| (from, reachable(graph, from))).collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (from, to) in &reach {
        if !to.contains(from) || !seen.insert(*from) {
            continue;
        }
        let group: Vec<_> = to.iter().filter(|other| reach[*other].contains(from)).copied().collect();
        seen.extend(group.iter().copied());
        found.push(group.iter().map(|place| place.join("::")).collect::<Vec<_>>());
    }
    found.sort_by_key(|group| std::cmp::Reverse(group.len()));
    found
}

fn reachable<'g>(
    graph: &'g BTreeMap<Vec<String>, BTreeSet<Vec<String>>>,
    from: &Vec<String>,
) -> BTreeSet<&'g Vec<String>> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Vec<String>> = graph[from].iter().collect();
    while let Some(next) = open.pop() {
        if graph.contains_key(next) && found.insert(next) {
            open.extend(&graph[next]);
        }
    }
    found
}

/// Source files directly in each folder, `mod.rs` included.
pub(crate) fn files_by_folder(files: &[SourceFile]) -> BTreeMap<PathBuf, usize> {
    let mut counts = BTreeMap::new();
    for file in files {
        *counts.entry(file.path.parent().unwrap_or(Path::new("")).to_owned()).or_insert(0) += 1;
    }
    counts
}

/// Every function with a body, tests and functions within functions included.
pub(crate) fn functions(files: &[SourceFile]) -> Vec<Function> {
    files.iter().flat_map(|file| functions_of(&file.path, &file.text)).collect()
}

fn functions_of(path: &Path, text: &str) -> Vec<Function> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    for (at, (token, line)) in tokens.iter().enumerate() {
        let Some((Token::Word(name), _)) = tokens.get(at + 1).filter(|_| *token == Token::Word("fn".into()))
        else {
            continue;
        };
        if let Some(end) = body_end(&tokens[at..]) {
            let lines = end - line + 1;
            found.push(Function { file: path.to_owned(), line: *line, name: name.clone(), lines });
        }
    }
    found
}

/// The line of the brace that closes the body of the function that begins here; none where it has no body.
fn body_end(tokens: &[(Token, usize)]) -> Option<usize> {
    let (mut depth, mut round) = (0_usize, 0_usize);
    for (token, line) in tokens {
        match token {
            Token::Sign('(' | '[') => round += 1,
            Token::Sign(')' | ']') => round = round.checked_sub(1)?,
            Token::Sign(';') if depth == 0 && round == 0 => return None,
            Token::Sign('{') => depth += 1,
            Token::Sign('}') if depth == 1 => return Some(*line),
            Token::Sign('}') => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}
