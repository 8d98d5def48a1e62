//! What `--lake` may name: a lake, or a place for a new one. A mistyped path never makes a lake among somebody's files.

use crate::cli::exit::CommandError;
use crate::contract::hint::{NEAR, nearest};
use crate::lake::{folder_of, holds_lake, is_lake_folder};
use std::path::{Component, Path, PathBuf};

/// Schemes of object stores.
const SCHEMES: [&str; 7] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss"];

/// Entries that do not make a folder somebody's.
const IGNORED: [&str; 2] = ["README.md", "lost+found"];

/// Fails if a path of a lake is a mistake. `home` is the user's home folder.
pub(super) fn check_lake_path(path: &Path, home: Option<&str>) -> Result<(), CommandError> {
    let text = path.to_string_lossy();
    let address = text.split_once(':').filter(|(scheme, _)| SCHEMES.contains(scheme));
    let (what, hint) = if let Some(rest) = text.strip_prefix('~') {
        let (home, rest) = (home.unwrap_or("/home/NAME"), rest.trim_start_matches('/'));
        ("begins with a ~ that no shell expanded".to_owned(), format!("give the full path: {home}/{rest}"))
    } else if let Some((scheme, rest)) = address {
        let rest = rest.trim_start_matches('/');
        ("is a path, not an address".to_owned(), format!("give {scheme}://{rest}, or ./{text} for a folder"))
    } else if let Some(outer) = lake_around(path) {
        let hint = "give that lake, or a folder outside of it, with --lake".to_owned();
        (format!("is inside the lake {}", outer.display()), hint)
    } else if path.is_file() {
        ("is a file".to_owned(), "give a folder with --lake".to_owned())
    } else if is_others(path) {
        let hint = "give a lake, or a new or empty folder, with --lake".to_owned();
        ("is a folder of other files".to_owned(), hint)
    } else {
        return Ok(());
    };
    Err(CommandError::Settings(format!("the lake {text} {what}")).with_hint(hint))
}

/// The lake next to `path` that was meant, by its name.
pub(super) fn nearest_lake(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let entries = std::fs::read_dir(folder_of(path)).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let lakes: Vec<PathBuf> = entries.filter(|folder| holds_lake(folder)).collect();
    let names = lakes.iter().filter_map(|lake| lake.file_name()?.to_str());
    nearest(name, names, NEAR).map(|near| path.with_file_name(near))
}

/// The lake that a path is inside of.
fn lake_around(path: &Path) -> Option<PathBuf> {
    resolved(path)?.ancestors().skip(1).find(|above| holds_lake(above)).map(Path::to_owned)
}

/// The place that a path leads to, without links and `..`; what does not exist yet keeps its name.
fn resolved(path: &Path) -> Option<PathBuf> {
    let mut place = PathBuf::new();
    for part in std::path::absolute(path).ok()?.components() {
        if part == Component::ParentDir {
            place.pop();
        } else {
            place.push(part);
            place = place.canonicalize().unwrap_or(place);
        }
    }
    Some(place)
}

/// Whether a folder has files, and none of a lake.
fn is_others(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let has_files = names.into_iter().any(|name| !name.starts_with('.') && !IGNORED.contains(&name.as_str()));
    has_files && !is_lake_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::exit::SETTINGS;
    use crate::cli::output::error_text::ErrorText;
    use std::fs::{create_dir_all, write};

    fn refusal(path: &Path) -> String {
        let error = check_lake_path(path, Some("/home/ann")).expect_err("a mistake");
        assert_eq!(error.code(), SETTINGS);
        ErrorText::of(&error).to_string()
    }

    #[test]
    fn a_tilde_and_an_address_with_one_slash_are_not_paths() {
        for (path, says) in [
            ("~/lake", "/home/ann/lake"),
            ("~", "/home/ann/"),
            ("s3:/bucket/lake", "s3://bucket/lake"),
            ("gs:bucket", "gs://bucket"),
        ] {
            let text = refusal(Path::new(path));
            assert!(text.contains(&format!("the lake {path} ")) && text.contains(says), "{text}");
        }
        for path in ["./s3:/x", "lake~", "C:/lake", "no/such/folder"] {
            assert!(check_lake_path(Path::new(path), None).is_ok(), "{path}");
        }
    }

    #[test]
    fn a_folder_of_other_files_and_a_folder_inside_a_lake_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a place");
        let at = |name: &str| root.join(name);
        for made in ["lake/commits", "lake/snapshots/000001", "new/.git", "begun/state"] {
            create_dir_all(at(made)).expect("a folder");
        }
        write(at("new/README.md"), "").expect("a file");
        for good in ["lake", "new", "begun", "none"] {
            assert!(check_lake_path(&at(good), None).is_ok(), "{good}");
        }
        assert!(refusal(&at("lake/snapshots/000001")).contains("is inside the lake"));
        assert!(refusal(&at("lake/more/lakes")).contains(&at("lake").display().to_string()));
        write(at("new/thesis.docx"), "").expect("a file");
        assert!(refusal(&at("new")).contains("is a folder of other files"));
        assert!(refusal(&at("new/thesis.docx")).contains("is a file\nhint: give a folder"));
    }

    #[test]
    fn a_path_is_inside_of_the_lake_that_it_leads_into() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a place");
        let at = |name: &str| root.join(name);
        for made in ["a/commits", "a/snapshots/000001", "b", "deep/er"] {
            create_dir_all(at(made)).expect("a folder");
        }
        for (link, to) in [("deep/er/sl", "a"), ("in", "a/snapshots"), ("a/out", "b")] {
            std::os::unix::fs::symlink(at(to), at(link)).expect("a link");
        }
        for good in [
            "a",
            "deep/er/sl",
            "a/../b",
            "a/../new",
            "a/snapshots/..",
            "deep/er/sl/../b",
            "a/out",
            "no/a/../b",
        ] {
            assert_eq!(lake_around(&at(good)), None, "{good}");
        }
        for inside in
            ["a/new", "a/../a/new", "b/../a/snapshots", "deep/er/sl/new", "in", "in/new", "a/no/../new"]
        {
            assert_eq!(lake_around(&at(inside)), Some(at("a")), "{inside}");
        }
    }
}
