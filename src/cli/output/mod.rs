//! What a person or a program reads: results on stdout, errors, log and progress on stderr.
//!
//! # Files, in reading order
//!
//! - `words`: results on stdout, numbers with their nouns, and lists
//! - `error_text`: an error with its causes and its hint
//! - `log`: the log on stderr, and the log file of a run
//! - `lossy_lines`: the log of a server, which waits for no reader
//! - `metrics_file`: the metrics of a run, as a file
//! - `terminal`: what the terminal allows
//! - `progress_line`: the words of progress
//! - `plain_line`: the line of the bar without escape codes
//! - `progress`: the progress bar, and log lines next to it

pub(super) mod error_text;
pub(super) mod log;
mod lossy_lines;
pub(super) mod metrics_file;
mod plain_line;
pub(super) mod progress;
mod progress_line;
pub(super) mod terminal;
pub(super) mod words;
