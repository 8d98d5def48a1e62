//! Deletes objects: many with one request, or one by one in a store of S3 that knows no such request.

use super::http_way::SafeWay;
use futures::stream::{self, StreamExt, TryStreamExt};
use object_store::client::{ClientOptions, HttpClient, HttpConnector, HttpRequest, HttpRequestBody};
use object_store::path::Path as ObjectPath;
use object_store::signer::Signer;
use object_store::{Error, ObjectStore};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Requests under way.
const AT_ONCE: usize = 8;
/// How long a signed address of an object is valid.
const VALID: Duration = Duration::from_secs(60);

/// Deletes single objects of a store by signed addresses.
#[derive(Debug, Clone)]
pub(super) struct SingleDeletes {
    signer: Arc<dyn Signer>,
    http: HttpClient,
    /// Whether the store has refused to delete a list.
    is_needed: Arc<AtomicBool>,
}

impl SingleDeletes {
    /// Of a store that signs addresses. The addresses are those of the store: plain http is its own setting.
    pub(super) fn of(signer: Arc<dyn Signer>) -> object_store::Result<Self> {
        let options = ClientOptions::new().with_allow_http(true).with_timeout(VALID);
        Ok(Self { signer, http: SafeWay.connect(&options)?, is_needed: Arc::default() })
    }

    async fn delete(&self, path: &ObjectPath) -> object_store::Result<()> {
        let failed =
            |source: Box<dyn std::error::Error + Send + Sync>| Error::Generic { store: "S3", source };
        let url = self.signer.signed_url("DELETE".parse().unwrap_or_default(), path, VALID).await?;
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.method_mut() = "DELETE".parse().unwrap_or_default();
        *request.uri_mut() = url.as_str().parse().map_err(|error| failed(Box::new(error)))?;
        let response = self.http.execute(request).await.map_err(|error| failed(Box::new(error)))?;
        match response.status() {
            status if status.is_success() || status.as_u16() == 404 => Ok(()),
            status => Err(failed(format!("the store answered {status} to a DELETE").into())),
        }
    }
}

/// Deletes objects of a store; a missing one is no error.
pub(super) async fn delete(
    store: &dyn ObjectStore,
    single: Option<&SingleDeletes>,
    paths: &[ObjectPath],
) -> object_store::Result<()> {
    match single {
        Some(single) if single.is_needed.load(Ordering::Relaxed) => one_by_one(single, paths).await,
        Some(single) => match delete_list(store, paths.to_vec()).await {
            Err(error) if !is_lasting(&error) => {
                // The error of the list says more than that of an object.
                let deleted = one_by_one(single, paths).await.map_err(|_| error);
                single.is_needed.store(deleted.is_ok(), Ordering::Relaxed);
                deleted
            }
            deleted => deleted,
        },
        None => delete_list(store, paths.to_vec()).await,
    }
}

/// Whether single requests would be refused too.
fn is_lasting(error: &Error) -> bool {
    matches!(error, Error::PermissionDenied { .. } | Error::Unauthenticated { .. })
}

async fn delete_list(store: &dyn ObjectStore, paths: Vec<ObjectPath>) -> object_store::Result<()> {
    let mut deleted = store.delete_stream(stream::iter(paths).map(Ok).boxed());
    while let Some(one) = deleted.next().await {
        match one {
            Ok(_) | Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

async fn one_by_one(single: &SingleDeletes, paths: &[ObjectPath]) -> object_store::Result<()> {
    stream::iter(paths).map(Ok).try_for_each_concurrent(AT_ONCE, |path| single.delete(path)).await
}
