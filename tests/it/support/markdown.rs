//! The pages of the README and of `docs/`: their fenced blocks, headings and links.

use super::command::project;
use super::lake::files_below;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A page, by its path from the project's folder.
pub(crate) struct Page {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A fenced block.
#[derive(Clone)]
pub(crate) struct Block {
    /// The word after the fence.
    pub(crate) language: String,
    pub(crate) text: String,
    /// Lines of the page between the fences, from 0.
    pub(crate) lines: Range<usize>,
}

/// The README, then every page of `docs/`, by path.
pub(crate) fn pages() -> Vec<Page> {
    let docs = files_below(&project().join("docs"));
    let markdown = docs.into_iter().filter(|path| path.extension().is_some_and(|found| found == "md"));
    let paths: Vec<PathBuf> = [project().join("README.md")].into_iter().chain(markdown).collect();
    let page = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a page");
        let path = path.strip_prefix(project()).expect("a file of the project");
        Page { path: path.to_string_lossy().into_owned(), text }
    };
    paths.into_iter().map(page).collect()
}

impl Page {
    /// The fenced blocks, in order. Fences stand at the beginning of a line.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut open: Option<(String, usize)> = None;
        let lines: Vec<&str> = self.text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            assert!(
                !line.trim_start().starts_with("```") || line.starts_with("```"),
                "{}: {line}",
                self.path
            );
            let Some(info) = line.strip_prefix("```") else { continue };
            open = match open.take() {
                None => Some((info.trim().to_owned(), number + 1)),
                Some((language, first)) => {
                    let text = lines[first..number].iter().map(|line| format!("{line}\n")).collect();
                    blocks.push(Block { language, text, lines: first..number });
                    None
                }
            };
        }
        assert!(open.is_none(), "{}: a fence is not closed", self.path);
        blocks
    }

    /// The text without fenced blocks and inline code.
    fn prose(&self) -> String {
        let mut prose = String::new();
        let mut is_fenced = false;
        for line in self.text.lines() {
            is_fenced ^= line.starts_with("```");
            if !is_fenced && !line.starts_with("```") {
                prose.extend(line.split('`').step_by(2));
                prose.push('\n');
            }
        }
        prose
    }

    /// Where the page's links and images lead, addresses of the web apart.
    pub(crate) fn links(&self) -> Vec<String> {
        let prose = self.prose();
        let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        targets.filter(|target| !target.starts_with("http")).map(str::to_owned).collect()
    }

    /// The anchors of the page's headings.
    pub(crate) fn anchors(&self) -> Vec<String> {
        let mut anchors: Vec<String> = Vec::new();
        let mut is_fenced = false;
        for line in self.text.lines() {
            is_fenced ^= line.starts_with("```");
            let heading = line.trim_start_matches('#');
            if !is_fenced && heading.len() < line.len() && heading.starts_with(' ') {
                let anchor = anchor(heading.trim());
                let again = anchors.iter().filter(|known| **known == anchor).count();
                anchors.push(if again == 0 { anchor } else { format!("{anchor}-{again}") });
            }
        }
        anchors
    }

    /// The file that a link of this page leads to, from the project's folder.
    pub(crate) fn resolve(&self, link: &str) -> PathBuf {
        let mut path = Path::new(&self.path).parent().unwrap_or(Path::new("")).to_owned();
        for part in link.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part != ".." {
                path.push(part);
            } else {
                assert!(path.pop(), "{}: {link} leads out of the project", self.path);
            }
        }
        path
    }
}

/// The anchor of a heading: lower case, hyphens for spaces, no other marks.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
