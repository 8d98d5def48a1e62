//! The distinct texts of a column, sorted without regard to case: "equal" and "begins with" are ranges of codes.

use super::case_fold::{compare_folded, compare_prefix, compare_with_folded};
use super::column::CodedColumn;
use serde::Serialize;
use std::cmp::Ordering;
use std::ops::Range;

/// Texts by code. Texts that differ in case alone are neighbours.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    texts: Vec<Box<str>>,
    json: Vec<Box<str>>,
}

impl Dictionary {
    /// The texts of a column, and for each code of the column its new code.
    pub(crate) fn sorted(column: &CodedColumn) -> (Self, Vec<u32>) {
        let values = &column.values;
        let mut order: Vec<u32> = (0_u32..).take(values.len()).collect();
        let text = |code: u32| &*values[code as usize];
        order
            .sort_unstable_by(|a, b| compare_folded(text(*a), text(*b)).then_with(|| text(*a).cmp(text(*b))));
        let mut code_of = vec![0; order.len()];
        for (new, old) in (0_u32..).zip(&order) {
            code_of[*old as usize] = new;
        }
        (Self::of(order.iter().map(|code| text(*code).into()).collect()), code_of)
    }

    /// A dictionary of these texts, in the caller's order.
    pub(crate) fn of(texts: Vec<Box<str>>) -> Self {
        let json = texts.iter().map(|text| json_text(text).into()).collect();
        Self { texts, json }
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(crate) fn texts(&self) -> impl ExactSizeIterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }

    pub(crate) fn json(&self, code: u32) -> &[u8] {
        self.json[code as usize].as_bytes()
    }

    /// The codes of the texts that equal a folded text.
    pub(crate) fn equal_to(&self, folded: &str) -> Range<u32> {
        self.range(|text| compare_with_folded(text, folded))
    }

    /// The codes of the texts that begin with a folded prefix.
    pub(crate) fn with_prefix(&self, folded: &str) -> Range<u32> {
        self.range(|text| compare_prefix(text, folded))
    }

    /// The code of exactly this text.
    pub(crate) fn exactly(&self, text: &str) -> Option<u32> {
        let place = self.texts.iter().position(|known| &**known == text)?;
        u32::try_from(place).ok()
    }

    pub(crate) fn bytes(&self) -> usize {
        let lists = [&self.texts, &self.json];
        lists.into_iter().flatten().map(|text| text.len() + size_of::<Box<str>>()).sum()
    }

    fn range(&self, order: impl Fn(&str) -> Ordering) -> Range<u32> {
        let start = self.texts.partition_point(|text| order(text) == Ordering::Less);
        let end = self.texts.partition_point(|text| order(text) != Ordering::Greater);
        let code = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        code(start)..code(end)
    }
}

/// A value as JSON. Writing to memory does not fail, and every key of our records is text.
pub(crate) fn json_text(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_prefix_and_by_full_text_in_any_case() {
        let mut column = CodedColumn::default();
        let texts = ["Tampa", "miami", "TAMPA", "Tam", "", "Miami \"Beach\""];
        column.extend(texts, 0..texts.len());
        let (dictionary, code_of) = Dictionary::sorted(&column);
        let text = |code: u32| &*dictionary.texts[code as usize];
        for (old, value) in column.values.iter().enumerate() {
            assert_eq!(text(code_of[old]), &**value);
        }
        let found = |range: Range<u32>| range.map(text).collect::<Vec<_>>();
        assert_eq!(found(dictionary.equal_to("tampa")), ["TAMPA", "Tampa"]);
        assert_eq!(found(dictionary.with_prefix("tam")), ["Tam", "TAMPA", "Tampa"]);
        assert_eq!(found(dictionary.equal_to("nowhere")), [""; 0]);
        assert_eq!(dictionary.exactly("Tampa").map(text), Some("Tampa"));
        assert_eq!(dictionary.exactly("tampa"), None);
        let quoted = dictionary.with_prefix("miami ").start;
        assert_eq!(dictionary.json(quoted), br#""Miami \"Beach\"""#);
    }
}
