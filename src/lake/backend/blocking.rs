//! Runs asynchronous work and waits for it, from any thread.

use crate::lake::error::LakeError;
use std::future::Future;
use std::sync::mpsc;
use tokio::runtime::{Builder, Runtime};

/// A small runtime for the requests to one object store. The lake has a blocking interface, so that any code may call it,
/// code in another runtime included.
#[derive(Debug)]
pub(super) struct BlockingRuntime(Option<Runtime>);

impl BlockingRuntime {
    pub(super) fn start(address: &str) -> Result<Self, LakeError> {
        let runtime =
            Builder::new_multi_thread().worker_threads(2).thread_name("objects").enable_all().build();
        runtime.map(|runtime| Self(Some(runtime))).map_err(|error| LakeError::Remote {
            op: "open",
            url: address.to_owned(),
            what: error.to_string(),
        })
    }

    /// The result of the work. Blocks this thread.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, LakeError>> + Send + 'static,
    ) -> Result<T, LakeError> {
        let ended = || LakeError::Remote {
            op: "use",
            url: "the object store".to_owned(),
            what: "the request was aborted".to_owned(),
        };
        let (done, result) = mpsc::sync_channel(1);
        let runtime = self.0.as_ref().ok_or_else(ended)?;
        runtime.spawn(async move {
            // Fails when the caller is gone: nobody needs the result.
            let _ = done.send(work.await);
        });
        result.recv().map_err(|_| ended())?
    }
}

impl Drop for BlockingRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // To wait here would block a runtime that uses the lake.
            runtime.shutdown_background();
        }
    }
}
