//! Changes as an Atom feed (RFC 4287).

use crate::contract::escape::steers;
use jiff::Timestamp;
use maud::{Markup, PreEscaped, html};
use serde_json::Value;

/// Entries of a feed, at most: readers of news load it again and again.
const MOST_ENTRIES: usize = 1000;

/// The feed of changes, newest first. `now` is its time if there are none.
pub(super) fn feed(changes: &[Value], now: Timestamp) -> String {
    let newest = changes.first().map_or_else(|| now.to_string(), |change| text(change, "observed_at"));
    let feed = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"))
        feed xmlns="http://www.w3.org/2005/Atom" {
            id { "urn:sunlake:changes" }
            title { "Changes of Florida business filings" }
            updated { (newest) }
            author { name { "sunlake" } }
            @for change in changes.iter().take(MOST_ENTRIES) { (entry(change)) }
        }
    };
    feed.into_string()
}

fn entry(change: &Value) -> Markup {
    let (id, field) = (&change["business_id"], text(change, "field"));
    let place = [text(change, "city_clean"), text(change, "county")];
    let place = place.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
    html! {
        entry {
            id { "urn:sunlake:" (text(change, "run_id")) ":" (text(change, "observed_on")) ":" (id) ":" (text(change, "change")) ":" (field) }
            title { (text(change, "name")) " " (text(change, "change")) }
            updated { (text(change, "observed_at")) }
            content type="text" {
                (text(change, "entity_type")) @if !place.is_empty() { ", " (place) }
                @if !field.is_empty() { "; " (field) ": " (text(change, "old")) " → " (text(change, "new")) }
            }
        }
    }
}

/// A text without characters that XML does not allow, not even escaped, and without those that turn its direction.
fn text(change: &Value, column: &str) -> String {
    let is_refused = |c: char| steers(c) && c != '\t' || matches!(c, '\u{fffe}' | '\u{ffff}');
    change[column].as_str().unwrap_or_default().replace(is_refused, " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_text_and_an_empty_feed_has_a_time() {
        let change = json!({
            "observed_at": "2026-11-20T11:00:00Z", "observed_on": "2026-11-20", "change": "changed", "name": "<script>A\u{1}& B</script> LLC",
            "entity_type": "llc", "county": "Bay", "field": "status", "old": "active", "new": null,
            "business_id": 7, "run_id": "r",
        });
        let feed_of_one = feed(&[change], Timestamp::UNIX_EPOCH);
        assert!(feed_of_one.contains("<title>&lt;script&gt;A &amp; B&lt;/script&gt; LLC changed</title>"));
        assert!(feed_of_one.contains("<id>urn:sunlake:r:2026-11-20:7:changed:status</id>"));
        assert!(feed(&[], Timestamp::UNIX_EPOCH).contains("<updated>1970-01-01T00:00:00Z</updated>"));
    }
}
