//! Ports for programs that cannot be asked for a free one and say which they got.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the ports that systems give to connections and to listeners that name none: nobody else takes one of these by chance.
const FIRST: u16 = 20_000;
const COUNT: u16 = 10_000;

/// A port of this machine on which nothing listens; a process gets another one each time.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let own = u16::try_from(std::process::id() % u32::from(COUNT)).expect("less than the count");
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    let nth = || NEXT.fetch_add(1, Ordering::Relaxed);
    let ports = std::iter::repeat_with(|| FIRST + own.wrapping_mul(61).wrapping_add(nth()) % COUNT);
    ports.take(usize::from(COUNT)).find(is_free).expect("a free port")
}
