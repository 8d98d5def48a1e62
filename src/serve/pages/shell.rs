//! The frame of a page: its style, its script, and the policy that allows no other.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("page.css");
/// The key in the tab, and a request with it. In front of the script of each page.
const ASK: &str = include_str!("ask.js");

/// A page, and the value of its `Content-Security-Policy`.
pub(crate) struct Page {
    pub(crate) html: String,
    pub(crate) policy: String,
}

/// A page with this title, content and script.
pub(super) fn page(title: &str, content: &Markup, script: &str) -> Page {
    let script = format!("{ASK}{script}");
    let html = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (content) } script { (PreEscaped(&script)) } }
        }
    };
    let policy = format!(
        "default-src 'none'; style-src {}; script-src {}; connect-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'",
        hash(STYLE),
        hash(&script)
    );
    Page { html: html.into_string(), policy }
}

/// The source expression that allows one text.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// The field for the key, with what happens to it.
pub(super) fn key_field() -> Markup {
    html! {
        label { "API key" input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="flb_…"; }
        p.note { "The key stays in this tab. Each request counts for its account." }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_allows_the_style_and_the_script_of_the_page() {
        let page = page("a <b>", &html! { p { "x" } }, "let a = 1 < 2;\n");
        assert!(page.html.contains("<title>a &lt;b&gt;</title>"), "{}", page.html);
        let inside = |tag: &str| {
            let (_, after) = page.html.split_once(&format!("<{tag}>")).expect("a tag");
            after.split_once(&format!("</{tag}>")).expect("its end").0
        };
        for (tag, of) in [("style", "style-src"), ("script", "script-src")] {
            assert!(page.policy.contains(&format!("{of} {};", hash(inside(tag)))), "{}", page.policy);
        }
        assert_eq!(
            hash("abc"),
            "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='",
            "the standard's example"
        );
    }
}
