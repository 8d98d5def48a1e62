//! Metrics of the server, for Prometheus. They contain no key, account or query.

use super::auth::UsageMetrics;
use super::index::Index;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper bounds of the latency buckets, in seconds.
const LATENCY_BOUNDS: [f64; 14] =
    [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 10.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    route: &'static str,
    status: u16,
}

/// The one label of a metric: its name and value.
type Label = [(&'static str, &'static str); 1];

#[derive(Debug)]
pub(super) struct Metrics {
    registry: Registry,
    answers: Family<Answered, Counter>,
    latency: Family<Label, Histogram, fn() -> Histogram>,
    shed: Family<Label, Counter>,
    /// Requests without an answer yet, whose clients are still connected.
    pub(super) in_flight: Gauge,
    pub(super) connections: Gauge,
    /// Connections that sent no valid HTTP request.
    pub(super) malformed: Counter,
    /// Requests without a valid key.
    pub(super) refused_keys: Counter,
    pub(super) over_limit: Counter,
    /// New snapshots, key files and certificates that could not be loaded.
    pub(super) failed_reloads: Counter,
    pub(super) usage: UsageMetrics,
    /// 1 while the key file cannot be used.
    pub(super) key_file_unread: Gauge,
    /// 1 while the newest snapshot cannot be found or loaded.
    pub(super) reload_failing: Gauge,
    /// Age of the newest data served.
    pub(super) snapshot_age: Gauge,
    /// 1 while the files of the certificate cannot be used.
    pub(super) certificate_refused: Gauge,
    snapshot: Gauge,
    rows: Gauge,
    index_bytes: Gauge,
    load_seconds: Gauge<f64, AtomicU64>,
}

/// Increments a gauge until it is dropped, also when its task is cancelled.
#[must_use]
pub(super) struct Counted<'a>(&'a Gauge);

impl<'a> Counted<'a> {
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
    /// With the count of log lines that nobody read.
    pub(super) fn new(lines_dropped: Counter) -> Self {
        let mut registry = Registry::default();
        let own = registry.sub_registry_with_prefix("sunlake");
        let constructor: fn() -> Histogram = || Histogram::new(LATENCY_BOUNDS);
        add(own, "log_lines_dropped", "Log lines that nobody read", lines_dropped);
        let latency = Family::new_with_constructor(constructor);
        Self {
            answers: new(own, "requests", "Requests answered"),
            latency: add(own, "request_seconds", "From head read to answer made", latency),
            shed: new(own, "shed", "Clients refused under overload"),
            in_flight: new(own, "requests_in_flight", "Requests being answered"),
            connections: new(own, "connections", "Connections open"),
            malformed: new(own, "malformed", "Connections that sent no HTTP request"),
            refused_keys: new(own, "refused_keys", "Requests without a valid key"),
            over_limit: new(own, "over_limit", "Requests over a limit of their account"),
            failed_reloads: new(own, "failed_reloads", "Reloads that failed"),
            usage: usage(own),
            key_file_unread: new(own, "key_file_unread", "1 while the key file cannot be used"),
            reload_failing: new(
                own,
                "reload_failing",
                "1 while the newest snapshot cannot be found or loaded",
            ),
            snapshot_age: new(own, "snapshot_age_seconds", "Time since the newest data served was read"),
            certificate_refused: new(
                own,
                "certificate_refused",
                "1 while the files of the TLS certificate cannot be used",
            ),
            snapshot: new(own, "snapshot", "Number of the snapshot served"),
            rows: new(own, "index_rows", "Businesses in the index"),
            index_bytes: new(own, "index_bytes", "Memory of the index"),
            load_seconds: new(own, "index_load_seconds", "Time the index took to load"),
            registry,
        }
    }

    pub(super) fn answered(&self, route: &'static str, status: u16, took: Duration) {
        self.answers.get_or_create(&Answered { route, status }).inc();
        self.latency.get_or_create(&[("route", route)]).observe(took.as_secs_f64());
    }

    /// Counts a refusal under overload, of `connections` or `requests`.
    pub(super) fn shed(&self, reason: &'static str) {
        self.shed.get_or_create(&[("reason", reason)]).inc();
    }

    /// Records the index that is served now. Its snapshot is 0 for a folder without a number.
    pub(super) fn loaded(&self, index: &Index, took: Duration) {
        let number = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        self.snapshot.set(index.snapshot.map_or(0, |number| i64::try_from(number).unwrap_or(i64::MAX)));
        self.rows.set(number(index.rows()));
        self.index_bytes.set(number(index.bytes()));
        self.load_seconds.set(took.as_secs_f64());
    }

    /// The metrics in the text format of Prometheus.
    pub(super) fn page(&self) -> String {
        let mut page = String::new();
        // Writing to a String cannot fail.
        let _ = encode(&mut page, &self.registry);
        page
    }
}

fn usage(own: &mut Registry) -> UsageMetrics {
    UsageMetrics {
        failures: new(own, "usage_write_failures", "Writes of request counts that failed"),
        resets: new(own, "usage_resets", "Request counts of days to come that were reset"),
        store_unusable: new(
            own,
            "usage_store_unusable",
            "1 while the store of shared request counts cannot be used",
        ),
    }
}

fn new<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    add(registry, name, help, M::default())
}

fn add<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: M) -> M {
    registry.register(name, help, metric.clone());
    metric
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_on_the_page() {
        let metrics = Metrics::new(Counter::default());
        metrics.answered("/v1/me", 200, Duration::from_micros(300));
        metrics.answered("/v1/me", 429, Duration::from_micros(30));
        metrics.shed("connections");
        metrics.connections.inc();
        let index = Index { snapshot: Some(42), ..crate::serve::fixture::index() };
        metrics.loaded(&index, Duration::from_millis(1_500));
        let page = metrics.page();
        for line in [
            "sunlake_requests_total{route=\"/v1/me\",status=\"429\"} 1",
            "sunlake_request_seconds_bucket{le=\"0.00025\",route=\"/v1/me\"} 1",
            "sunlake_request_seconds_count{route=\"/v1/me\"} 2",
            "sunlake_shed_total{reason=\"connections\"} 1",
            "sunlake_connections 1",
            "sunlake_snapshot 42",
            "sunlake_index_rows 9",
            &format!("sunlake_index_bytes {}", index.bytes()),
            "sunlake_index_load_seconds 1.5",
            "# EOF",
        ] {
            assert!(page.lines().any(|found| found == line), "{line} in\n{page}");
        }
    }
}
