//! What the server counts about itself, for Prometheus. No key, no account, no query.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// Content type of [`Metrics::page`].
pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper bounds of the latency buckets, in seconds.
const LATENCY_BOUNDS: [f64; 14] =
    [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 10.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    route: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

/// Why a client was turned away before anything was done for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shed {
    /// As many connections as there may be.
    Connection,
    /// As many requests at work as there may be.
    Request,
}

/// What is counted.
#[derive(Debug)]
pub(super) struct Metrics {
    registry: Registry,
    answers: Family<Answered, Counter>,
    latency: Family<Route, Histogram, fn() -> Histogram>,
    shed: Family<Reason, Counter>,
    /// Requests whose answer has not been made yet, and whose client still waits.
    pub(super) in_flight: Gauge,
    /// Connections open now.
    pub(super) connections: Gauge,
    /// Connections whose bytes were no HTTP request.
    pub(super) malformed: Counter,
    /// Requests refused because a window of their account was full.
    pub(super) over_limit: Counter,
    /// New snapshots and key files that could not be taken up.
    pub(super) failed_reloads: Counter,
    snapshot: Gauge,
    rows: Gauge,
    index_bytes: Gauge,
    load_seconds: Gauge<f64, AtomicU64>,
}

/// An index just taken up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loaded {
    /// Number of the snapshot; 0 for an index that is none.
    pub(super) snapshot: i64,
    pub(super) rows: usize,
    pub(super) bytes: usize,
    pub(super) took: Duration,
}

/// One more in a gauge, until it is dropped: a task may end anywhere between.
#[must_use]
pub(super) struct Counted<'a>(&'a Gauge);

impl<'a> Counted<'a> {
    /// Counts one more from now on.
    pub(super) fn new(gauge: &'a Gauge) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// Everything at zero, in a registry of its own.
    pub(super) fn new(mut registry: Registry) -> Self {
        let constructor: fn() -> Histogram = || Histogram::new(LATENCY_BOUNDS);
        let metrics = Self {
            registry: Registry::default(),
            answers: Family::default(),
            latency: Family::new_with_constructor(constructor),
            shed: Family::default(),
            in_flight: Gauge::default(),
            connections: Gauge::default(),
            malformed: Counter::default(),
            over_limit: Counter::default(),
            failed_reloads: Counter::default(),
            snapshot: Gauge::default(),
            rows: Gauge::default(),
            index_bytes: Gauge::default(),
            load_seconds: Gauge::default(),
        };
        let own = registry.sub_registry_with_prefix("sunlake");
        own.register("requests", "Requests answered", metrics.answers.clone());
        own.register("request_seconds", "From head read to answer made", metrics.latency.clone());
        own.register("shed", "Clients turned away under load", metrics.shed.clone());
        own.register("requests_in_flight", "Requests being answered", metrics.in_flight.clone());
        own.register("connections", "Connections open", metrics.connections.clone());
        own.register("malformed", "Connections that sent no HTTP request", metrics.malformed.clone());
        own.register("over_limit", "Requests over a limit of their account", metrics.over_limit.clone());
        own.register(
            "failed_reloads",
            "Snapshots and key files not taken up",
            metrics.failed_reloads.clone(),
        );
        own.register("snapshot", "Number of the snapshot served", metrics.snapshot.clone());
        own.register("index_rows", "Businesses in the index", metrics.rows.clone());
        own.register("index_bytes", "Memory of the index", metrics.index_bytes.clone());
        own.register("index_load_seconds", "Time the index took to load", metrics.load_seconds.clone());
        Self { registry, ..metrics }
    }

    /// Counts an answer.
    pub(super) fn answered(&self, route: &'static str, status: u16, took: Duration) {
        self.answers.get_or_create(&Answered { route, status }).inc();
        self.latency.get_or_create(&Route { route }).observe(took.as_secs_f64());
    }

    /// Counts a client that was turned away.
    pub(super) fn shed(&self, what: Shed) {
        let reason = match what {
            Shed::Connection => "connections",
            Shed::Request => "requests",
        };
        self.shed.get_or_create(&Reason { reason }).inc();
    }

    /// Notes the index that is served from now on.
    pub(super) fn loaded(&self, index: Loaded) {
        let number = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        self.snapshot.set(index.snapshot);
        self.rows.set(number(index.rows));
        self.index_bytes.set(number(index.bytes));
        self.load_seconds.set(index.took.as_secs_f64());
    }

    /// Everything in the text form that Prometheus reads.
    pub(super) fn page(&self) -> String {
        let mut page = String::new();
        // Writing to a String cannot fail.
        let _ = encode(&mut page, &self.registry);
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_stands_on_the_page() {
        let metrics = Metrics::new(Registry::default());
        metrics.answered("/v1/me", 200, Duration::from_micros(300));
        metrics.answered("/v1/me", 429, Duration::from_micros(30));
        metrics.shed(Shed::Connection);
        metrics.connections.inc();
        metrics.loaded(Loaded { snapshot: 42, rows: 7, bytes: 1_000, took: Duration::from_millis(1_500) });
        let page = metrics.page();
        for line in [
            "sunlake_requests_total{route=\"/v1/me\",status=\"429\"} 1",
            "sunlake_request_seconds_bucket{le=\"0.00025\",route=\"/v1/me\"} 1",
            "sunlake_request_seconds_count{route=\"/v1/me\"} 2",
            "sunlake_shed_total{reason=\"connections\"} 1",
            "sunlake_connections 1",
            "sunlake_snapshot 42",
            "sunlake_index_rows 7",
            "sunlake_index_bytes 1000",
            "sunlake_index_load_seconds 1.5",
            "# EOF",
        ] {
            assert!(page.lines().any(|found| found == line), "{line} in\n{page}");
        }
    }
}
