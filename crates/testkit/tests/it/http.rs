//! As much of an HTTP client as the tests need: one request per connection, bodies as they come.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use switchboard_wire::sse::{Decoder, Item};

/// A response whose body has not been read yet.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    reader: BufReader<TcpStream>,
}

/// A request to `http://host:port/path`.
pub(crate) fn send(
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> io::Result<Response> {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut socket = TcpStream::connect(host)?;
    socket.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut head = format!("{method} /{path} HTTP/1.1\r\nhost: {host}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    socket.write_all(&[head.as_bytes(), body].concat())?;
    let mut reader = BufReader::new(socket);
    let first = line(&mut reader)?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or(io::ErrorKind::UnexpectedEof)?;
    let mut headers = Vec::new();
    loop {
        let header = line(&mut reader)?;
        match header.split_once(": ") {
            Some((name, value)) => headers.push((name.to_owned(), value.to_owned())),
            None => return Ok(Response { status, headers, reader }),
        }
    }
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn is_events(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    /// The whole body.
    pub(crate) fn body(mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece()? {
            body.extend(piece);
        }
        Ok(body)
    }

    /// Hands over the events until the body ends, or the hearer has had enough.
    pub(crate) fn events(
        mut self,
        mut hear: impl FnMut(&str, Option<&str>, &[u8]) -> bool,
    ) -> io::Result<()> {
        let mut decoder = Decoder::new(usize::MAX);
        while let Some(piece) = self.piece()? {
            decoder.feed(&piece);
            while let Some(item) = decoder.next_item() {
                let Item::Event(event) = item else { continue };
                let kind = event.kind.as_deref().unwrap_or("message");
                if !hear(kind, decoder.last_event_id(), &event.data) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The next piece of the body; a body that breaks off is an error.
    fn piece(&mut self) -> io::Result<Option<Vec<u8>>> {
        let chunked = self.header("transfer-encoding").is_some();
        let length = if chunked {
            usize::from_str_radix(&line(&mut self.reader)?, 16)
                .map_err(|_| io::ErrorKind::UnexpectedEof)?
        } else {
            let at = self.headers.iter().position(|(name, _)| name == "content-length");
            // Read once; the second time there is none.
            at.map_or(0, |at| self.headers.swap_remove(at).1.parse().unwrap())
        };
        let mut piece = vec![0; length];
        self.reader.read_exact(&mut piece)?;
        if chunked {
            line(&mut self.reader)?;
        }
        Ok((length > 0).then_some(piece))
    }
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    if reader.by_ref().read_until(b'\n', &mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}
