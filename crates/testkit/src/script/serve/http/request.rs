//! Reads HTTP requests. Never answers, but for `100 Continue`.

use std::io::{BufRead, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Map, Value};

pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: String,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// The next one, if there is one and it is HTTP.
    pub(super) fn read(reader: &mut impl BufRead, mut socket: &TcpStream) -> Option<Self> {
        let first = line(reader)?;
        let mut words = first.split(' ');
        let (method, target) = (words.next()?.to_owned(), words.next()?);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut headers = Vec::new();
        loop {
            let header = line(reader)?;
            if header.is_empty() {
                break;
            }
            let (name, value) = header.split_once(':')?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut request =
            Self { method, path: path.to_owned(), query: query.to_owned(), headers, body: vec![] };
        if request.header("expect").is_some() {
            socket.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
        }
        request.body = request.read_body(reader)?;
        Some(request)
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether a header's list has this in it.
    pub(super) fn accepts(&self, what: &str) -> bool {
        self.header("accept").is_some_and(|accept| accept.contains(what) || accept == "*/*")
    }

    /// All headers, for the record.
    pub(super) fn headers(&self) -> Value {
        let headers = self.headers.iter().map(|(name, value)| (name.clone(), value.clone().into()));
        Value::Object(Map::from_iter(headers))
    }

    fn read_body(&self, reader: &mut impl BufRead) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        if self.header("transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
            loop {
                let size = line(reader)?;
                let size = size.split(';').next().unwrap_or_default().trim();
                let size = u64::from_str_radix(size, 16).ok()?;
                reader.by_ref().take(size).read_to_end(&mut body).ok()?;
                line(reader)?;
                if size == 0 {
                    return Some(body);
                }
            }
        }
        let length = self.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        reader.by_ref().take(length).read_to_end(&mut body).ok()?;
        (body.len() as u64 == length).then_some(body)
    }
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line).ok().filter(|count| *count > 0)?;
    let line = String::from_utf8_lossy(&line);
    Some(line.trim_end_matches(['\r', '\n']).to_owned())
}
