//! Runs asynchronous work and waits for it, from any thread.

use crate::lake::error::LakeError;
use futures::executor::block_on;
use std::future::Future;
use tokio::runtime::{Builder, Runtime};
use tokio::task::unconstrained;

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

    /// The result of the work. Blocks this thread; connections and timeouts are those of the runtime.
    pub(super) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        let _inside = self.0.as_ref().map(Runtime::enter);
        // A task of another runtime that waits here has a limit of steps, which must not stop this work.
        block_on(unconstrained(work))
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
