//! How long a client may take: to send the head of a request, and to begin the next one.
//!
//! The deadlines are looked at after every poll of a connection, because hyper does not read again after an answer until
//! more comes.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// A request's head must arrive within this time, the first one counted from the connection's beginning.
pub(in crate::serve::http) const HEAD_TIMEOUT: Duration = Duration::from_secs(8);

/// What happens on a connection: its socket and its requests say so, its deadlines follow.
#[derive(Debug, Clone, Default)]
pub(in crate::serve::http) struct Signs(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Beginnings and ends of requests: odd while one is answered.
    turns: AtomicU64,
    /// Whether bytes of a head came since.
    is_heard: AtomicBool,
    /// Whether the client has had its time.
    is_over: AtomicBool,
}

impl Signs {
    /// A request was read, or its answer is made.
    pub(in crate::serve::http) fn turn(&self) {
        self.0.turns.fetch_add(1, Ordering::Relaxed);
        self.0.is_heard.store(false, Ordering::Relaxed);
    }

    /// Bytes came. Returns whether they are of a request's head.
    pub(super) fn hear(&self) -> bool {
        let is_head = self.0.turns.load(Ordering::Relaxed).is_multiple_of(2);
        self.0.is_heard.store(is_head, Ordering::Relaxed);
        is_head
    }

    pub(super) fn is_over(&self) -> bool {
        self.0.is_over.load(Ordering::Relaxed)
    }
}

/// The wait of a connection for its client.
struct Waiting {
    signs: Signs,
    /// The turns at the last look, and whether a head was waited for.
    seen: (u64, bool),
    keep_alive: Duration,
    /// Ends when the client has had its time. It is kept for the next wait: to push its end back costs little.
    sleep: Pin<Box<Sleep>>,
}

impl Waiting {
    fn new(signs: Signs, keep_alive: Duration) -> Self {
        Self { signs, seen: (0, true), keep_alive, sleep: Box::pin(sleep(HEAD_TIMEOUT)) }
    }

    /// Ready when the client has had its time.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let is_new = self.follow();
        let Some(limit) = self.limit() else { return Poll::Pending };
        if is_new {
            self.sleep.as_mut().reset(Instant::now() + limit);
        }
        self.sleep.as_mut().poll(cx)
    }

    /// How long the client has for the rest of a head or for the next request; the time of a request under way is not limited here.
    const fn limit(&self) -> Option<Duration> {
        match self.seen {
            (turns, _) if !turns.is_multiple_of(2) => None,
            (_, true) => Some(HEAD_TIMEOUT),
            (_, false) => Some(self.keep_alive),
        }
    }

    /// Whether something else is waited for than at the last look.
    fn follow(&mut self) -> bool {
        let Shared { turns, is_heard, .. } = &*self.signs.0;
        let turns = turns.load(Ordering::Relaxed);
        // The first head is waited for from the beginning.
        let now = (turns, turns == 0 || is_heard.load(Ordering::Relaxed));
        std::mem::replace(&mut self.seen, now) != now
    }
}

/// A connection that ends once its client has had its time: its socket then says that the client has gone.
pub(in crate::serve::http) async fn within_deadlines<C: Future>(
    connection: C,
    signs: Signs,
    keep_alive: Duration,
) -> C::Output {
    let mut connection = pin!(connection);
    let mut waiting = Waiting::new(signs.clone(), keep_alive);
    std::future::poll_fn(|cx| {
        if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
            return Poll::Ready(ended);
        }
        ready!(waiting.poll_end(cx));
        signs.0.is_over.store(true, Ordering::Relaxed);
        connection.as_mut().poll(cx)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP_ALIVE: Duration = Duration::from_secs(75);

    #[tokio::test]
    async fn a_head_has_8_seconds_the_next_request_its_own_time_and_an_answer_any() {
        let signs = Signs::default();
        let mut waiting = Waiting::new(signs.clone(), KEEP_ALIVE);
        let mut limit = || {
            let is_new = waiting.follow();
            (waiting.limit(), is_new)
        };
        assert_eq!(limit(), (Some(HEAD_TIMEOUT), false), "it has them from the beginning");
        assert!(signs.hear());
        assert_eq!(limit(), (Some(HEAD_TIMEOUT), false), "more bytes of a head do not give it more time");
        signs.turn();
        assert!(!signs.hear(), "its body came");
        assert_eq!(limit().0, None, "a request is answered");
        signs.turn();
        assert_eq!(limit(), (Some(KEEP_ALIVE), true));
        signs.hear();
        assert_eq!(limit(), (Some(HEAD_TIMEOUT), true));
        assert_eq!(limit(), (Some(HEAD_TIMEOUT), false));
        // A complete request between two looks.
        (0..2).for_each(|_| signs.turn());
        assert_eq!(limit(), (Some(KEEP_ALIVE), true));
        (0..2).for_each(|_| signs.turn());
        assert_eq!(limit(), (Some(KEEP_ALIVE), true));
    }
}
