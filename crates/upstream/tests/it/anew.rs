//! A subscription of the stateless era that is asked anew: for one more resource, and when it ends.

use std::path::Path;
use std::time::Duration;

use switchboard_model::{HttpKind, ServerSpec};
use switchboard_testkit::Scratch;
use switchboard_testkit::script::{Script, Scripted};
use switchboard_upstream::{CallError, Context};
use switchboard_wire::method;

use crate::kit::{Hub, command, context, key, until, url};
use crate::late::hasty;
use crate::watched::{URI, ask, is_of, named, subscribe, told, touch, untold, updated};

pub(crate) const OTHER: &str = "scripted://other";
pub(crate) const THIRD: &str = "scripted://third";

/// How often the server behind this record was asked to tell.
pub(crate) fn listens(record: &Path) -> usize {
    let asks = format!(r#""method":"{}""#, method::LISTEN);
    std::fs::read_to_string(record).unwrap_or_default().matches(&asks).count()
}

/// Waits until its first stream is open: what changes before that is told to nobody.
pub(crate) async fn heard(hub: &Hub) {
    let tools = || hub.upstreams.catalog(&key("a")).unwrap().tools.len();
    let before = tools();
    while tools() == before {
        hub.tool("a", "change_tools", r#"{"list":"tools"}"#).await.unwrap();
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// A hub whose server tells of these resources on the only stream that it was asked for.
pub(crate) async fn on_one_stream(context: Context, spec: ServerSpec, uris: &[&str]) -> Hub {
    let hub = Hub::with(context, [spec]).await;
    // What it is late with, or refuses as it does not know yet that the connection before has ended, is lost.
    for _ in 0..20 {
        for uri in uris {
            until_subscribed(&hub, uri).await;
        }
        hub.upstreams.reconnect(&key("a")).await;
        hub.until("a", |state| state.is_connected()).await;
        heard(&hub).await;
        if uris.iter().all(|uri| hub.upstreams.is_subscribed(&key("a"), uri)) {
            hub.told();
            return hub;
        }
    }
    panic!("it never agrees at once");
}

/// Subscribes until the server agrees.
pub(crate) async fn until_subscribed(hub: &Hub, uri: &str) {
    for _ in 0..100 {
        if subscribe(hub, uri).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("it never agrees to tell of {uri}");
}

/// While one more resource is asked for, the others are heard, and so are the lists.
#[tokio::test]
async fn nothing_is_missed_while_it_is_asked_anew() {
    let scratch = Scratch::new();
    let slow = scratch.path().join("slow");
    let record = scratch.path().join("record");
    let late = "delay:ms=3000,method=subscriptions/listen";
    let script = Script::new().only("2026-07-28").record(&record).while_file(&slow).fault(late);
    let server = Scripted::http(&script);
    for spec in [command("a", &script), url("a", server.url(), HttpKind::Streamable)] {
        let hub = Hub::start([spec]).await;
        ask(&hub, method::SUBSCRIBE).await.unwrap();
        assert!(told(&hub).await);
        std::fs::write(&slow, "").unwrap();
        let tools = || hub.upstreams.catalog(&key("a")).unwrap().tools.len();
        let (before, asked) = (tools(), listens(&record));
        let more = async {
            subscribe(&hub, OTHER).await.unwrap();
        };
        let meanwhile = async {
            // It is being asked, and takes its time.
            until("it is asked", || listens(&record) > asked).await;
            hub.told();
            touch(&hub, URI).await;
            touch(&hub, URI).await;
            hub.tool("a", "change_tools", r#"{"list":"tools"}"#).await.unwrap();
            // Whoever had missed something would be told to look, once.
            let mut times = 0;
            until("what it tells meanwhile is heard", || {
                times += named(&hub, updated);
                times > 1
            })
            .await;
            until("and so are its lists", || tools() > before).await;
        };
        tokio::join!(more, meanwhile);
        std::fs::remove_file(&slow).unwrap();
        hub.told();
        touch(&hub, OTHER).await;
        until("the other is told", || named(&hub, |kind| is_of(kind, OTHER)) > 0).await;
        hub.stop().await;
    }
}

/// A server that bears one stream at a time is asked anew without the other, and who missed something looks.
#[tokio::test]
async fn a_server_that_bears_one_stream_at_a_time() {
    let script = Script::new().only("2026-07-28").listeners(1);
    let server = Scripted::http(&script);
    for spec in [command("a", &script), url("a", server.url(), HttpKind::Streamable)] {
        let hub = Hub::start([spec]).await;
        for (uri, looks) in [(URI, 0), (OTHER, 1), (THIRD, 1)] {
            hub.told();
            subscribe(&hub, uri).await.unwrap();
            let mut times = 0;
            until("who missed something looks", || {
                times += named(&hub, updated);
                times >= looks
            })
            .await;
            assert_eq!(times, looks, "{uri}");
            for wanted in [URI, OTHER, THIRD] {
                if hub.upstreams.is_subscribed(&key("a"), wanted) {
                    touch(&hub, wanted).await;
                    until("it is told", || named(&hub, |kind| is_of(kind, wanted)) > 0).await;
                }
            }
        }
        hub.stop().await;
    }
}

/// A server that is slow to see that a stream was closed refuses the next one until it does.
#[tokio::test]
async fn a_server_that_is_slow_to_see_that_a_stream_was_closed() {
    let check = async |spec: ServerSpec, uris: &[&str]| {
        let hub = Hub::start([spec]).await;
        heard(&hub).await;
        for uri in uris {
            subscribe(&hub, uri).await.unwrap();
        }
        hub.told();
        touch(&hub, URI).await;
        until("it is told", || named(&hub, updated) > 0).await;
        hub.stop().await;
    };
    // After the stream of its lists the next is refused, beside it and twice without it.
    let fault = "error:code=-32603,method=subscriptions/listen,after=1,times=3";
    let script = Script::new().only("2026-07-28").fault(fault);
    let server = Scripted::http(&script);
    check(command("a", &script), &[URI]).await;
    check(url("a", server.url(), HttpKind::Streamable), &[URI]).await;
    // It bears two streams; over HTTP the one before goes on for a moment.
    let server = Scripted::http(&Script::new().only("2026-07-28").listeners(2));
    check(url("a", server.url(), HttpKind::Streamable), &[URI, OTHER, THIRD]).await;
}

/// What it had agreed to and refuses for a while is nobody's promise meanwhile.
#[tokio::test]
async fn what_is_refused_for_a_while_is_told() {
    let scratch = Scratch::new();
    let trouble = scratch.path().join("trouble");
    let fault = "error:code=-32603,method=subscriptions/listen";
    let script = Script::new().only("2026-07-28").lasting().while_file(&trouble).fault(fault);
    let server = Scripted::http(&script);
    for spec in [command("a", &script), url("a", server.url(), HttpKind::Streamable)] {
        let hub = Hub::start([spec]).await;
        let is_promised = || hub.upstreams.is_subscribed(&key("a"), URI);
        ask(&hub, method::SUBSCRIBE).await.unwrap();
        std::fs::write(&trouble, "").unwrap();
        hub.tool("a", "listen_end", "{}").await.unwrap();
        until("it is said that it does not tell", || named(&hub, untold) == 1).await;
        assert!(!is_promised());
        let refused = ask(&hub, method::SUBSCRIBE).await;
        assert!(matches!(refused, Err(CallError::Rpc(_))), "{refused:?}");
        std::fs::remove_file(&trouble).unwrap();
        ask(&hub, method::SUBSCRIBE).await.unwrap();
        assert!(told(&hub).await && is_promised());
        hub.stop().await;
    }
}

/// What it refuses because of one resource is not lost for the others.
#[tokio::test]
async fn a_refusal_of_one_resource_is_no_refusal_of_the_others() {
    let scratch = Scratch::new();
    let trouble = scratch.path().join("trouble");
    let check = async |spec: ServerSpec| {
        let hub = on_one_stream(context(), spec, &[URI]).await;
        std::fs::write(&trouble, "").unwrap();
        let refused = subscribe(&hub, OTHER).await;
        std::fs::remove_file(&trouble).unwrap();
        assert!(refused.is_err_and(|error| !matches!(error, CallError::Lost { .. })));
        assert!(hub.upstreams.is_subscribed(&key("a"), URI));
        touch(&hub, URI).await;
        let mut events = Vec::new();
        until("it is told", || {
            events.extend(hub.told());
            events.iter().any(updated)
        })
        .await;
        assert!(!events.iter().any(untold), "it was never lost");
        // What stands in front of it may have refused, and not itself.
        subscribe(&hub, OTHER).await.unwrap();
        hub.stop().await;
    };
    let faults =
        ["error:code=-32602", "error:code=-32601", "status:status=403", "status:status=200"];
    for fault in faults {
        let fault = format!("{fault},method=subscriptions/listen,about={OTHER}");
        let script = Script::new().only("2026-07-28").while_file(&trouble).fault(fault.as_str());
        let server = Scripted::http(&script);
        check(url("a", server.url(), HttpKind::Streamable)).await;
        if fault.starts_with("error") {
            check(command("a", &script)).await;
        }
    }
}

/// One that never acknowledges is not heard by the stream before, as it may wait for the end of that: it is looked at,
/// until it is asked for something else.
#[tokio::test]
async fn what_is_never_acknowledged_is_asked_for_again_with_the_next() {
    let scratch = Scratch::new();
    let trouble = scratch.path().join("trouble");
    let fault = "silent:method=subscriptions/listen";
    let script = Script::new().only("2026-07-28").while_file(&trouble).fault(fault);
    let hub = Hub::with(hasty(), [command("a", &script)]).await;
    let polled = || hub.upstreams.catalog(&key("a")).unwrap().polled.is_some();
    heard(&hub).await;
    std::fs::write(&trouble, "").unwrap();
    let first = ask(&hub, method::SUBSCRIBE);
    let second = async {
        until("its lists are looked at", polled).await;
        std::fs::remove_file(&trouble).unwrap();
        subscribe(&hub, OTHER).await.unwrap();
        until("its lists are heard again", || !polled()).await;
    };
    let (first, ()) = tokio::join!(first, second);
    first.unwrap();
    assert!(told(&hub).await);
    hub.stop().await;
}

/// A stream that was closed because the next one may wait for that: what was told on it is nobody's promise. Whoever
/// gives up does not keep the others waiting.
#[tokio::test]
async fn what_is_closed_for_a_stream_that_never_comes_is_told() {
    let scratch = Scratch::new();
    let trouble = scratch.path().join("trouble");
    let fault = "silent:method=subscriptions/listen";
    let script = Script::new().only("2026-07-28").while_file(&trouble).fault(fault);
    let server = Scripted::http(&script);
    for spec in [command("a", &script), url("a", server.url(), HttpKind::Streamable)] {
        let hub = on_one_stream(hasty(), spec, &[URI]).await;
        let polled = || hub.upstreams.catalog(&key("a")).unwrap().polled.is_some();
        std::fs::write(&trouble, "").unwrap();
        let meanwhile = async {
            until("it is said that it does not tell", || named(&hub, untold) == 1).await;
            until("its lists are looked at", polled).await;
            std::fs::remove_file(&trouble).unwrap();
        };
        tokio::select! {
            asked = subscribe(&hub, OTHER) => panic!("{asked:?}"),
            () = meanwhile => {}
        }
        assert!(!hub.upstreams.is_subscribed(&key("a"), OTHER));
        until("its lists are heard again", || !polled()).await;
        ask(&hub, method::SUBSCRIBE).await.unwrap();
        assert!(told(&hub).await);
        hub.stop().await;
    }
}
