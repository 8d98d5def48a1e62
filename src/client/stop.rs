//! The flag that stops a run: set once, seen everywhere.

use super::error::{ClientError, Result};
use tokio::sync::watch;

/// Whether the run is to stop; can be awaited.
#[derive(Debug, Clone)]
pub struct Stop {
    requested: watch::Receiver<bool>,
}

/// Sets a [`Stop`].
#[derive(Debug)]
pub struct StopSwitch(watch::Sender<bool>);

impl StopSwitch {
    /// A switch and the flag it sets.
    pub fn new() -> (Self, Stop) {
        let (sender, requested) = watch::channel(false);
        (Self(sender), Stop { requested })
    }

    /// Sets the flag.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Fails once the run is to stop.
    pub(crate) fn check(&self) -> Result<()> {
        if *self.requested.borrow() { Err(ClientError::Stopped) } else { Ok(()) }
    }

    /// Returns once the run is to stop; never, if the switch was dropped before.
    pub(crate) async fn requested(&self) {
        let mut requested = self.requested.clone();
        if requested.wait_for(|requested| *requested).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
