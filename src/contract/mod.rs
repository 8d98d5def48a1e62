//! What the API document says, as types and rules, with no I/O and no clock.
//!
//! Client and server both stand on this floor and never on each other, so a rule is written once.
//!
//! | file | part of the API document |
//! | --- | --- |
//! | [`account`] | account record |
//! | [`business`] | summary, detail and officer records |
//! | [`count`] | daily, county and statewide counts |
//! | [`reference`](mod@reference) | entity types, industry lists |
//! | [`page`] | pagination block, `data` wrappers |
//! | [`plan`] | the limits table |
//! | [`eastern`] | day boundaries |
//! | [`error`] | error bodies |

pub mod account;
pub mod business;
pub mod count;
pub mod eastern;
pub mod error;
pub mod page;
pub mod plan;
pub mod reference;
