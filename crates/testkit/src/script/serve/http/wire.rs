//! Writes HTTP responses, as spoilt as they are to be. Never decides what they say.

use std::io::{self, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::mangle::{Cut, Mangle};

pub(super) const TEXT: &str = "text/plain";

/// What becomes of the connection.
#[derive(Clone, Copy)]
pub(super) enum End {
    /// The next request.
    Next,
    Close,
    Reset,
}

pub(super) struct Wire<'a> {
    pub(super) socket: &'a TcpStream,
    pub(super) mangle: Mangle,
}

impl<'a> Wire<'a> {
    /// With nothing wrong.
    pub(super) fn plain(socket: &'a TcpStream) -> Self {
        Self { socket, mangle: Mangle::default() }
    }

    /// A response whose body is at hand.
    pub(super) fn whole(
        &self,
        status: u16,
        headers: &[(&str, String)],
        content_type: &str,
        body: &[u8],
    ) -> io::Result<End> {
        self.sized(status, headers, content_type, body.len() as u64)?;
        match self.mangle.cut {
            Some(cut) => {
                self.bytes(&body[..body.len() / 2])?;
                Ok(self.end(cut))
            }
            None => self.bytes(body).map(|()| End::Next),
        }
    }

    /// The head of a response whose body has that length.
    pub(super) fn sized(
        &self,
        status: u16,
        headers: &[(&str, String)],
        content_type: &str,
        length: u64,
    ) -> io::Result<()> {
        self.head(status, headers, content_type, &format!("content-length: {length}"))
    }

    /// The head of a response whose body comes in chunks.
    pub(super) fn chunked(&self, headers: &[(&str, String)], content_type: &str) -> io::Result<()> {
        self.head(200, headers, content_type, "transfer-encoding: chunked")
    }

    /// One chunk.
    pub(super) fn chunk(&self, bytes: &[u8]) -> io::Result<()> {
        let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
        framed.extend_from_slice(bytes);
        framed.extend_from_slice(b"\r\n");
        self.bytes(&framed)
    }

    /// Bytes of a body.
    pub(super) fn bytes(&self, bytes: &[u8]) -> io::Result<()> {
        let mut socket = self.socket;
        let Some(ms) = self.mangle.pace else { return socket.write_all(bytes) };
        for byte in bytes.chunks(1) {
            socket.write_all(byte)?;
            thread::sleep(Duration::from_millis(ms));
        }
        Ok(())
    }

    /// How a connection ends that is cut.
    pub(super) fn end(&self, cut: Cut) -> End {
        // What was written arrives before the reset does; a reset would throw it away.
        thread::sleep(Duration::from_millis(20));
        match cut {
            Cut::Close => End::Close,
            Cut::Reset => End::Reset,
        }
    }

    /// Whether the other side has left.
    pub(super) fn is_gone(&self) -> bool {
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        match rustix::net::recv(self.socket, &mut [0_u8; 1][..], flags) {
            Ok((_, count)) => count == 0,
            Err(error) => error != Errno::AGAIN && error != Errno::INTR,
        }
    }

    /// Waits until the other side has left.
    pub(super) fn outwait(&self) -> End {
        while !self.is_gone() {
            thread::sleep(Duration::from_millis(20));
        }
        End::Close
    }

    fn head(
        &self,
        status: u16,
        headers: &[(&str, String)],
        content_type: &str,
        length: &str,
    ) -> io::Result<()> {
        let content_type = self.mangle.content_type.as_deref().unwrap_or(content_type);
        let mut head = format!("HTTP/1.1 {status} {}\r\n{length}\r\n", reason(status));
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-type: {content_type}\r\n\r\n"));
        let mut socket = self.socket;
        socket.write_all(head.as_bytes())
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200..=299 => "OK",
        300..=399 => "Elsewhere",
        400..=499 => "Refused",
        _ => "Broken",
    }
}
