//! Links to public pages. Nearly all are one address around the document number or the id, and that is kept once.

use super::column::TextColumn;

/// The code of a link that is kept whole.
const WHOLE: u8 = 0;
/// Forms kept at most; a link is compared with each.
const MOST_FORMS: usize = 8;
/// A shorter text may stand in a link by chance.
const SHORTEST_MIDDLE: usize = 4;

/// What stands in the middle of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Middle {
    DocumentNumber,
    Id,
}

/// An address around a document number or an id.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Form {
    before: Box<str>,
    middle: Middle,
    after: Box<str>,
}

/// What a link may be made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) document_number: &'a str,
    pub(crate) id: &'a str,
}

impl Parts<'_> {
    const fn pick(&self, middle: Middle) -> &str {
        match middle {
            Middle::DocumentNumber => self.document_number,
            Middle::Id => self.id,
        }
    }
}

impl Form {
    fn fits(&self, url: &str, parts: Parts<'_>) -> bool {
        let between = url.strip_prefix(&*self.before).and_then(|rest| rest.strip_suffix(&*self.after));
        between == Some(parts.pick(self.middle))
    }

    /// The form of a link that holds the document number or the id.
    fn of(url: &str, parts: Parts<'_>) -> Option<Self> {
        [Middle::DocumentNumber, Middle::Id].into_iter().find_map(|middle| {
            let text = parts.pick(middle);
            let (before, after) = url.rsplit_once(text).filter(|_| text.len() >= SHORTEST_MIDDLE)?;
            Some(Self { before: before.into(), middle, after: after.into() })
        })
    }
}

/// The links of all rows.
#[derive(Debug, Default)]
pub(crate) struct UrlColumn {
    /// A row's form, counted from 1, or [`WHOLE`].
    codes: Vec<u8>,
    forms: Vec<Form>,
    /// Rows whose link is kept whole, in their order.
    whole_rows: Vec<u32>,
    whole: TextColumn,
}

impl UrlColumn {
    pub(crate) fn push(&mut self, url: &str, parts: Parts<'_>) {
        let known = self.forms.iter().position(|form| form.fits(url, parts));
        let code = known.map(code_of).or_else(|| self.add(Form::of(url, parts)?));
        match code {
            Some(code) => self.codes.push(code),
            None => self.push_whole(url),
        }
    }

    /// The link of a row.
    pub(crate) fn get(&self, row: u32, parts: Parts<'_>) -> String {
        let form =
            usize::from(self.codes[row as usize]).checked_sub(1).and_then(|place| self.forms.get(place));
        match form {
            Some(form) => [&form.before, parts.pick(form.middle), &form.after].concat(),
            None => {
                let place = self.whole_rows.partition_point(|whole| *whole < row);
                u32::try_from(place).map(|place| self.whole.get(place).to_owned()).unwrap_or_default()
            }
        }
    }

    /// Adds the links of another column after its own; `link` gives one in full.
    pub(crate) fn append(&mut self, other: &Self, link: impl Fn(u32) -> String) {
        let codes: Vec<Option<u8>> = other.forms.iter().map(|form| self.add(form.clone())).collect();
        self.codes.reserve(other.codes.len());
        for (row, code) in (0_u32..).zip(&other.codes) {
            match usize::from(*code).checked_sub(1).and_then(|place| codes[place]) {
                Some(code) => self.codes.push(code),
                None => self.push_whole(&link(row)),
            }
        }
    }

    /// The same links in another order.
    pub(crate) fn permuted(&self, order: &[u32]) -> Self {
        let mut sorted = Self { forms: self.forms.clone(), ..Self::default() };
        for row in order {
            match self.codes[*row as usize] {
                WHOLE => sorted.push_whole(&self.get(*row, Parts { document_number: "", id: "" })),
                code => sorted.codes.push(code),
            }
        }
        sorted
    }

    /// Memory it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.codes.capacity() + size_of::<u32>() * self.whole_rows.capacity() + self.whole.bytes()
    }

    /// The code of a form, which is new when the form is; `None` when there are forms enough.
    fn add(&mut self, form: Form) -> Option<u8> {
        if let Some(place) = self.forms.iter().position(|known| *known == form) {
            return Some(code_of(place));
        }
        (self.forms.len() < MOST_FORMS).then(|| {
            self.forms.push(form);
            code_of(self.forms.len() - 1)
        })
    }

    fn push_whole(&mut self, url: &str) {
        self.whole_rows.push(u32::try_from(self.codes.len()).unwrap_or(u32::MAX));
        self.whole.push(url);
        self.codes.push(WHOLE);
    }
}

/// Forms are far fewer than codes.
fn code_of(place: usize) -> u8 {
    u8::try_from(place + 1).unwrap_or(WHOLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [(&str, &str, &str); 6] = [
        ("https://a.example/fl/L26000000001", "L26000000001", "5000001"),
        ("https://a.example/fl/L26000000002", "L26000000002", "5000002"),
        ("https://b.example/5000003.html", "L26000000003", "5000003"),
        ("https://a.example/fl/another", "L26000000004", "5000004"),
        ("", "L26000000005", "5000005"),
        ("https://a.example/fl/L26000000006", "L26000000006", "5000006"),
    ];

    fn parts(row: u32) -> Parts<'static> {
        let (_, document_number, id) = ROWS[row as usize % ROWS.len()];
        Parts { document_number, id }
    }

    #[test]
    fn links_come_back_whole_in_any_order_and_appended() {
        let mut urls = UrlColumn::default();
        for (row, (url, ..)) in (0..).zip(ROWS) {
            urls.push(url, parts(row));
        }
        assert_eq!((urls.forms.len(), urls.whole_rows.as_slice()), (2, &[3, 4][..]));
        let turned = urls.permuted(&[5, 4, 3, 2, 1, 0]);
        let mut both = UrlColumn::default();
        both.append(&urls, |row| urls.get(row, parts(row)));
        both.append(&urls, |row| urls.get(row, parts(row)));
        for row in 0..6 {
            let (url, ..) = ROWS[row as usize];
            assert_eq!(urls.get(row, parts(row)), url);
            assert_eq!(turned.get(5 - row, parts(row)), url);
            assert_eq!(
                (both.get(row, parts(row)), both.get(row + 6, parts(row))),
                (url.to_owned(), url.to_owned())
            );
        }
    }

    #[test]
    fn more_forms_than_are_kept_are_kept_whole() {
        let (mut urls, mut others) = (UrlColumn::default(), UrlColumn::default());
        let link = |number: u32| format!("https://{number}.example/L26000000001");
        let parts = Parts { document_number: "L26000000001", id: "5000001" };
        for number in 0..20 {
            urls.push(&link(number), parts);
            others.push(&link(number + 20), parts);
        }
        urls.append(&others, |row| others.get(row, parts));
        assert!((0..40).all(|row| urls.get(row, parts) == link(row)));
    }
}
