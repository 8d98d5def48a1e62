//! A view: one index on one Eastern day, with the answers that change once a day.

use crate::contract::eastern::epoch_days;
use crate::contract::page::Data;
use crate::contract::plan::PlanLimits;
use crate::serve::index::Index;
use jiff::civil::Date;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;

/// An index, and the answers that are the same for every request of one Eastern day.
pub(super) struct View {
    pub(super) index: Arc<Index>,
    pub(super) today: Date,
    pub(super) counties: Vec<u8>,
    pub(super) county_of_key: HashMap<String, Vec<u8>>,
    pub(super) stats: Vec<u8>,
    pub(super) industries: Vec<u8>,
}

impl View {
    pub(super) fn new(index: Arc<Index>, today: Date) -> Self {
        let counts = index.county_counts(today);
        let county_of_key = counts.iter().map(|county| (county.key.clone(), data_json(county))).collect();
        Self {
            today,
            counties: data_json(&counts),
            county_of_key,
            stats: data_json(&index.stats(today)),
            industries: data_json(index.industries()),
            index,
        }
    }

    /// A digest of all that an answer depends on except the request: rows, day, limits of the plan, and release. Only the
    /// account record depends on more.
    pub(super) fn version(&self, limits: &PlanLimits) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
        hasher.update(&self.index.identity());
        hasher.update(&epoch_days(self.today).to_le_bytes());
        for number in [limits.rows_per_call, limits.max_offset, limits.window_days] {
            hasher.update(&number.to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

/// A single record or a list as the JSON of an answer.
pub(super) fn data_json(data: &impl Serialize) -> Vec<u8> {
    json(&Data { data })
}

/// A value as JSON. Writing to memory does not fail, and every key of our records is text.
pub(super) fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|_| b"null".to_vec())
}
