//! A client that says exactly what it is told to.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::HeaderMap;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio_util::task::TaskTracker;

/// Everything must happen within this.
const LIMIT: Duration = Duration::from_secs(60);

/// Asks from one place, with the same headers each time.
#[derive(Clone)]
pub(crate) struct Client {
    address: SocketAddr,
    tasks: TaskTracker,
    headers: Vec<(String, String)>,
}

/// What came back.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The same, if the status is that.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        if self.text.is_empty() { Value::Null } else { self.json() }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }
}

impl Client {
    pub(crate) fn new(address: SocketAddr, tasks: &TaskTracker) -> Self {
        Self { address, tasks: tasks.clone(), headers: Vec::new() }
    }

    /// With this header too.
    pub(crate) fn header(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send("POST", path, Some(body.to_string())).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        self.send("PUT", path, Some(body.to_string())).await
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn send(&self, method: &str, path: &str, body: Option<String>) -> Answer {
        let all = async {
            let response = self.open(method, path, body).await;
            let (head, body) = response.into_parts();
            let bytes = body.collect().await.unwrap().to_bytes();
            Answer {
                status: head.status.as_u16(),
                headers: head.headers,
                text: String::from_utf8(bytes.to_vec()).unwrap(),
            }
        };
        tokio::time::timeout(LIMIT, all).await.unwrap()
    }

    /// The head of an answer alone, when its body may never end.
    pub(crate) async fn open(
        &self,
        method: &str,
        path: &str,
        body: Option<String>,
    ) -> Response<Incoming> {
        let stream = tokio::net::TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        self.tasks.spawn(async move { drop(connection.await) });
        let mut request =
            Request::builder().method(method).uri(path).header("host", self.address.to_string());
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let body = Full::new(Bytes::from(body.unwrap_or_default()));
        sender.send_request(request.body(body).unwrap()).await.unwrap()
    }
}
