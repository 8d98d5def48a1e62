//! The page at `/docs`: the Markdown reference as HTML, under a form that sends a request.

use super::shell::{self, Page};
use crate::contract::endpoint::Endpoint;
use crate::contract::param::{Param, ParamKind, ParamLocation};
use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{Options, Parser};

/// The page of a reference in Markdown, which is the program's own text.
pub(crate) fn page(markdown: &str) -> Page {
    let mut reference = String::new();
    pulldown_cmark::html::push_html(&mut reference, Parser::new_ext(markdown, Options::ENABLE_TABLES));
    // A wide table scrolls by keyboard too.
    let reference = reference.replace("<table>", "<table tabindex=\"0\">");
    let content = html! {
        nav { a href="/" { "Search" } a href="#try" { "Try it" } a href="/docs.md" { "This page as Markdown" } a href="/openapi.json" { "OpenAPI" } }
        (PreEscaped(reference))
        (form())
    };
    shell::page("API reference", &content, include_str!("try.js"))
}

fn form() -> Markup {
    html! {
        form id="try" hidden {
            h2 { "Try it" }
            (shell::key_field())
            label { "Operation" select id="operation" {
                @for endpoint in Endpoint::ALL { option value=(endpoint.template()) { (endpoint) } }
            } }
            @for endpoint in Endpoint::ALL {
                fieldset.row data-path=(endpoint.template()) hidden {
                    @for param in endpoint.parameters() { label { (param.name) (field(param)) } }
                }
            }
            pre id="curl" {}
            button type="submit" { "Send" }
            p id="said" role="status" {}
            pre id="answer" tabindex="0" aria-label="Answer" {}
        }
    }
}

fn field(param: &Param) -> Markup {
    let place = if param.place == ParamLocation::Path { "path" } else { "query" };
    // Only what a path needs is filled in: each further filter would find less.
    let value = if place == "path" { param.example } else { "" };
    match param.kind {
        ParamKind::Choice(words) => html! {
            select name=(param.name) data-place=(place) {
                option value="" { "" }
                @for word in words { option { (word) } }
            }
        },
        _ => html! { input name=(param.name) data-place=(place) value=(value) placeholder=(param.example); },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_and_a_form_for_each_operation_are_on_the_page() {
        let page = page("# Title\n\n| a | b |\n| --- | --- |\n| `x` | y |\n");
        assert!(
            page.html.contains("<h1>Title</h1>") && page.html.contains("<code>x</code>"),
            "{}",
            page.html
        );
        assert_eq!(page.html.matches("<fieldset").count(), Endpoint::ALL.len());
        for param in Endpoint::ALL.into_iter().flat_map(Endpoint::parameters) {
            assert!(page.html.contains(&format!("name=\"{}\"", param.name)), "{}", param.name);
        }
    }
}
