//! Drives the built binary the way a scheduler, an analyst and a client of the API do.
//!
//! One module a capability. `support/` starts programs, proxies requests, and reads lakes without any of
//! the program's own code.

#![expect(
    clippy::disallowed_methods,
    reason = "a test asks for presence; a failure to look fails the test anyway"
)]

mod aggregates;
mod api;
mod bad_answers;
mod catalogues;
mod command_line;
mod connections;
mod copies;
mod daily_listing;
mod damage;
mod delivery;
mod differential;
mod doctor;
mod documentation;
mod drift;
mod durability;
mod edits;
mod enrich;
mod exports;
mod faults;
mod fetch_state_files;
mod first_steps;
mod headers;
mod hostile_texts;
mod hours_of_serving;
mod keep;
mod key_leak;
mod keys;
mod lake_mistakes;
mod layers;
mod lives;
mod losses;
mod mcp;
mod memory;
mod midnight;
mod mistakes;
mod monitoring;
mod network;
mod network_store;
mod notebooks;
mod openapi;
mod operation;
mod pages;
mod plan_numbers;
mod python_package;
mod readers;
mod recipes;
mod reference_pages;
mod register;
mod register_changes;
mod report;
mod resume;
mod rules;
mod safety;
mod sample_run;
mod schema;
mod service;
mod settings;
mod shape;
mod shared_counts;
mod soak;
mod sql;
mod state_content;
mod state_files;
mod state_order;
mod store;
mod store_history;
mod store_promises;
mod support;
mod terminal;
mod tls;
mod troubleshooting;
mod truth;
mod verify;
mod ways;
