//! The counts in a store, and the connection to it.
//!
//! A request never connects and never waits for a connection: while there is none, its answer is 503 at once. So no requests pile up behind
//! a store that hangs. One task connects again, and the first call on a new connection counts a request of nobody: a store that can be
//! read but not written is not used.
//!
//! A call without an answer may have counted, so it is not sent again.

use super::address::StoreAddress;
use super::fault::Fault;
use super::script::call;
use crate::contract::plan::{Plan, PlanLimits};
use crate::serve::auth::counted::{Admission, CountNotKept, MeterError, UsageMetrics, Use};
use crate::serve::rarely::Rarely;
use arc_swap::ArcSwapOption;
use jiff::Timestamp;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::sleep;

/// How long a connection may take. No request waits for it.
const CONNECT_PATIENCE: Duration = Duration::from_secs(2);
/// The pause between two looks at a store that can be used.
const LOOK_PAUSE: Duration = Duration::from_secs(1);
/// The pause between two attempts to connect.
const RETRY_PAUSE: Duration = Duration::from_millis(250);
/// The account of the requests that look whether the store can be used.
const NOBODY: &str = "";

/// The counts of every account, in a store.
#[derive(Debug)]
pub(crate) struct SharedCounts {
    address: StoreAddress,
    client: Client,
    /// `None` while the store cannot be used.
    connection: ArcSwapOption<MultiplexedConnection>,
    /// Wakes the task that connects.
    lost: Notify,
    metrics: UsageMetrics,
    warnings: Rarely,
    returns: Rarely,
    /// Whether requests are counted at the time of their caller: a test.
    pub(super) is_time_given: bool,
}

impl SharedCounts {
    /// The counts in a store, without a connection yet.
    pub(in crate::serve) fn new(address: StoreAddress, metrics: UsageMetrics) -> Result<Self, MeterError> {
        let client = address.connection_info().and_then(Client::open);
        let client = client.map_err(|error| MeterError::Store(address.to_string(), error.to_string()))?;
        metrics.store_unusable.set(1);
        Ok(Self {
            address,
            client,
            connection: ArcSwapOption::empty(),
            lost: Notify::new(),
            metrics,
            warnings: Rarely::once_a_minute(),
            returns: Rarely::once_a_minute(),
            is_time_given: false,
        })
    }

    pub(in crate::serve::auth) fn is_usable(&self) -> bool {
        self.connection.load().is_some()
    }

    /// Counts a request.
    pub(in crate::serve::auth) async fn count(&self, used: Use<'_>) -> Result<Admission, CountNotKept> {
        let Some(connection) = self.connection.load_full() else {
            self.metrics.failures.inc();
            return Err(CountNotKept);
        };
        match call(used, self.is_time_given, &connection).await {
            Ok((counted, is_reset)) => {
                if is_reset {
                    self.metrics.note_reset(used.account);
                }
                Ok(counted)
            }
            Err(fault) => {
                self.metrics.failures.inc();
                self.failed(&connection, &fault);
                Err(CountNotKept)
            }
        }
    }

    /// Drops the connection of a call that failed, unless it is replaced already.
    fn failed(&self, connection: &Arc<MultiplexedConnection>, fault: &Fault) {
        self.warn(fault);
        if fault.is_of_account() {
            return;
        }
        let current = self.connection.compare_and_swap(connection, None);
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, connection)) {
            self.metrics.store_unusable.set(1);
            self.lost.notify_one();
        }
    }

    fn warn(&self, fault: &Fault) {
        if self.warnings.is_due(Instant::now()) {
            tracing::warn!(store = %self.address, error = %fault, "the store of the request counts cannot be used; requests get 503 until it can");
        }
    }

    /// Connects for the first time. Fails where the store answers that the settings are wrong; a store that cannot be reached is a warning.
    pub(in crate::serve::auth) async fn begin(&self, now: Timestamp) -> Result<(), MeterError> {
        match self.connect(now).await {
            Ok(()) => Ok(()),
            Err(fault) if fault.is_of_settings() => {
                Err(MeterError::Store(self.address.to_string(), fault.to_string()))
            }
            Err(fault) => {
                self.warn(&fault);
                Ok(())
            }
        }
    }

    /// Connects when the connection is lost, for ever. Looks at the store every second, with requests or without.
    pub(in crate::serve::auth) async fn stay_connected(&self, now: impl Fn() -> Timestamp) {
        loop {
            let Some(connection) = self.connection.load_full() else {
                match self.connect(now()).await {
                    Ok(()) if self.returns.is_due(Instant::now()) => {
                        tracing::warn!(store = %self.address, "the store of the request counts can be used");
                    }
                    Ok(()) => {}
                    Err(fault) => {
                        self.warn(&fault);
                        sleep(RETRY_PAUSE).await;
                    }
                }
                continue;
            };
            tokio::select! {
                () = sleep(LOOK_PAUSE) => {
                    // Refused, so nothing is written.
                    if let Err(fault) = self.look(&connection, now(), 0).await {
                        self.failed(&connection, &fault);
                    }
                }
                () = self.lost.notified() => {}
            }
        }
    }

    /// Makes a connection on which a request can be counted.
    async fn connect(&self, now: Timestamp) -> Result<(), Fault> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_PATIENCE))
            .set_response_timeout(None);
        let connecting = self.client.get_multiplexed_async_connection_with_config(&config);
        // The client bounds the parts; this bounds all of them.
        let connection =
            tokio::time::timeout(CONNECT_PATIENCE, connecting).await.map_err(|_| Fault::Late)??;
        self.look(&connection, now, u32::MAX).await?;
        self.connection.store(Some(Arc::new(connection)));
        self.metrics.store_unusable.set(0);
        Ok(())
    }

    /// Counts a request of nobody, under a limit.
    async fn look(
        &self,
        connection: &MultiplexedConnection,
        now: Timestamp,
        limit: u32,
    ) -> Result<(), Fault> {
        let requests = Plan::Starter.limits();
        let limits = PlanLimits { per_minute: limit, per_day: limit, per_month: limit, ..requests };
        let of_nobody = Use { account: NOBODY, key: NOBODY, now, limits: &limits };
        call(of_nobody, self.is_time_given, connection).await.map(|_| ())
    }
}
