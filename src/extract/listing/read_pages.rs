//! The pages of a day range. Their records stay in memory until they land, as long as they are few; else they come from the archive.

use crate::contract::records::{Records, Summaries};
use crate::extract::fetch::PageKey;
use jiff::Timestamp;

/// Memory of the records that are kept, about: 30,000 rows.
const MOST_BYTES: usize = 8 << 20;

#[derive(Debug)]
pub(crate) struct ReadPage {
    pub(crate) key: PageKey,
    /// When it came, and its records; none where they must be read from the archive.
    pub(crate) records: Option<(Timestamp, Summaries)>,
}

#[derive(Debug, Default)]
pub(crate) struct ReadPages {
    pub(crate) pages: Vec<ReadPage>,
    bytes: usize,
}

impl ReadPages {
    pub(crate) fn push(&mut self, key: PageKey, received_at: Timestamp, records: Records) {
        let records = match records {
            Records::Read(summaries) if self.bytes + summaries.bytes() <= MOST_BYTES => {
                self.bytes += summaries.bytes();
                Some((received_at, summaries))
            }
            _ => None,
        };
        self.pages.push(ReadPage { key, records });
    }
}
