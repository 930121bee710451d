//! The API of a hub that may die at any moment. Never takes half an answer for one.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// A way in, with a token.
#[derive(Clone)]
pub(super) struct Door {
    address: String,
    token: String,
}

impl Door {
    pub(super) fn new(address: &str, token: &str) -> Self {
        Self { address: address.to_owned(), token: token.to_owned() }
    }

    /// The same with another token.
    pub(super) fn with_token(&self, token: &str) -> Self {
        Self::new(&self.address, token)
    }

    /// Status and body, if the whole answer came.
    pub(super) fn ask(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Option<(u16, Value)> {
        self.ask_with(method, path, "", body)
    }

    /// The same, with more headers.
    pub(super) fn ask_with(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: Option<&Value>,
    ) -> Option<(u16, Value)> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut stream = TcpStream::connect(&self.address).ok()?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
             {headers}Authorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            self.address,
            self.token,
            body.len(),
        );
        stream.write_all((head + &body).as_bytes()).ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        let (head, body) = text.split_once("\r\n\r\n")?;
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        });
        if length.unwrap_or(0) != body.len() {
            return None;
        }
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some((status, serde_json::from_str(body).unwrap_or_default()))
    }
}
