//! Compares a generated page with its file, or writes the file.

use std::path::{Path, PathBuf};

/// The project's folder.
pub(super) fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Compares `docs/reference/NAME` with the generated text. With `SUNLAKE_BLESS` set, writes it instead.
pub(super) fn check(name: &str, text: &str) {
    same(&project().join("docs/reference").join(name), text);
}

/// Compares a file with the generated text. With `SUNLAKE_BLESS` set, writes it instead.
pub(crate) fn same(file: &Path, text: &str) {
    if std::env::var_os("SUNLAKE_BLESS").is_some() {
        std::fs::write(file, text).expect("a page that can be written");
        return;
    }
    let there = std::fs::read_to_string(file).unwrap_or_default();
    let differs = there.lines().zip(text.lines()).find(|(there, made)| there != made);
    assert!(
        there == text,
        "{} is not what the program says: run SUNLAKE_BLESS=1 cargo test reference_pages\n{differs:#?}",
        file.display()
    );
}

/// The head of a page: its title, the note that it is generated, an introduction.
pub(super) fn head(title: &str, introduction: &str) -> String {
    format!(
        "# {title}\n\n<!-- Generated: SUNLAKE_BLESS=1 cargo test reference_pages. Do not edit. -->\n\n{introduction}\n\n"
    )
}

/// A table. A table without rows is empty text.
pub(crate) fn table(columns: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let line =
        |cells: &mut dyn Iterator<Item = &str>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let mut text = line(&mut columns.iter().copied());
    text.push_str(&line(&mut columns.iter().map(|_| "---")));
    for row in rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    text.push('\n');
    text
}

/// A word as code.
pub(crate) fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

/// Prose for a cell: one line, with what Markdown would take for markup escaped outside code.
pub(super) fn prose(text: &str) -> String {
    let text = text.replace("[`", "`").replace("`]", "`").replace('|', "\\|").replace('\n', " ");
    let mut escaped = String::new();
    for (index, piece) in text.split('`').enumerate() {
        let is_code = index % 2 == 1;
        let piece =
            if is_code { format!("`{piece}`") } else { piece.replace('<', "\\<").replace('*', "\\*") };
        escaped.push_str(&piece);
    }
    escaped.trim_end_matches('.').to_owned()
}

/// The files of a folder with this extension, by name.
pub(super) fn files_of(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    files.sort();
    assert!(!files.is_empty(), "{} has no .{extension}", folder.display());
    files
}
