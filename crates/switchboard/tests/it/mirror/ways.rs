//! How mirrors are reached: lines on a pipe, requests over HTTP, and the older transport. Never knows what is said.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use super::{Server, Way, is_for};

/// What has no answer, or another place for it.
const ACCEPTED: &str = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Serves one connection.
pub(super) fn serve(stream: &TcpStream, server: &Arc<Server>, way: Way) {
    match way {
        Way::Pipe => read_lines(stream, server),
        Way::Json | Way::Events | Way::Sse => read_request(stream, server, way),
    }
}

fn read_lines(stream: &TcpStream, server: &Arc<Server>) {
    let out = Arc::new(Mutex::new(stream.try_clone().unwrap()));
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let (server, out) = (Arc::clone(server), Arc::clone(&out));
        std::thread::spawn(move || {
            server.hear(&line, |message| write(&out.lock().unwrap(), &format!("{message}\n")));
        });
    }
}

/// One request; the connection ends with its answer, unless that is the stream of the older transport.
fn read_request(stream: &TcpStream, server: &Server, way: Way) {
    let Some((method, body)) = read(stream) else { return };
    match (way, &*method) {
        (Way::Sse, "GET") => return open(stream, server),
        (Way::Sse, "POST") => return read_posted(stream, server, &body),
        (_, "POST") => {}
        _ => return write(stream, "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"),
    }
    let is_more = is_for(&body, "work") || is_for(&body, "ask");
    let (kind, before, after) = match way {
        Way::Json if !is_more => ("application/json", "", ""),
        _ => ("text/event-stream", "data: ", "\n\n"),
    };
    let mut head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n");
    server.hear(&body, |message| {
        write(stream, &format!("{}{before}{message}{after}", std::mem::take(&mut head)));
    });
    if !head.is_empty() {
        write(stream, ACCEPTED);
    }
}

/// Begins the stream on which all comes, and says where to post to.
fn open(stream: &TcpStream, server: &Server) {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    *server.stream.lock().unwrap() = Some(stream.try_clone().unwrap());
    write(stream, &format!("{head}event: endpoint\ndata: /posted\n\n"));
}

/// A message whose answer comes on that stream.
fn read_posted(stream: &TcpStream, server: &Server, body: &str) {
    write(stream, ACCEPTED);
    server.hear(body, |message| {
        let all = server.stream.lock().unwrap();
        write(all.as_ref().unwrap(), &format!("event: message\ndata: {message}\n\n"));
    });
}

fn read(stream: &TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let start = head.len();
        reader.read_line(&mut head).ok().filter(|read| *read > 0)?;
        let line = head[start..].trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head.split(' ').next()?.to_owned(), String::from_utf8(body).ok()?))
}

fn write(mut stream: &TcpStream, text: &str) {
    // Whoever does not wait for it is a hub that ends.
    let _ = stream.write_all(text.as_bytes());
}
