//! A TCP connection to a name: the addresses of the first family first, those of the other one soon
//! after, as one of them may lead nowhere.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

/// For all addresses of a family together.
const CONNECT: Duration = Duration::from_secs(15);
/// How long the first family has for itself.
const AHEAD: Duration = Duration::from_millis(300);

pub(super) async fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let all: Vec<SocketAddr> = lookup_host((host, port)).await?.collect();
    let Some(first) = all.first() else { return Err(io::ErrorKind::NotFound.into()) };
    let family = first.is_ipv6();
    let (first, second): (Vec<_>, Vec<_>) =
        all.iter().partition(|address| address.is_ipv6() == family);
    let stream = if second.is_empty() { each(&first).await } else { race(&first, &second).await }?;
    // A small request must not wait for another one's answer.
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn race(first: &[SocketAddr], second: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut one = pin!(each(first));
    match timeout(AHEAD, &mut one).await {
        Ok(Ok(stream)) => return Ok(stream),
        Ok(Err(_)) => return each(second).await,
        Err(_) => {}
    }
    let mut other = pin!(each(second));
    tokio::select! {
        made = &mut one => match made {
            Ok(stream) => Ok(stream),
            Err(_) => other.await,
        },
        made = &mut other => match made {
            Ok(stream) => Ok(stream),
            Err(_) => one.await,
        },
    }
}

/// One after the other, each with its part of the time.
async fn each(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let part = CONNECT / u32::try_from(addresses.len()).unwrap_or(1).max(1);
    let mut last = io::ErrorKind::NotFound.into();
    for address in addresses {
        match timeout(part, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(_) => last = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(last)
}
