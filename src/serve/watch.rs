//! Work that a running server does again and again, each kind on its own: what hangs or fails delays nothing else.

use super::detached::detached;
use super::http::app::Site;
use super::rarely::Rarely;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// The pause between two polls.
const INTERVAL: Duration = Duration::from_secs(1);

/// One kind of work.
pub(crate) trait Watch: Send + Sync + 'static {
    /// For the log.
    const NAME: &'static str;
    /// How long a poll takes at most when all is well.
    const DEADLINE: Duration;

    /// Does the work once; blocking.
    fn poll(&self, site: &Site);

    /// Called after every deadline that a poll has passed, while the poll continues.
    fn late(&self, _: &Site) {}
}

/// Polls for ever. A poll that panics is followed by the next one.
pub(super) async fn watch<W: Watch>(watched: Arc<W>, site: Arc<Site>) {
    let lines = Rarely::once_a_minute();
    loop {
        sleep(INTERVAL).await;
        let (polled, of) = (Arc::clone(&watched), Arc::clone(&site));
        let mut poll = detached(move || polled.poll(&of));
        let ended = loop {
            match timeout(W::DEADLINE, &mut poll).await {
                Ok(ended) => break ended,
                Err(_) => {
                    watched.late(&site);
                    if lines.is_due(Instant::now()) {
                        tracing::warn!(task = W::NAME, deadline = ?W::DEADLINE, "a task of the server takes too long");
                    }
                }
            }
        };
        if ended.is_err() {
            site.metrics.failed_reloads.inc();
            tracing::error!(
                task = W::NAME,
                "a task of the server panicked; this is a bug; it is tried again"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::fixture::{generous, site};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    /// Panics once, and then hangs until it is freed.
    struct Troubled {
        polls: AtomicUsize,
        /// The number of polls so far.
        is_late: mpsc::Sender<usize>,
    }

    impl Watch for Troubled {
        const NAME: &'static str = "a test";
        const DEADLINE: Duration = Duration::from_millis(10);

        fn poll(&self, _: &Site) {
            assert!(self.polls.fetch_add(1, Ordering::Relaxed) > 0, "planted");
            std::thread::sleep(Duration::from_hours(1));
        }

        fn late(&self, _: &Site) {
            let _ = self.is_late.send(self.polls.load(Ordering::Relaxed));
        }
    }

    #[tokio::test]
    async fn a_panic_is_followed_by_another_poll_and_a_poll_that_hangs_is_late_again_and_again() {
        let (is_late, late) = mpsc::channel();
        let troubled = Arc::new(Troubled { polls: AtomicUsize::new(0), is_late });
        let site = Arc::new(site(generous(), &["data"]));
        let watching = tokio::spawn(watch(Arc::clone(&troubled), Arc::clone(&site)));
        // On a busy machine the first poll may be late, too.
        let seen =
            tokio::task::spawn_blocking(move || late.iter().filter(|polls| *polls == 2).take(3).count());
        assert_eq!(seen.await.expect("a thread"), 3);
        assert_eq!(troubled.polls.load(Ordering::Relaxed), 2);
        assert_eq!(site.metrics.failed_reloads.get(), 1);
        watching.abort();
        assert!(watching.await.expect_err("ended").is_cancelled(), "the end waits for no poll");
    }
}
