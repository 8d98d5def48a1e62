//! Connections of one address: a cap, so that one client cannot take the place of all others.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Of an IPv6 address, the bits that one subscriber has.
const SUBSCRIBER_BITS: u32 = 64;

type Counts = Mutex<HashMap<IpAddr, usize>>;

/// The open connections by address, at most this number each.
pub(in crate::serve::http) struct Peers {
    most: usize,
    counts: Arc<Counts>,
}

/// A place among the connections of an address, until it is dropped.
pub(in crate::serve::http) struct Place {
    address: IpAddr,
    counts: Arc<Counts>,
}

impl Peers {
    pub(in crate::serve::http) fn new(most: usize) -> Self {
        Self { most, counts: Arc::default() }
    }

    /// A place for one more connection; `None` when the address has all of its places.
    pub(in crate::serve::http) fn admit(&self, address: IpAddr) -> Option<Place> {
        let address = subscriber(address);
        let mut counts = lock(&self.counts);
        let count = counts.entry(address).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(Place { address, counts: Arc::clone(&self.counts) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = lock(&self.counts);
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

fn lock(counts: &Counts) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One address for all of a subscriber.
fn subscriber(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = address.to_bits() >> SUBSCRIBER_BITS << SUBSCRIBER_BITS;
            Ipv6Addr::from_bits(network).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_places_and_gets_them_back() {
        let peers = Peers::new(2);
        let address = |text: &str| text.parse().expect("an address");
        let one = peers.admit(address("10.0.0.1")).expect("a place");
        let other = peers.admit(address("::ffff:10.0.0.1")).expect("a place");
        assert!(peers.admit(address("10.0.0.1")).is_none());
        let next = peers.admit(address("10.0.0.2")).expect("a place");
        drop(one);
        assert!(peers.admit(address("10.0.0.1")).is_some());
        drop((other, next));
        assert!(lock(&peers.counts).is_empty());
        let held = [peers.admit(address("2001:db8::1")), peers.admit(address("2001:db8::ffff:2"))];
        assert!(held.iter().all(Option::is_some) && peers.admit(address("2001:db8::3")).is_none());
        assert!(peers.admit(address("2001:db8:0:1::3")).is_some());
    }
}
