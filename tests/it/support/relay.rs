//! A relay of bytes before a server: connections pass, or meet a fault of the network.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// What happens to a connection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Way {
    Clean,
    /// Closed when its first bytes have come.
    Closed,
    /// Answered in the server's place, then closed.
    Answered(&'static str),
    /// Cut off after this number of bytes of answers. With 0 the server has done what it was asked for, and nobody hears of it.
    CutAfter(usize),
    /// One bit of the answers is another one.
    FlippedAt(usize),
    /// Answers come in small pieces.
    Dripping,
}

/// The relay; it stops accepting when dropped.
pub(crate) struct Relay {
    address: SocketAddr,
    closed: Arc<AtomicBool>,
    /// Connections that were not clean.
    faults: Arc<AtomicUsize>,
}

impl Relay {
    /// A relay that asks `way` about each connection, in order.
    pub(crate) fn start(upstream: SocketAddr, mut way: impl FnMut() -> Way + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (closed, faults) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let (ends, counts) = (Arc::clone(&closed), Arc::clone(&faults));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                let way = way();
                counts.fetch_add(usize::from(way != Way::Clean), Ordering::SeqCst);
                // A side that went away is what the fault means.
                std::thread::spawn(move || drop(relay(client, upstream, way)));
            }
        });
        Self { address, closed, faults }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn faults(&self) -> usize {
        self.faults.load(Ordering::SeqCst)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        let _ = TcpStream::connect(self.address);
    }
}

fn relay(mut client: TcpStream, upstream: SocketAddr, way: Way) -> std::io::Result<()> {
    match way {
        Way::Closed => return client.read(&mut [0; 16]).map(drop),
        Way::Answered(answer) => {
            return client.read(&mut [0; 16 * 1024]).and_then(|_| client.write_all(answer.as_bytes()));
        }
        _ => (),
    }
    let mut server = TcpStream::connect(upstream)?;
    let (mut asking, mut asked) = (client.try_clone()?, server.try_clone()?);
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut asking, &mut asked);
        asked.shutdown(Shutdown::Write)
    });
    let sent = answer(&mut server, &mut client, way);
    // Both threads end.
    let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
    sent
}

fn answer(server: &mut TcpStream, client: &mut TcpStream, way: Way) -> std::io::Result<()> {
    let (mut bytes, mut passed) = ([0; 8 * 1024], 0);
    loop {
        let length = server.read(&mut bytes)?;
        let piece = &mut bytes[..length];
        match way {
            _ if length == 0 => return Ok(()),
            Way::CutAfter(most) if passed + length > most => {
                return client.write_all(&piece[..most - passed]);
            }
            Way::FlippedAt(at) if (passed..passed + length).contains(&at) => piece[at - passed] ^= 0x10,
            _ => (),
        }
        if way == Way::Dripping {
            for drip in piece.chunks(700) {
                client.write_all(drip)?;
                std::thread::sleep(Duration::from_millis(2));
            }
        } else {
            client.write_all(piece)?;
        }
        passed += length;
    }
}
