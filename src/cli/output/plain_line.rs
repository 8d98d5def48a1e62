//! A line of a terminal that is drawn again without escape codes, for `NO_COLOR`.

use console::Term;
use indicatif::TermLike;
use std::io;

/// The line of stderr. The bar never moves to another one.
#[derive(Debug)]
pub(super) struct PlainLine(pub(super) Term);

impl TermLike for PlainLine {
    fn width(&self) -> u16 {
        self.0.size().1
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.0.write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    /// Writes spaces over the line.
    fn clear_line(&self) -> io::Result<()> {
        self.0.write_str(&format!("\r{:width$}\r", "", width = usize::from(self.width())))
    }

    fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }
}
