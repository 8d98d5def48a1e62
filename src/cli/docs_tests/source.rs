//! The documented fields of a struct, read from the sources: a name and a sentence are written once, beside the type.

use super::page::project;
use std::path::Path;
use std::sync::OnceLock;

/// A field of a struct.
pub(super) struct Field {
    /// Its name in the code.
    pub(super) name: String,
    /// Its name in files and output, where `serde` renames it.
    pub(super) shown: String,
    /// Its type, as written.
    pub(super) kind: String,
    /// The first paragraph of its documentation.
    pub(super) meaning: String,
}

/// The fields of the struct behind `T`.
pub(super) fn fields_of<T>() -> Vec<Field> {
    let path = std::any::type_name::<T>();
    let name = path.rsplit("::").next().unwrap_or(path);
    fields(name).unwrap_or_else(|| panic!("no struct {name} in src"))
}

/// The fields of a struct of the crate; `None` where the sources have no struct with fields of this name.
pub(super) fn fields(name: &str) -> Option<Vec<Field>> {
    let opening = format!("struct {name} {{\n");
    let body = sources().iter().find_map(|text| text.split_once(&opening)).map(|(_, body)| body)?;
    let mut fields = Vec::new();
    let (mut meaning, mut renamed, mut is_first_paragraph) = (String::new(), None, true);
    for line in body.lines().map(str::trim).take_while(|line| *line != "}") {
        if let Some(words) = line.strip_prefix("///") {
            is_first_paragraph &= !words.trim().is_empty();
            if is_first_paragraph {
                meaning = format!("{meaning} {}", words.trim());
            }
        } else if let Some((_, rest)) = line.split_once("rename = \"") {
            renamed = rest.split('"').next().map(str::to_owned);
        } else if let Some((name, kind)) = line.split_once(": ").filter(|_| !line.starts_with('#')) {
            let name = name.rsplit(' ').next().unwrap_or(name).to_owned();
            let shown = renamed.take().unwrap_or_else(|| name.clone());
            let kind = kind.trim_end_matches(',').to_owned();
            fields.push(Field { name, shown, kind, meaning: std::mem::take(&mut meaning).trim().to_owned() });
            is_first_paragraph = true;
        }
    }
    Some(fields)
}

/// The innermost type of a field: `RunSummary` of `Option<Box<RunSummary>>`.
pub(super) fn innermost(kind: &str) -> &str {
    let inner = kind.rsplit(['<', ' ']).next().unwrap_or(kind);
    inner.trim_end_matches('>')
}

fn sources() -> &'static [String] {
    static SOURCES: OnceLock<Vec<String>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let mut texts = Vec::new();
        read_below(&project().join("src"), &mut texts);
        texts
    })
}

fn read_below(folder: &Path, texts: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read_below(&path, texts);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            texts.push(std::fs::read_to_string(&path).expect("a source file"));
        }
    }
}
