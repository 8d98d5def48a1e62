//! The one way to tell a run to stop asking: set once, seen everywhere.

use super::ClientError;
use tokio::sync::watch;

/// A flag that waits can listen to.
#[derive(Debug, Clone)]
pub struct Stop {
    told: watch::Receiver<bool>,
}

/// The other end of a [`Stop`].
#[derive(Debug)]
pub struct StopSwitch(watch::Sender<bool>);

impl StopSwitch {
    /// A switch and the flag it sets.
    pub fn new() -> (Self, Stop) {
        let (sender, told) = watch::channel(false);
        (Self(sender), Stop { told })
    }

    /// Tells every holder of the flag.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// An error once the run was told to stop.
    ///
    /// # Errors
    /// `Stopped`.
    pub fn check(&self) -> Result<(), ClientError> {
        if *self.told.borrow() { Err(ClientError::Stopped) } else { Ok(()) }
    }

    /// Comes back once the run was told to stop; never, when nobody can tell it any more.
    pub async fn told(&self) {
        let mut told = self.told.clone();
        if told.wait_for(|told| *told).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
