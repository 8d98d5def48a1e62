//! The figures of the run.

use super::data::RunFacts;
use super::number::{count, span};
use maud::{Markup, html};

pub(super) fn run(run: &RunFacts) -> Markup {
    html! {
        section id="run" {
            h2 { "This run" }
            div.facts {
                (fact("outcome", &run.outcome))
                (fact("pipeline", &run.pipeline))
                (fact("ran as", &run.today.to_string()))
                (fact("requests", &count(run.requests_sent)))
                (fact("retried", &count(run.requests_retried)))
                (fact("quarantined records", &count(run.quarantined)))
                @if let Some(register) = &run.register {
                    (fact("prefixes read", &count(register.starts)))
                    (fact("prefixes left", &count(register.left)))
                    (fact("businesses found under them", &count(register.rows)))
                    (fact("businesses, as the API counts", &count(register.businesses_total)))
                    @if let Some(missing) = register.missing { (fact("of these not in the lake", &missing.to_string())) }
                }
                @if let Some((done, chosen)) = run.looked_up {
                    (fact("looked up", &format!("{} of {}", count(done), count(chosen))))
                }
                (fact("took", &span(run.elapsed_secs)))
                (fact("run", &run.run_id))
            }
            (rows(run))
            (requests(run))
            (incomplete(run))
        }
    }
}

fn fact(name: &str, value: &str) -> Markup {
    html! { div { span.name { (name) } span.value { (value) } } }
}

fn rows(run: &RunFacts) -> Markup {
    html! {
        @if run.rows.is_empty() {
            p.note { "No rows were read: nothing to show." }
        } @else {
            div.wide { table {
                caption { "Rows by table" }
                thead { tr { th { "table" } @for name in ["read", "added", "changed", "vanished", "now in the lake"] { th.number { (name) } } } }
                tbody { @for table in &run.rows { tr {
                    th scope="row" { (table.table) }
                    @for number in [table.read, table.added, table.changed, table.vanished, table.total] {
                        td.number { (count(number)) }
                    }
                } } }
            } }
        }
    }
}

fn requests(run: &RunFacts) -> Markup {
    html! {
        @if !run.requests_by_stage.is_empty() {
            div.wide { table {
                caption { "Requests by stage" }
                thead { tr { th { "stage" } th.number { "requests" } } }
                tbody { @for (stage, requests) in &run.requests_by_stage {
                    tr { th scope="row" { (stage) } td.number { (count(*requests)) } }
                } }
            } }
        }
    }
}

fn incomplete(run: &RunFacts) -> Markup {
    html! {
        @if !run.incomplete.is_empty() {
            details open[run.incomplete.len() <= 10] {
                summary { "Days this run could not prove complete: " (run.incomplete.len()) }
                ul { @for day in &run.incomplete {
                    li { (day.day) ": " (count(day.landed)) " of " (count(day.expected)) " rows" }
                } }
            }
        }
    }
}
