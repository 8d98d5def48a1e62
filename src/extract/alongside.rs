//! Work that blocks, during which answers to requests under way are received.

use super::error::Result;
use super::fetch::PageFetcher;
use futures::StreamExt;
use futures::future::{Either, select};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::oneshot;

impl PageFetcher<'_> {
    /// Runs work that blocks, on another thread. Requests under way are driven during it: an answer in time does not count as late.
    pub(crate) fn alongside<T: Send>(&mut self, work: impl FnOnce() -> T + Send) -> Result<T> {
        let runtime = Handle::try_current().ok().filter(|runtime| {
            runtime.runtime_flavor() == RuntimeFlavor::MultiThread && !self.under_way.is_empty()
        });
        let Some(runtime) = runtime else { return Ok(work()) };
        tokio::task::block_in_place(|| {
            std::thread::scope(|scope| {
                let (done, finished) = oneshot::channel();
                let worker = scope.spawn(move || {
                    let result = work();
                    // No one listens after an error of the archive.
                    let _ = done.send(());
                    result
                });
                let received = runtime.block_on(self.receive_until(finished));
                let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                received.map(|()| result)
            })
        })
    }

    /// Receives answers until `finished` is sent or dropped.
    async fn receive_until(&mut self, mut finished: oneshot::Receiver<()>) -> Result<()> {
        loop {
            match select(self.under_way.next(), finished).await {
                Either::Left((Some((came, outcome)), rest)) => {
                    self.arrive(came, outcome, None)?;
                    finished = rest;
                }
                Either::Left((None, rest)) => {
                    // An error means that the work panicked, which its thread reports.
                    let _ = rest.await;
                    return Ok(());
                }
                Either::Right(_) => return Ok(()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{ApiKey, Bounds, Budget, Client, ClientConfig, Ledger, StopSwitch};
    use crate::extract::error::StoreError;
    use crate::extract::fetch::{AnyAnswer, PageKey, PageStore, StoredPage};
    use jiff::Timestamp;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    /// An archive that keeps nothing.
    struct NoPages;

    impl PageStore for NoPages {
        fn stored(&mut self, _: &PageKey) -> Result<Option<StoredPage>, StoreError> {
            Ok(None)
        }

        fn keep(&mut self, _: &PageKey, _: u16, _: Timestamp, _: &[u8]) -> Result<(), StoreError> {
            Ok(())
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn requests_under_way_are_answered_during_work_that_blocks() {
        let folder = tempfile::tempdir().expect("a folder");
        let (base_url, key) = ("http://127.0.0.1:1", ApiKey::parse("one").expect("a key"));
        let (_switch, stop) = StopSwitch::new();
        let now: fn() -> Timestamp = || Timestamp::UNIX_EPOCH;
        let budget = Budget::new(Ledger::of(folder.path(), base_url, &key), now, Bounds::default(), stop);
        let client = Client::new(ClientConfig::new(base_url), key, budget, now).expect("a client");
        let (mut pages, is_answered) = (NoPages, AtomicBool::new(false));
        let mut fetcher = PageFetcher::new(&client, &mut pages, now, &|_, _| {});
        let answered = &is_answered;
        fetcher.under_way.push(Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            answered.store(true, Ordering::SeqCst);
            let key = PageKey { target: "/v1/me".to_owned(), occurrence: 0 };
            let (value, body) = (Box::new(()), b"{}".to_vec());
            (key, Ok(AnyAnswer { value, body, received_at: Timestamp::UNIX_EPOCH }))
        }));
        let wait = || {
            (0..200).any(|_| {
                std::thread::sleep(Duration::from_millis(10));
                is_answered.load(Ordering::SeqCst)
            })
        };
        assert!(fetcher.alongside(wait).expect("an archive"), "the answer came while the work waited for it");
        assert!(fetcher.under_way.is_empty());
    }
}
