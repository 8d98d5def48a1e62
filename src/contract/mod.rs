//! What the API document says, as types and rules, with no I/O and no clock.
//!
//! Client and server both stand on this floor and never on each other, so a rule is written once.
//!
//! | file | part of the API document |
//! | --- | --- |
//! | [`account`] | account record |
//! | [`business`] | summary, detail and officer records |
//! | [`count`] | daily, county and statewide counts |
//! | [`county`](mod@county) | the 67 counties |
//! | [`reference`](mod@reference) | entity types, industry lists |
//! | [`page`] | pagination block, `data` wrappers |
//! | [`plan`] | the limits table |
//! | [`eastern`] | day boundaries |
//! | [`error`] | error bodies |
//! | [`id`] | identifiers and their forms |
//! | [`listing`] | listings by type |
//! | [`endpoint`] | the twelve operations |
//! | [`param`] | the one table of parameters |
//! | [`argument`] | the parameters of one request, read |
//! | [`query`] | query strings, taken apart and put together |
//! | [`search`] | the search of businesses and its rules |
//! | [`daily`] | days and dates of the daily endpoints |
//! | [`usage`] | requests used in each window |

pub mod account;
pub mod argument;
pub mod business;
pub mod count;
pub mod county;
pub mod daily;
pub mod eastern;
pub mod endpoint;
pub mod error;
pub mod id;
pub mod listing;
pub mod page;
pub mod param;
pub mod plan;
pub mod query;
pub mod reference;
pub mod search;
pub mod usage;
