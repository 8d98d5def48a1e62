//! Reads and checks a pipeline file. An error names the line.

use super::built_in;
use super::spec::{A_YEAR, AggregatesSpec, ChecksSpec, LARGEST_REGISTER, LONGEST_NAME, PipelineSpec};
use crate::aggregate::{AggregateError, check_aggregates, check_condition, load_aggregates};
use crate::contract::param::{MAX_LIMIT, MAX_OFFSET};
use crate::extract::reference::MAX_WINDOW;
use crate::pipeline::error::{PipelineError, Result, SpecError};
use std::io;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// A pipeline file read and checked.
#[derive(Debug, Clone)]
pub struct Pipeline {
    /// What it says.
    pub spec: PipelineSpec,
    /// Digest of what it reads. A run resumes only while this is unchanged; budget, checks, aggregates and report may change.
    pub(crate) digest: String,
    /// Its folder, which its own paths are relative to; none for a built-in pipeline.
    folder: Option<PathBuf>,
    pub(crate) path: PathBuf,
    text: String,
}

impl Pipeline {
    /// Reads a pipeline file.
    pub fn read(path: &Path) -> Result<Self, SpecError> {
        let text = std::fs::read_to_string(path).map_err(|source| unreadable(path, source))?;
        Self::of_text(path.to_owned(), Some(path.parent().map(Path::to_owned).unwrap_or_default()), text)
    }

    /// The built-in pipeline of this name, if there is one.
    pub(crate) fn built_in(name: &str) -> Option<Result<Self, SpecError>> {
        let text = built_in::pipeline(name)?.to_owned();
        Some(Self::of_text(PathBuf::from(format!("{name} (built in)")), None, text))
    }

    fn of_text(path: PathBuf, folder: Option<PathBuf>, text: String) -> Result<Self, SpecError> {
        let spec: PipelineSpec = toml::from_str(&text).map_err(|error| wrong(&path, &text, &error))?;
        if let Some(key) = list_as_section(&text) {
            let problem = format!("{key} is a section of keys, not a list");
            return Err(wrong_at(&path, &text, &key, problem));
        }
        check(&spec).map_err(|(key, problem)| wrong_at(&path, &text, key, problem))?;
        let mut digest = format!("{:?} {:?} {:?}", spec.source, spec.extract, spec.plan);
        if spec.registry.is_some() || spec.enrich.is_some() {
            digest.push_str(&format!(" {:?} {:?}", spec.registry, spec.enrich));
        }
        let digest = blake3::hash(digest.as_bytes()).to_hex().to_string();
        Ok(Self { spec, digest, folder, path, text })
    }

    /// The folder of its aggregates. None where the built-in ones run: for a built-in pipeline, and for a file that names no folder
    /// and has none next to it.
    fn aggregates_folder(&self) -> Option<PathBuf> {
        let spec = &self.spec.aggregates;
        let folder = self.folder.as_ref()?.join(&spec.folder);
        (spec.folder != AggregatesSpec::default().folder || folder.exists()).then_some(folder)
    }

    /// Adds the file to an error of its SQL; returns other errors unchanged.
    pub(crate) fn with_file(&self, error: PipelineError) -> PipelineError {
        let folder = self.aggregates_folder().unwrap_or_default();
        match error {
            PipelineError::Aggregate(error @ AggregateError::Condition { .. }) => {
                wrong_at(&self.path, &self.text, "enrich.where", error.to_string()).into()
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

/// A dotted key, and what is wrong with its value.
type WrongKey = (&'static str, String);

fn check_numbers(spec: &PipelineSpec) -> Result<(), WrongKey> {
    let given = &spec.plan;
    let bounds = [
        ("plan.rows_per_call", given.rows_per_call.map(u64::from), 1, u64::from(MAX_LIMIT)),
        ("plan.max_offset", given.max_offset.map(u64::from), 0, u64::from(MAX_OFFSET)),
        ("plan.window_days", given.window_days.map(u64::from), 1, u64::from(MAX_WINDOW)),
        ("budget.max_minutes", spec.budget.max_minutes, 0, A_YEAR),
    ];
    let wrong =
        bounds.into_iter().find(|(_, value, least, most)| value.is_some_and(|v| v < *least || v > *most));
    wrong.map_or(Ok(()), |(key, _, least, most)| {
        Err((key, format!("{} must be a whole number from {least} to {most}", last_word(key))))
    })
}

fn check_percents(checks: &ChecksSpec) -> Result<(), WrongKey> {
    let given = [
        ("checks.max_vanished_percent", checks.max_vanished_percent),
        ("checks.max_drop_percent", checks.max_drop_percent),
    ];
    let wrong = given.into_iter().find(|(_, percent)| !(0.0..=100.0).contains(percent));
    wrong.map_or(Ok(()), |(key, percent)| {
        Err((key, format!("{} must be a number from 0 to 100, and is {percent}", last_word(key))))
    })
}

fn last_word(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, word)| word)
}

fn check(spec: &PipelineSpec) -> Result<(), WrongKey> {
    let named = !spec.name.is_empty()
        && spec.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_');
    if !named {
        return Err(("name", "name must be lower-case letters, digits, - and _".to_owned()));
    }
    if spec.name.len() > LONGEST_NAME {
        return Err(("name", format!("name has {LONGEST_NAME} characters at most")));
    }
    check_numbers(spec)?;
    check_percents(&spec.checks)?;
    if spec.source.embedded && spec.source.base_url.is_some() {
        let problem = "one file reads the embedded API or that at base_url, not both; drop one of the two";
        return Err(("source.base_url", problem.to_owned()));
    }
    let sample = &spec.source.sample;
    if !(sample.scale > 0.0 && sample.scale <= 10.0) {
        return Err(("source.sample.scale", format!("scale {} is not between 0 and 10", sample.scale)));
    }
    if sample.days == 0 {
        return Err(("source.sample.days", "a sample has 1 day at least".to_owned()));
    }
    if sample.register > LARGEST_REGISTER {
        let problem = "a sample's register has 5,000,000 businesses at most";
        return Err(("source.sample.register", problem.to_owned()));
    }
    if spec.registry.is_some() && spec.enrich.is_some() {
        return Err(("enrich", "one file reads the register or looks businesses up, not both".to_owned()));
    }
    Ok(())
}

fn unreadable(path: &Path, source: io::Error) -> SpecError {
    let near = (source.kind() == io::ErrorKind::NotFound).then(|| nearest_file(path)).flatten();
    let hint = near.map(|near| format!("; did you mean {}?", near.display())).unwrap_or_default();
    SpecError::Unreadable { path: path.to_owned(), source, hint }
}

fn wrong(path: &Path, text: &str, error: &toml::de::Error) -> SpecError {
    let line = line_at(text, error.span().map_or(0, |span| span.start));
    let problem = error.message().to_owned();
    let hint = nearest(&problem).map(|word| format!("; did you mean `{word}`?")).unwrap_or_default();
    SpecError::Wrong { path: path.to_owned(), line, problem, hint }
}

/// The error of a key whose value breaks a rule, with its line.
fn wrong_at(path: &Path, text: &str, key: &str, problem: String) -> SpecError {
    let line = line_at(text, place_of(text, key));
    SpecError::Wrong { path: path.to_owned(), line, problem, hint: String::new() }
}

/// The line of a byte, from 1.
fn line_at(text: &str, place: usize) -> usize {
    text[..place.min(text.len())].matches('\n').count() + 1
}

/// The byte at which a key begins. For an absent key: its section's, or 0.
fn place_of(text: &str, key: &str) -> usize {
    let Ok(root) = DeTable::parse(text) else { return 0 };
    let (mut table, mut place) = (Some(root.get_ref()), 0);
    for word in key.split('.') {
        let Some((found, value)) = table.and_then(|table| table.get_key_value(word)) else { break };
        (table, place) = (value.get_ref().as_table(), found.span().start);
    }
    place
}

/// The key of a list in place of a section: serde would take its items for the section's keys, in their order.
fn list_as_section(text: &str) -> Option<String> {
    fn find(table: &DeTable<'_>, above: &str) -> Option<String> {
        table.iter().find_map(|(key, value)| {
            let path = format!("{above}{}", key.get_ref());
            match value.get_ref() {
                DeValue::Array(_) if path != "extract.types" => Some(path),
                DeValue::Table(section) => find(section, &format!("{path}.")),
                _ => None,
            }
        })
    }
    find(DeTable::parse(text).ok()?.get_ref(), "")
}

/// The right word nearest to the wrong one. Serde's message quotes the wrong word first, then the right ones.
fn nearest(problem: &str) -> Option<String> {
    if !problem.starts_with("unknown ") {
        return None;
    }
    let mut quoted = problem.split('`').skip(1).step_by(2);
    let wrong = quoted.next()?;
    nearest_of(wrong, quoted).map(str::to_owned)
}

/// The pipeline file of the same folder whose name is nearest to a missing one's.
fn nearest_file(path: &Path) -> Option<PathBuf> {
    let wrong = path.file_stem()?.to_str()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let files = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let names: Vec<String> = files
        .filter_map(|file| Some(file.file_name()?.to_str()?.strip_suffix(".toml")?.to_owned()))
        .collect();
    let near = nearest_of(wrong, names.iter().map(String::as_str))?;
    Some(path.with_file_name(format!("{near}.toml")))
}

/// The word that is nearest to a wrong one, if any is near.
pub(crate) fn nearest_of<'w>(wrong: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let scored = words.map(|word| (strsim::jaro_winkler(wrong, word), word));
    let (score, word) = scored.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (score > 0.6).then_some(word)
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
    if let Some(spec) = &pipeline.spec.enrich {
        check_condition(&spec.condition)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Pipeline, SpecError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("p.toml");
        std::fs::write(&path, text).expect("a file");
        Pipeline::read(&path)
    }

    #[test]
    fn a_wrong_key_names_its_line_and_the_nearest_right_one() {
        let error = read("name = \"p\"\n\n[budget]\nkeep_per_dya = 3\n").expect_err("a wrong key");
        let SpecError::Wrong { line: 4, hint, .. } = &error else { panic!("{error}") };
        assert!(hint.contains("did you mean `keep_per_day`?"), "{hint}");
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
            ("name = \"p\"\n[checks]\nmax_drop_percent = nan\n", 3, "from 0 to 100"),
            ("name = \"p\"\n[checks]\n\nmax_vanished_percent = 101\n", 4, "max_vanished_percent must be"),
            ("name = \"p\"\n[checks]\nmax_vanished_percent = -0.5\n", 3, "-0.5"),
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
        let pipeline =
            read("name = \"p\"\n[enrich]\nlimit = 1\nwhere = \"conty = 1\"\n").expect("a pipeline");
        let shown = |error| pipeline.with_file(PipelineError::Aggregate(error)).to_string();
        let condition =
            AggregateError::Condition { condition: "conty = 1".to_owned(), reason: "no".to_owned() };
        assert!(shown(condition).contains("p.toml, line 4: "));
        let unreadable = |path| {
            shown(AggregateError::Unreadable { path, source: io::Error::from(io::ErrorKind::NotFound) })
        };
        let folder = pipeline.folder.join("aggregates");
        let missing = unreadable(folder.clone());
        assert!(missing.contains("p.toml: ") && missing.ends_with("is not there"), "{missing}");
        assert!(unreadable(folder.join("mine.sql")).contains("mine.sql"));
        let (table, known) = ("no".to_owned(), "filings".to_owned());
        let named = shown(AggregateError::MissingTable { aggregate: "mine".to_owned(), table, known });
        assert!(named.contains(&folder.join("mine.sql").display().to_string()), "{named}");
    }
}
