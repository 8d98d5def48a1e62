//! Reads and checks a pipeline file.

use super::built_in;
use super::mistakes::{Mistake, place_of, read_spec};
use super::spec::{AggregatesSpec, ImportSpec, PipelineSpec};
use super::watch_list::read_watch_list;
use crate::aggregate::{AggregateError, check_aggregates, check_condition, load_aggregates};
use crate::contract::hint::{NEAR, nearest};
use crate::contract::id::DocumentNumber;
use crate::lake::{folder_of, is_address};
use crate::pipeline::error::{PipelineError, Result, SpecError};
use std::io;
use std::path::{Path, PathBuf};

/// A pipeline file read and checked.
#[derive(Debug, Clone)]
pub struct Pipeline {
    /// What it says.
    pub spec: PipelineSpec,
    /// Digest of what it reads. A run resumes only while this is unchanged; budget, checks, aggregates and report may change.
    pub(crate) digest: String,
    /// Its folder, which its own paths are relative to; none for a built-in pipeline.
    folder: Option<PathBuf>,
    /// The document numbers of its watch list.
    pub(crate) watch_list: Vec<DocumentNumber>,
    pub(crate) path: PathBuf,
    text: String,
}

impl Pipeline {
    /// Reads a pipeline file.
    pub fn read(path: &Path) -> Result<Self, SpecError> {
        let text = read_regular(path).map_err(|source| unreadable(path, source))?;
        Self::of_text(path.to_owned(), Some(path.parent().map(Path::to_owned).unwrap_or_default()), text)
    }

    /// The built-in pipeline of this name, if there is one.
    pub(crate) fn built_in(name: &str) -> Option<Result<Self, SpecError>> {
        let text = built_in::pipeline(name)?.to_owned();
        Some(Self::of_text(PathBuf::from(format!("{name} (built in)")), None, text))
    }

    /// What a command line names it by: its file, or the name of a built-in one.
    pub(crate) fn file_or_name(&self) -> String {
        if self.folder.is_some() { self.path.display().to_string() } else { self.spec.name.clone() }
    }

    fn of_text(path: PathBuf, folder: Option<PathBuf>, text: String) -> Result<Self, SpecError> {
        let wrong = |mistakes| SpecError::Wrong { path: path.clone(), mistakes };
        let spec = read_spec(&text).map_err(wrong)?;
        let watch_list = match spec.enrich.as_ref().and_then(|enrich| enrich.documents.as_ref()) {
            Some(list) => watch_list(&folder.clone().unwrap_or_default().join(list), &path, &text)?,
            None => Vec::new(),
        };
        let mut digest = format!("{:?} {:?} {:?}", spec.source, spec.extract, spec.plan);
        if spec.registry.is_some() || spec.enrich.is_some() {
            digest.push_str(&format!(" {:?} {:?} {watch_list:?}", spec.registry, spec.enrich));
        }
        if spec.import.is_some() {
            digest.push_str(&format!(" {:?}", spec.import));
        }
        let digest = blake3::hash(digest.as_bytes()).to_hex().to_string();
        Ok(Self { spec, digest, folder, watch_list, path, text })
    }

    /// A path in the pipeline file: relative to its folder, or to the current folder for a built-in pipeline.
    pub(crate) fn path_of(&self, path: &Path) -> PathBuf {
        self.folder.as_ref().map_or_else(|| path.to_owned(), |folder| folder.join(path))
    }

    /// The folder of the state's files: an absolute path, or the address of a prefix of an object store.
    pub(crate) fn import_folder(&self, spec: &ImportSpec) -> PathBuf {
        if spec.folder.to_str().is_some_and(is_address) {
            return spec.folder.clone();
        }
        let folder = self.path_of(&spec.folder);
        std::path::absolute(&folder).unwrap_or(folder)
    }

    /// The folder of its aggregates. None where the built-in ones run: for a built-in pipeline, and for a file that names no folder
    /// and has none next to it.
    fn aggregates_folder(&self) -> Option<PathBuf> {
        let spec = &self.spec.aggregates;
        let folder = self.folder.as_ref()?.join(&spec.folder);
        (spec.folder != AggregatesSpec::default().folder || folder.try_exists().unwrap_or(true))
            .then_some(folder)
    }

    /// Adds the file to an error of its SQL; returns other errors unchanged.
    pub(crate) fn with_file(&self, error: PipelineError) -> PipelineError {
        let folder = self.aggregates_folder().unwrap_or_default();
        match error {
            PipelineError::Aggregate(error @ AggregateError::Condition { .. }) => {
                let place = place_of(&self.text, "enrich.where");
                let mistake = Mistake::at(&self.text, place, error.to_string(), error.hint());
                SpecError::Wrong { path: self.path.clone(), mistakes: vec![mistake] }.into()
            }
            PipelineError::Aggregate(AggregateError::Unreadable { path, source })
                if path == folder && source.kind() == io::ErrorKind::NotFound =>
            {
                SpecError::NoAggregates { path: self.path.clone(), folder }.into()
            }
            PipelineError::Aggregate(error) => PipelineError::Aggregate(error.of_folder(&folder)),
            other => other,
        }
    }
}

/// The text of a file that is one: a pipe would be waited for without end.
pub(crate) fn read_regular(path: &Path) -> io::Result<String> {
    if std::fs::metadata(path)?.is_file() {
        std::fs::read_to_string(path)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
    }
}

/// The document numbers of a watch list that a pipeline file names.
fn watch_list(list: &Path, pipeline: &Path, text: &str) -> Result<Vec<DocumentNumber>, SpecError> {
    let numbers = read_regular(list).map_err(|error| {
        let error = error.to_string();
        // The words of the system's error without its number.
        let why = error.split(" (os error").next().unwrap_or_default();
        let problem = format!("cannot read the watch list {}: {why}", list.display());
        let hint = "write a file with one document number on each line".to_owned();
        let mistake = Mistake::at(text, place_of(text, "enrich.documents"), problem, Some(hint));
        SpecError::Wrong { path: pipeline.to_owned(), mistakes: vec![mistake] }
    })?;
    read_watch_list(&numbers).map_err(|mistakes| SpecError::Wrong { path: list.to_owned(), mistakes })
}

fn unreadable(path: &Path, source: io::Error) -> SpecError {
    let source = match source.kind() {
        io::ErrorKind::InvalidData => io::Error::other("it is not a text file"),
        _ => source,
    };
    let near = (source.kind() == io::ErrorKind::NotFound).then(|| nearest_pipeline(path)).flatten();
    let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    SpecError::Unreadable { path: path.to_owned(), source, hint }
}

/// The pipeline file of the same folder, or the built-in pipeline, whose name is nearest to a missing file's.
fn nearest_pipeline(path: &Path) -> Option<String> {
    let wrong = path.file_stem()?.to_str()?;
    let files =
        std::fs::read_dir(folder_of(path)).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let names: Vec<String> = files
        .filter_map(|file| Some(file.file_name()?.to_str()?.strip_suffix(".toml")?.to_owned()))
        .collect();
    // Of two names that are as near, the file's is the last, which is taken.
    let mut all: Vec<&str> = built_in::pipeline_names().collect();
    all.extend(names.iter().map(String::as_str));
    let near = nearest(wrong, all, NEAR)?;
    Some(if names.iter().any(|name| name == near) {
        path.with_file_name(format!("{near}.toml")).display().to_string()
    } else {
        format!("the built-in pipeline `{near}`")
    })
}

/// Names and SQL of the aggregates; none where the pipeline disables them.
pub(crate) fn aggregates_of(pipeline: &Pipeline) -> Result<Option<Vec<(String, String)>>> {
    match pipeline.aggregates_folder() {
        _ if !pipeline.spec.aggregates.enabled => Ok(None),
        Some(folder) => Ok(Some(load_aggregates(&folder)?)),
        None => Ok(Some(built_in::aggregates())),
    }
}

/// Runs the SQL of a pipeline on empty tables, so that errors show before a request is spent.
pub(crate) fn check_sql(pipeline: &Pipeline) -> Result<()> {
    check_aggregates(&aggregates_of(pipeline)?.unwrap_or_default())?;
    if let Some(condition) = pipeline.spec.enrich.as_ref().and_then(|enrich| enrich.condition.as_ref()) {
        check_condition(condition)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::spec::Days;
    use super::*;
    use crate::fuzz::try_changed;

    fn read(text: &str) -> Result<Pipeline, SpecError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("p.toml");
        std::fs::write(&path, text).expect("a file");
        Pipeline::read(&path)
    }

    #[test]
    fn what_is_not_said_has_its_usual_value() {
        let spec = read("name = \"p\"\n").expect("a pipeline").spec;
        assert_eq!(spec.extract.days, Days::Window);
        assert!(spec.aggregates.enabled && spec.report.enabled);
    }

    #[test]
    fn a_wrong_key_names_its_line_and_the_nearest_right_one() {
        let error = read("name = \"p\"\n\n[budget]\nkeep_per_dya = 3\n").expect_err("a wrong key");
        let SpecError::Wrong { mistakes, .. } = &error else { panic!("{error}") };
        let [mistake] = &mistakes[..] else { panic!("{error}") };
        assert_eq!((mistake.line, mistake.hint.as_deref()), (4, Some("did you mean `keep_per_day`?")));
        assert_eq!(mistake.excerpt, "  4 | keep_per_dya = 3\n    | ^^^^^^^^^^^^\n");
    }

    #[test]
    fn a_wrong_value_names_its_line() {
        let error = read("name = \"p\"\n[extract]\ndays = 0\n").expect_err("a wrong value").to_string();
        assert!(error.contains("line 3") && error.contains("window"), "{error}");
        let error = read("name = \"Bad Name\"\n").expect_err("a wrong name").to_string();
        assert!(error.contains("line 1"), "{error}");
    }

    #[test]
    fn a_value_that_breaks_a_rule_names_the_line_of_its_own_section() {
        for (text, line, says) in [
            ("name = \"p\"\n[extract]\ndays = 3\n[source.sample]\ndays = 0\n", 5, "1 day at least"),
            ("source = { sample = { scale = 11.0 } }\nname = \"p\"\n", 1, "between 0 and 10"),
            ("name = \"p\"\n[budget]\n\"max_minutes\" = 600_000\n", 3, "max_minutes must be"),
            ("name = \"p\"\n[budget]\nmax_minutes = 0\n", 3, "from 1 to 525600"),
            ("name = \"p\"\n[budget]\nmax_requests = 0\n", 3, "a whole number from 1"),
            ("name = \"p\"\n[extract]\ntypes = [\"llc\", \"corporation\", \"llc\"]\n", 3, "names llc twice"),
            ("name = \"p\"\n[budget]\nattempts = 0\n", 3, "attempts must be a whole number from 1"),
            ("name = \"p\"\n[source.sample]\nper_minute = 0\n", 3, "per_minute must be"),
            ("name = \"p\"\n[source.sample]\nper_day = 0\nper_month = 0\n", 4, "per_month must be"),
            ("name = \"p\"\n[enrich]\nwhere = \"TRUE\"\nlimit = 0\n", 4, "limit must be"),
            ("name = \"p\"\n[checks]\nmax_drop_percent = nan\n", 3, "from 0 to 100"),
            ("name = \"p\"\n[checks]\n\nmax_vanished_percent = 101\n", 4, "max_vanished_percent must be"),
            ("name = \"p\"\n[checks]\nmax_vanished_percent = -0.5\n", 3, "-0.5"),
            ("name = \"p\"\n[import]\nfolder = \"f\"\nmax_short_percent = 200\n", 4, "from 0 to 100"),
            ("name = \"p\"\n[source]\nsample = [7]\n", 3, "source.sample is a section of keys, not a list"),
            ("name = \"p\"\n[registry]\n[enrich]\nwhere = \"TRUE\"\n", 3, "not both"),
            ("name = \"p\"\n[source]\nembedded = true\nbase_url = \"https://a\"\n", 4, "drop one"),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.contains(&format!("line {line}: ")) && error.contains(says), "{error}");
        }
        read("name = \"p\"\n[checks]\nmax_vanished_percent = 0\nmax_drop_percent = 100\n").expect("bounds");
    }

    #[test]
    fn a_missing_file_names_the_nearest_of_its_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["daily.toml", "registry.toml", "dialy.txt"] {
            std::fs::write(folder.path().join(name), "").expect("a file");
        }
        let hint = |name: &str| match Pipeline::read(&folder.path().join(name)).expect_err(name) {
            SpecError::Unreadable { hint, .. } => hint,
            other => panic!("{other}"),
        };
        let daily = format!("did you mean {}?", folder.path().join("daily.toml").display());
        for name in ["dialy.toml", "daily"] {
            assert!(hint(name).ends_with(&daily), "{}", hint(name));
        }
        assert_eq!(hint("xyz.toml"), "");
    }

    #[test]
    fn an_error_in_sql_names_its_file() {
        let pipeline = read(
            "name = \"p\"\n[enrich]\nlimit = 1\nwhere = \"conty = 1\"\n[aggregates]\nfolder = \"sql\"\n",
        )
        .expect("a pipeline");
        let shown = |error| pipeline.with_file(PipelineError::Aggregate(error)).to_string();
        let condition = AggregateError::Condition(crate::aggregate::Refusal::default());
        assert!(shown(condition).contains("p.toml, line 4: "));
        let unreadable = |path| {
            shown(AggregateError::Unreadable { path, source: io::Error::from(io::ErrorKind::NotFound) })
        };
        let folder = pipeline.folder.clone().expect("a folder").join("sql");
        let missing = unreadable(folder.clone());
        assert!(missing.contains("p.toml: ") && missing.ends_with("is not there"), "{missing}");
        assert!(unreadable(folder.join("mine.sql")).contains("mine.sql"));
        let (table, hint) = ("no".to_owned(), None);
        let named = shown(AggregateError::MissingTable { aggregate: "mine".to_owned(), table, hint });
        assert!(named.contains(&folder.join("mine.sql").display().to_string()), "{named}");
    }

    #[test]
    fn a_long_line_is_shown_around_its_mistake_and_many_mistakes_in_part() {
        let text = format!("name = \"p\"\n# {}\n", "é\u{1}".repeat(5_000));
        let error = Pipeline::of_text(PathBuf::from("p.toml"), None, text).expect_err("mistakes");
        let SpecError::Wrong { mistakes, .. } = error else { panic!("{error}") };
        assert_eq!(mistakes.len(), 20);
        for Mistake { line, excerpt, .. } in &mistakes {
            assert!(*line == 2 && excerpt.chars().count() < 700, "{excerpt}");
            assert_eq!(excerpt.lines().nth(1).map(|carets| carets.matches('^').count()), Some(1));
        }
    }

    #[test]
    fn fuzz_of_pipeline_files() {
        let examples = ["sample", "daily", "registry", "enrich", "state"]
            .map(|name| built_in::pipeline(name).expect("a pipeline"));
        try_changed(&examples, |input| {
            let text = String::from_utf8_lossy(input).into_owned();
            let _ = Pipeline::of_text(PathBuf::from("p.toml"), None, text).map_err(|error| error.to_string());
        });
    }
}
