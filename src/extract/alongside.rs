//! Work that blocks, during which answers to requests under way are received.

use super::error::Result;
use super::fetch::PageFetcher;
use futures::StreamExt;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::oneshot;

/// Runs work that blocks on another thread, and reads during it. Returns once both have ended.
pub(super) async fn read_during<T: Send, R>(
    work: impl FnOnce() -> T + Send,
    read: impl Future<Output = R>,
) -> (T, R) {
    let runtime = Handle::current();
    if runtime.runtime_flavor() != RuntimeFlavor::MultiThread {
        return (work(), read.await);
    }
    tokio::task::block_in_place(|| {
        std::thread::scope(|scope| {
            let worker = scope.spawn(work);
            let read = runtime.block_on(read);
            (worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), read)
        })
    })
}

impl PageFetcher<'_> {
    /// Runs work that blocks. Requests under way are driven during it: an answer in time does not count as late.
    pub(crate) async fn alongside<T: Send>(&mut self, work: impl FnOnce() -> T + Send) -> Result<T> {
        if self.under_way.is_empty() {
            return Ok(work());
        }
        let (done, finished) = oneshot::channel();
        let work = || {
            let result = work();
            // No one listens after an error of the archive.
            let _ = done.send(());
            result
        };
        let (result, received) = read_during(work, self.receive_until(finished)).await;
        received.map(|()| result)
    }

    /// Receives answers until `finished` is sent or dropped.
    async fn receive_until(&mut self, mut finished: oneshot::Receiver<()>) -> Result<()> {
        loop {
            tokio::select! {
                biased;
                Some((came, outcome)) = self.under_way.next() => self.arrive(came, outcome, None)?,
                // An error means that the work panicked, which its thread reports.
                _ = &mut finished => return Ok(()),
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::client::{ApiKey, Bounds, Budget, Call, Client, ClientConfig, Ledger, StopSwitch};
    use crate::extract::error::StoreError;
    use crate::extract::fetch::{AnyAnswer, PageKey, PageStore, StoredPage};
    use jiff::Timestamp;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    /// An archive with one answer for each target, or none, that keeps nothing.
    struct Pages(Option<StoredPage>);

    impl PageStore for Pages {
        fn stored(&mut self, key: &PageKey) -> Result<Option<StoredPage>, StoreError> {
            Ok(self.0.clone().filter(|_| key.occurrence == 0))
        }

        fn keep(&mut self, _: &PageKey, _: u16, _: Timestamp, _: &[u8]) -> Result<(), StoreError> {
            Ok(())
        }
    }

    const NOW: fn() -> Timestamp = || Timestamp::UNIX_EPOCH;

    /// A client of no service.
    pub(in crate::extract) fn client(folder: &Path) -> Client {
        let (base_url, key) = ("http://127.0.0.1:1", ApiKey::parse("one").expect("a key"));
        let (_switch, stop) = StopSwitch::new();
        let budget = Budget::new(Ledger::of(folder, base_url, &key), NOW, Bounds::default(), stop);
        let config = ClientConfig { base_url: base_url.to_owned(), ..ClientConfig::default() };
        Client::new(config, key, budget, NOW).expect("a client")
    }

    #[tokio::test]
    async fn an_archived_answer_is_too_old_after_a_newer_one_that_nobody_wanted() {
        let folder = tempfile::tempdir().expect("a folder");
        let client = client(folder.path());
        let at = |second| Timestamp::from_second(second).expect("an instant");
        for (came, is_used) in [(3, true), (9, false)] {
            let mut pages = Pages(Some(StoredPage { status: 200, received_at: at(5), body: b"{}".to_vec() }));
            let mut fetcher = PageFetcher::new(&client, &mut pages, NOW, &|_, _| {});
            let key = PageKey { target: "/v1/me".to_owned(), occurrence: 0 };
            let answer = AnyAnswer { value: Box::new(()), body: b"{}".to_vec(), received_at: at(came) };
            fetcher.arrive(key, Ok(answer), None).expect("kept");
            fetcher.ask_newer().await.expect("nothing is under way");
            assert_eq!(fetcher.is_archived(&Call::stats()).expect("an archive"), is_used, "{came}");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn requests_under_way_are_answered_during_work_that_blocks() {
        let folder = tempfile::tempdir().expect("a folder");
        let client = client(folder.path());
        let (mut pages, is_answered) = (Pages(None), AtomicBool::new(false));
        let mut fetcher = PageFetcher::new(&client, &mut pages, NOW, &|_, _| {});
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
        assert!(
            fetcher.alongside(wait).await.expect("an archive"),
            "the answer came while the work waited for it"
        );
        assert!(fetcher.under_way.is_empty());
    }
}
