//! Compressed bodies: gzip or zstd, by `Accept-Encoding`.

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use std::io::Write;

/// A body of at most this size is not compressed.
const MIN_BYTES: usize = 1024;
/// Fast levels: an answer is sent once.
const GZIP_LEVEL: Compression = Compression::new(2);
const ZSTD_LEVEL: i32 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Zstd,
    Gzip,
}

impl Coding {
    /// The coding with the client's largest weight; `None` to send the body uncompressed.
    pub(super) fn accepted(headers: &HeaderMap) -> Option<Self> {
        let any = weight(headers, &["*"]);
        let weight_of = |names| weight(headers, names).or(any).unwrap_or(0);
        let (zstd, gzip) = (weight_of(&["zstd"]), weight_of(&["gzip", "x-gzip"]));
        let (coding, best) = if zstd >= gzip { (Self::Zstd, zstd) } else { (Self::Gzip, gzip) };
        (best > 0 && best >= weight(headers, &["identity"]).unwrap_or(0)).then_some(coding)
    }

    /// The compressed body; `None` when it would not be smaller, or the body is small.
    pub(super) fn encode(self, body: &[u8]) -> Option<Vec<u8>> {
        if body.len() <= MIN_BYTES {
            return None;
        }
        let encoded = match self {
            Self::Zstd => zstd::bulk::compress(body, ZSTD_LEVEL).ok()?,
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), GZIP_LEVEL);
                encoder.write_all(body).ok()?;
                encoder.finish().ok()?
            }
        };
        (encoded.len() < body.len()).then_some(encoded)
    }

    pub(super) const fn header(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        })
    }
}

/// The weight of a coding in thousandths; `None` when the client does not name it. Of several, the last one counts.
fn weight(headers: &HeaderMap, names: &[&str]) -> Option<u32> {
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut found = None;
    for item in values.flat_map(|value| value.split(',')) {
        let mut parts = item.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        if names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            let weights = parts.filter_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
            found = Some(weights.map(thousandths).next_back().unwrap_or(1_000));
        }
    }
    found
}

/// `0.8` → 800; text that is no number → 0.
fn thousandths(text: &str) -> u32 {
    let weight: f32 = text.trim().parse().unwrap_or(0.0);
    (weight.clamp(0.0, 1.0) * 1_000.0).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coding_with_the_largest_weight_is_chosen() {
        for (sent, expected) in [
            ("", None),
            ("identity", None),
            ("br, deflate", None),
            ("gzip", Some(Coding::Gzip)),
            ("gzip, zstd", Some(Coding::Zstd)),
            ("zstd;q=0.5, gzip;q=0.8", Some(Coding::Gzip)),
            ("GZIP;Q=1", Some(Coding::Gzip)),
            ("gzip;q=0", None),
            ("*", Some(Coding::Zstd)),
            ("zstd;q=0, *;q=0.1", Some(Coding::Gzip)),
            ("gzip;q=0.2, identity", None),
            ("gzip;q=nonsense", None),
            (" gzip ; q=0.001 ", Some(Coding::Gzip)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, sent.parse().expect("a header"));
            assert_eq!(Coding::accepted(&headers), expected, "{sent:?}");
        }
        assert_eq!(Coding::accepted(&HeaderMap::new()), None);
    }

    #[test]
    fn compressed_body_decodes_and_small_body_is_not_compressed() {
        use std::io::Read;
        let body = b"{\"data\":[]}".repeat(1_000);
        let zstd = Coding::Zstd.encode(&body).expect("worth it");
        assert_eq!(zstd::decode_all(&zstd[..]).expect("zstd"), body);
        let gzip = Coding::Gzip.encode(&body).expect("worth it");
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(&gzip[..]).read_to_end(&mut plain).expect("gzip");
        assert_eq!(plain, body);
        assert!(gzip.len() < body.len() / 10 && zstd.len() < body.len() / 10);
        assert_eq!(Coding::Gzip.encode(&body[..MIN_BYTES]), None);
    }
}
