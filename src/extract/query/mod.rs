//! TODO page.

pub mod histogram;
pub mod row_set;
pub mod slice;
pub mod split;
