//! Blocking work on a thread of its own.

use tokio::sync::oneshot;

/// Runs blocking work on a thread that nobody waits for when the server ends. A panic closes the channel.
pub(super) fn detached<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> oneshot::Receiver<T> {
    let (done, result) = oneshot::channel();
    // A thread that cannot be started drops the channel too.
    let _ = std::thread::Builder::new().name("watch".to_owned()).spawn(move || {
        // Fails when nobody waits any more.
        let _ = done.send(work());
    });
    result
}
