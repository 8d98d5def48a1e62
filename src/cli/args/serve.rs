//! Flags of `serve`.

use super::values::{connections, listen_address, named, named_path, origin, switch, web_address};
use crate::serve::{ConnectionLimits, LimitOverride};
use clap::{Args, value_parser};
use std::path::PathBuf;
use std::str::FromStr;

/// Flags of `serve`.
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Address to listen on, or a port of this machine; port 0 takes a free one
    #[arg(long, env = "SUNLAKE_LISTEN", default_value = "127.0.0.1:8080", value_name = "ADDR")]
    #[arg(value_parser = named(listen_address))]
    pub listen: String,
    /// Serve the sample, invented businesses, and print a key and a request to copy; reads no lake and no file
    #[arg(long, env = "SUNLAKE_DEMO", value_parser = named(switch))]
    pub demo: bool,
    /// File of accounts and keys, made by `sunlake keys create`
    #[arg(long, env = "SUNLAKE_KEYS", default_value = "keys.toml", value_parser = named_path(), value_name = "FILE")]
    pub keys: PathBuf,
    /// File of the request counts, which the next server needs; or `redis://HOST:PORT/DB`, a store that servers share, with its user
    /// in `SUNLAKE_USAGE_USER`, its password in `SUNLAKE_USAGE_PASSWORD` or `SUNLAKE_USAGE_PASSWORD_FILE` [default: state/usage.jsonl
    /// of the lake]
    #[arg(long, env = "SUNLAKE_USAGE", value_parser = named_path(), value_name = "FILE|URL")]
    pub usage: Option<PathBuf>,
    /// Address of the Prometheus metrics, at /metrics [default: none]
    #[arg(long, env = "SUNLAKE_METRICS", value_parser = named(listen_address), value_name = "ADDR")]
    pub metrics: Option<String>,
    /// Limits for every account, for test instances, such as `per_minute=1000,per_day=9000`
    #[arg(long, env = "SUNLAKE_PLAN_OVERRIDE", value_parser = named(LimitOverride::from_str), value_name = "LIMIT=N,...")]
    pub plan_override: Option<LimitOverride>,
    /// Most connections at once; a further client gets 503
    #[arg(long, env = "SUNLAKE_MAX_CONNECTIONS")]
    #[arg(value_parser = named(connections), value_name = "N", default_value_t = ConnectionLimits::default().all)]
    pub max_connections: usize,
    /// Most connections at once of one address (IPv6: of one /64 network)
    #[arg(long, env = "SUNLAKE_MAX_CONNECTIONS_PER_ADDRESS", value_parser = named(connections))]
    #[arg(value_name = "N", default_value_t = ConnectionLimits::default().of_address)]
    pub max_connections_per_address: usize,
    /// How long a connection may be silent between two requests
    #[arg(long, env = "SUNLAKE_KEEP_ALIVE", value_parser = named(value_parser!(u64).range(1..=86_400)))]
    #[arg(value_name = "SECONDS", default_value_t = ConnectionLimits::default().keep_alive.as_secs())]
    pub keep_alive: u64,
    /// Certificate chain in PEM: speak HTTPS; read again when it changes
    #[arg(long, env = "SUNLAKE_TLS_CERT", requires = "tls_key", value_parser = named_path(), value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM
    #[arg(long, env = "SUNLAKE_TLS_KEY", requires = "tls_cert", value_parser = named_path(), value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// Address of this server for clients, such as that of a proxy; /mcp then accepts its name
    #[arg(long, env = "SUNLAKE_PUBLIC_URL", value_parser = named(web_address), value_name = "URL")]
    pub public_url: Option<String>,
    /// Origin of web pages that may call the server from a browser; repeat the flag for more, `*` for all [default: none]
    #[arg(long, env = "SUNLAKE_CORS_ORIGIN", value_delimiter = ',', value_parser = named(origin), value_name = "ORIGIN")]
    pub cors_origin: Vec<String>,
}
