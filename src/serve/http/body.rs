//! Bodies of requests: read whole, within bounds of size and time.

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes};
use std::time::Duration;

/// Bytes of a request body at most.
pub(crate) const MAX_BODY_BYTES: usize = 64 * 1024;
/// So much of a body that is too large is read and thrown away, so that its sender hears the answer.
const MAX_WASTED_BYTES: usize = 1024 * 1024;
/// A body that has not come whole by then is given up.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(8);

/// Why a body was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyFault {
    /// More than [`MAX_BODY_BYTES`].
    TooLarge,
    /// Not whole in time.
    TooSlow,
    /// Cut off, or not framed as HTTP frames a body.
    Broken,
}

impl BodyFault {
    /// The status that answers it.
    pub(crate) const fn status(self) -> u16 {
        match self {
            Self::TooLarge => 413,
            Self::TooSlow => 408,
            Self::Broken => 400,
        }
    }

    /// The same in words.
    pub(crate) fn message(self) -> String {
        match self {
            Self::TooLarge => format!("the body is larger than {MAX_BODY_BYTES} bytes"),
            Self::TooSlow => format!("the body did not come within {} s", BODY_TIMEOUT.as_secs()),
            Self::Broken => "the body broke off, or is not framed as HTTP frames a body".to_owned(),
        }
    }
}

/// The whole body, if it comes in time.
pub(crate) async fn read<B>(body: B, within: Duration) -> Result<Bytes, BodyFault>
where
    B: Body<Data = Bytes> + Unpin,
{
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    tokio::time::timeout(within, collect(body)).await.unwrap_or(Err(BodyFault::TooSlow))
}

async fn collect<B>(mut body: B) -> Result<Bytes, BodyFault>
where
    B: Body<Data = Bytes> + Unpin,
{
    // A sender that asks before it sends is told at once.
    if body.size_hint().lower() > MAX_WASTED_BYTES as u64 {
        return Err(BodyFault::TooLarge);
    }
    let (mut kept, mut seen) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BodyFault::Broken)?.into_data() else { continue };
        seen += data.len();
        if seen > MAX_WASTED_BYTES {
            break;
        }
        if seen <= MAX_BODY_BYTES {
            kept.extend_from_slice(&data);
        }
    }
    if seen > MAX_BODY_BYTES { Err(BodyFault::TooLarge) } else { Ok(kept.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::{Full, StreamBody};
    use hyper::body::Frame;
    use std::convert::Infallible;

    #[tokio::test]
    async fn a_body_is_taken_whole_up_to_its_bound() {
        assert_eq!(read(Full::new(Bytes::new()), BODY_TIMEOUT).await, Ok(Bytes::new()));
        let most = Bytes::from(vec![b'x'; MAX_BODY_BYTES]);
        assert_eq!(read(Full::new(most.clone()), BODY_TIMEOUT).await, Ok(most));
        for length in [MAX_BODY_BYTES + 1, MAX_WASTED_BYTES + 1] {
            let body = Full::new(Bytes::from(vec![b'x'; length]));
            assert_eq!(read(body, BODY_TIMEOUT).await, Err(BodyFault::TooLarge), "{length}");
        }
    }

    #[tokio::test]
    async fn a_body_without_an_end_is_refused() {
        let piece = || Some((Ok::<_, Infallible>(Frame::data(Bytes::from_static(&[0; 4096]))), ()));
        let endless = futures::stream::unfold((), move |()| std::future::ready(piece()));
        let body = StreamBody::new(Box::pin(endless));
        assert_eq!(read(body, BODY_TIMEOUT).await, Err(BodyFault::TooLarge));
    }

    #[tokio::test]
    async fn a_body_that_never_comes_is_given_up() {
        let silent = futures::stream::pending::<Result<Frame<Bytes>, Infallible>>();
        assert_eq!(read(StreamBody::new(Box::pin(silent)), Duration::ZERO).await, Err(BodyFault::TooSlow));
    }
}
