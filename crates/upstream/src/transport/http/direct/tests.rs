//! Answers of every shape, from a server that writes them by hand.

use tokio::net::TcpListener;

use super::*;

/// A server that answers each connection's requests with these texts, then closes it.
async fn server(connections: Vec<Vec<&'static [u8]>>) -> Arc<Direct> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp?a=1", listener.local_addr().unwrap());
    #[expect(clippy::disallowed_methods, reason = "it ends with the test's runtime")]
    tokio::spawn(async move {
        for answers in connections {
            let (mut stream, _) = listener.accept().await.unwrap();
            for answer in answers {
                let mut seen = Vec::new();
                while !seen.ends_with(b"{}") {
                    if stream.read_buf(&mut seen).await.unwrap() == 0 {
                        break;
                    }
                }
                assert!(seen.starts_with(b"POST /mcp?a=1 HTTP/1.1\r\nhost: 127.0.0.1:"));
                // In two parts, so that nothing depends on where a read ends.
                let (one, two) = answer.split_at(answer.len() / 2);
                stream.write_all(one).await.unwrap();
                tokio::task::yield_now().await;
                stream.write_all(two).await.unwrap();
            }
        }
    });
    Direct::new(&Url::parse(&url).unwrap(), &HeaderMap::new()).unwrap()
}

async fn body(mut answer: Answer) -> Result<Vec<u8>, Broken> {
    let mut all = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        all.extend_from_slice(&chunk);
    }
    Ok(all)
}

async fn post(direct: &Arc<Direct>) -> Result<Vec<u8>, Broken> {
    body(direct.send(&direct.request(std::iter::empty(), b"{}")).await?).await
}

fn kept(direct: &Direct) -> usize {
    direct.idle.lock().unwrap().len()
}

/// What the server does behind its answer is seen a moment later.
async fn until_nothing_is_kept(direct: &Direct) {
    while let Some(connection) = direct.take() {
        direct.keep(connection);
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn answers_end_where_they_say() {
    for (answer, text, reused) in [
        (&b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"[..], &b"hello"[..], true),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", b"", true),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b"", true),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok", true),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nA: b\r\n\r\n",
            b"hello",
            true,
        ),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", b"ok", false),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok", false),
        (b"HTTP/1.1 200 OK\r\n\r\neverything", b"everything", false),
    ] {
        let direct = server(vec![vec![answer]]).await;
        assert_eq!(post(&direct).await.unwrap(), text, "{answer:?}");
        assert_eq!(kept(&direct) == 1, reused, "{answer:?}");
    }
}

#[tokio::test]
async fn what_is_ambiguous_or_broken_is_an_error() {
    for answer in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"[..],
        b"HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokXX0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"SSH-2.0-OpenSSH_9\r\n\r\n",
        b"",
    ] {
        let direct = server(vec![vec![answer]]).await;
        let broken = post(&direct).await.unwrap_err();
        assert_eq!(broken.delivery, Delivery::Perhaps, "{answer:?}");
        assert_eq!(kept(&direct), 0, "{answer:?}");
    }
}

#[tokio::test]
async fn a_connection_is_used_again_until_the_server_closes_it() {
    const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let direct = server(vec![vec![OK, OK, OK], vec![OK]]).await;
    for _ in 0..3 {
        assert_eq!(post(&direct).await.unwrap(), b"ok");
        assert_eq!(kept(&direct), 1);
    }
    // The server closes it behind its last answer.
    until_nothing_is_kept(&direct).await;
    assert_eq!(post(&direct).await.unwrap(), b"ok");
}

#[tokio::test]
async fn what_was_not_asked_for_ends_the_connection() {
    const MORE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad";
    const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let direct = server(vec![vec![MORE], vec![OK]]).await;
    assert_eq!(post(&direct).await.unwrap(), b"ok");
    until_nothing_is_kept(&direct).await;
    assert_eq!(post(&direct).await.unwrap(), b"ok");
}

#[test]
fn which_urls_are_for_this_client() {
    let none = HeaderMap::new();
    let direct =
        |url: &str, headers: &HeaderMap| Direct::new(&Url::parse(url).unwrap(), headers).is_some();
    assert!(direct("http://127.0.0.1:9/mcp", &none));
    assert!(direct("http://[::1]/mcp", &none));
    assert!(!direct("https://127.0.0.1/mcp", &none));
    assert!(!direct("http://user:pass@127.0.0.1/mcp", &none));
    for name in ["host", "connection", "mcp-session-id"] {
        let name = HeaderName::from_static(name);
        let odd = HeaderMap::from_iter([(name, HeaderValue::from_static("x"))]);
        assert!(!direct("http://127.0.0.1:9/mcp", &odd));
    }
}

#[tokio::test]
async fn headers_are_found_whatever_their_case() {
    const ANSWER: &[u8] = b"HTTP/1.1 401 Unauthorized\r\nX: content-type: no\r\nConTent-Type:  a/b \r\nContent-Length: 0\r\n\r\n";
    let direct = server(vec![vec![ANSWER]]).await;
    let answer = direct.send(&direct.request(std::iter::empty(), b"{}")).await.unwrap();
    assert_eq!(answer.status().as_u16(), 401);
    assert_eq!(answer.header("content-type"), Some("a/b"));
    assert_eq!(answer.header("x"), Some("content-type: no"));
    assert_eq!(answer.header("content"), None);
}
