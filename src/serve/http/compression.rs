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

/// A content coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Zstd,
    Gzip,
}

impl Coding {
    /// Its name in `Content-Encoding`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }

    /// The coding with the client's largest weight; `None` to send the body uncompressed.
    pub(crate) fn accepted(headers: &HeaderMap) -> Option<Self> {
        let mut weights = Weights::default();
        for value in headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok()) {
            value.split(',').for_each(|item| weights.read(item));
        }
        weights.best()
    }

    /// The compressed body; `None` when it would not be smaller, or the body is small.
    pub(crate) fn encode(self, body: &[u8]) -> Option<Vec<u8>> {
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

    /// The value of the `Content-Encoding` header.
    pub(crate) const fn header(self) -> HeaderValue {
        HeaderValue::from_static(self.name())
    }
}

/// Weights of the codings in thousandths; `None` for a coding that the client does not name.
#[derive(Debug, Default)]
struct Weights {
    zstd: Option<u32>,
    gzip: Option<u32>,
    any: Option<u32>,
    identity: Option<u32>,
}

impl Weights {
    fn read(&mut self, item: &str) {
        let mut parts = item.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let weight = parts
            .filter_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")))
            .map(thousandths)
            .next_back()
            .unwrap_or(1_000);
        let slot = match name.to_ascii_lowercase().as_str() {
            "zstd" => &mut self.zstd,
            "gzip" | "x-gzip" => &mut self.gzip,
            "identity" => &mut self.identity,
            "*" => &mut self.any,
            _ => return,
        };
        *slot = Some(weight);
    }

    /// The coding of the largest weight, unless it is 0 or less than the weight of `identity`.
    fn best(&self) -> Option<Coding> {
        let weight = |named: Option<u32>| named.or(self.any).unwrap_or(0);
        let (zstd, gzip) = (weight(self.zstd), weight(self.gzip));
        let (coding, weight) = if zstd >= gzip { (Coding::Zstd, zstd) } else { (Coding::Gzip, gzip) };
        (weight > 0 && weight >= self.identity.unwrap_or(0)).then_some(coding)
    }
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
