//! The documented fields of a struct, read from the sources, so that a name and a sentence are written once: at the type.

use super::page::project;
use std::path::{Path, PathBuf};
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
    /// Number of its source file.
    file: usize,
}

impl Field {
    /// The fields of its own type, if that is a struct: of the same source file, or of the module it is imported from.
    pub(super) fn members(&self) -> Option<Vec<Field>> {
        let name = self.innermost();
        fields(self.file, name).or_else(|| {
            let home = imported_from(&sources()[self.file], name)?;
            let is_of_home = |path: &str| {
                path.strip_prefix(&*home).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            };
            let mut files = (0..sources().len()).filter(|file| is_of_home(&sources()[*file].path));
            files.find_map(|file| fields(file, name))
        })
    }

    /// The innermost name of its type: `RunSummary` of `Option<Box<RunSummary>>`.
    pub(super) fn innermost(&self) -> &str {
        let inner = self.kind.rsplit(['<', ' ']).next().unwrap_or(&self.kind);
        inner.trim_end_matches('>')
    }
}

/// The fields of the struct behind `T`.
pub(super) fn fields_of<T>() -> Vec<Field> {
    let path = std::any::type_name::<T>();
    let name = path.rsplit("::").next().unwrap_or(path);
    let mut found = (0..sources().len()).filter_map(|file| fields(file, name));
    let members = found.next().unwrap_or_else(|| panic!("no struct {name} in src"));
    assert!(found.next().is_none(), "two structs are called {name}");
    members
}

/// A source file.
struct Source {
    /// Its path from the project's folder.
    path: String,
    text: String,
}

/// The module that a source file imports a name from, as a path without `.rs`: `src/contract/plan`.
fn imported_from(source: &Source, name: &str) -> Option<String> {
    let uses = source.text.split("\nuse ").skip(1).filter_map(|rest| rest.split(';').next());
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut naming = uses.filter(|used| used.split(|c| !is_word(c)).any(|word| word == name));
    let module =
        naming.find_map(|used| used.split('{').next()?.rsplit_once("::").map(|(module, _)| module))?;
    let own = source.path.trim_end_matches("/mod.rs").trim_end_matches(".rs");
    let mut path: Vec<&str> = own.split('/').collect();
    for step in module.split("::") {
        match step {
            "crate" => path.truncate(1),
            "super" => path.truncate(path.len() - 1),
            "self" => {}
            name => path.push(name),
        }
    }
    Some(path.join("/"))
}

/// The fields of a struct of a source file.
fn fields(file: usize, name: &str) -> Option<Vec<Field>> {
    let (_, body) = sources()[file].text.split_once(&format!("struct {name} {{\n"))?;
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
            let meaning = std::mem::take(&mut meaning).trim().to_owned();
            fields.push(Field { name, shown, kind, meaning, file });
            is_first_paragraph = true;
        }
    }
    Some(fields)
}

/// The source files, by path.
fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let mut paths = Vec::new();
        find_below(&project().join("src"), &mut paths);
        paths.sort();
        let source = |path: PathBuf| {
            let text = std::fs::read_to_string(&path).expect("a source file");
            let path =
                path.strip_prefix(project()).expect("a file of the project").to_string_lossy().into_owned();
            Source { path, text }
        };
        paths.into_iter().map(source).collect()
    })
}

fn find_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            find_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn a_type_is_found_in_its_own_file_or_where_it_is_imported_from() {
    let text = "\nuse super::two::Two;\nuse crate::a::b::{Four, Three};\n".to_owned();
    let source = Source { path: "src/x/one.rs".to_owned(), text };
    assert_eq!(imported_from(&source, "Two").as_deref(), Some("src/x/two"));
    assert_eq!(imported_from(&source, "Three").as_deref(), Some("src/a/b"));
    assert_eq!(imported_from(&source, "Five"), None);
}
