//! Request bodies, read to their end within limits of size and time.

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes};
use std::time::Duration;

/// Most bytes of a request body.
pub(super) const MAX_BODY_BYTES: usize = 64 * 1024;
/// Most bytes read of a body that is too large: its sender reads the answer only after it has sent the body.
const MAX_DISCARDED_BYTES: usize = 1024 * 1024;
/// A body must arrive within this time.
pub(super) const BODY_TIMEOUT: Duration = Duration::from_secs(8);

/// Why a body could not be read: the status and the message of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BodyFault(pub(super) u16, pub(super) String);

fn too_large() -> BodyFault {
    BodyFault(413, format!("the body is larger than {MAX_BODY_BYTES} bytes"))
}

fn too_slow() -> BodyFault {
    BodyFault(408, format!("the body did not come within {} s", BODY_TIMEOUT.as_secs()))
}

fn broken<E>(_: E) -> BodyFault {
    BodyFault(400, "the body broke off, or is not framed as HTTP frames a body".to_owned())
}

pub(super) async fn read<B>(body: B, within: Duration) -> Result<Bytes, BodyFault>
where
    B: Body<Data = Bytes> + Unpin,
{
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    tokio::time::timeout(within, collect(body)).await.unwrap_or_else(|_| Err(too_slow()))
}

async fn collect<B>(mut body: B) -> Result<Bytes, BodyFault>
where
    B: Body<Data = Bytes> + Unpin,
{
    // A sender that waits for `100 Continue` gets its answer before it sends the body.
    if body.size_hint().lower() > MAX_DISCARDED_BYTES as u64 {
        return Err(too_large());
    }
    let (mut bytes, mut received) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        received += data.len();
        if received > MAX_DISCARDED_BYTES {
            break;
        }
        if received <= MAX_BODY_BYTES {
            bytes.extend_from_slice(&data);
        }
    }
    if received > MAX_BODY_BYTES { Err(too_large()) } else { Ok(bytes.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::{Full, StreamBody};
    use hyper::body::Frame;
    use std::convert::Infallible;

    #[tokio::test]
    async fn body_is_read_up_to_its_limit() {
        assert_eq!(read(Full::new(Bytes::new()), BODY_TIMEOUT).await, Ok(Bytes::new()));
        let most = Bytes::from(vec![b'x'; MAX_BODY_BYTES]);
        assert_eq!(read(Full::new(most.clone()), BODY_TIMEOUT).await, Ok(most));
        for length in [MAX_BODY_BYTES + 1, MAX_DISCARDED_BYTES + 1] {
            let body = Full::new(Bytes::from(vec![b'x'; length]));
            assert_eq!(read(body, BODY_TIMEOUT).await, Err(too_large()), "{length}");
        }
    }

    #[tokio::test]
    async fn endless_body_is_refused() {
        let piece = || Some((Ok::<_, Infallible>(Frame::data(Bytes::from_static(&[0; 4096]))), ()));
        let endless = futures::stream::unfold((), move |()| std::future::ready(piece()));
        let body = StreamBody::new(Box::pin(endless));
        assert_eq!(read(body, BODY_TIMEOUT).await, Err(too_large()));
    }

    #[tokio::test]
    async fn body_that_never_arrives_times_out() {
        let silent = futures::stream::pending::<Result<Frame<Bytes>, Infallible>>();
        assert_eq!(read(StreamBody::new(Box::pin(silent)), Duration::ZERO).await, Err(too_slow()));
    }
}
