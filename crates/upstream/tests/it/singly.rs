//! Servers of the stateless era that refuse whatever they are asked for together with one resource: that is no harm to
//! whoever wants another.

use std::time::Duration;

use switchboard_model::{HttpKind, ServerSpec};
use switchboard_testkit::script::{Script, Scripted};
use tokio::time::sleep;

use crate::anew::{OTHER, THIRD, heard};
use crate::kit::{Hub, command, key, until, url};
use crate::watched::{URI, is_of, named, subscribe, touch, updated};

/// Servers that cannot tell of the second resource: each bears that many streams.
fn scripts() -> [Script; 3] {
    let fault = format!("error:code=-32602,method=subscriptions/listen,about={OTHER}");
    let script = Script::new().only("2026-07-28").fault(fault.as_str());
    [script.clone(), script.clone().listeners(2), script.listeners(1)]
}

/// On a pipe, and behind a URL.
async fn each(check: impl AsyncFn(ServerSpec)) {
    for script in scripts() {
        let server = Scripted::http(&script);
        check(command("a", &script)).await;
        check(url("a", server.url(), HttpKind::Streamable)).await;
    }
}

/// Whoever wishes for it again and again does not keep the others unheard.
#[tokio::test]
async fn what_is_refused_again_and_again_does_not_silence_the_others() {
    each(async |spec| {
        let hub = Hub::start([spec]).await;
        subscribe(&hub, URI).await.unwrap();
        let wishing = async {
            loop {
                subscribe(&hub, OTHER).await.unwrap_err();
            }
        };
        let telling = async {
            for _ in 0..3 {
                hub.told();
                let mut events = Vec::new();
                while !events.iter().any(updated) {
                    touch(&hub, URI).await;
                    sleep(Duration::from_millis(20)).await;
                    events.extend(hub.told());
                }
            }
        };
        let telling = tokio::time::timeout(Duration::from_secs(30), telling);
        tokio::select! {
            told = telling => told.expect("it is told"),
            () = wishing => {}
        }
        assert!(hub.upstreams.is_subscribed(&key("a"), URI));
        hub.stop().await;
    })
    .await;
}

/// Who asks for another one in the same moment is not refused for it.
#[tokio::test]
async fn one_that_is_refused_is_no_refusal_of_those_beside_it() {
    each(async |spec| {
        let hub = Hub::start([spec]).await;
        heard(&hub).await;
        let (first, other, third) =
            tokio::join!(subscribe(&hub, URI), subscribe(&hub, OTHER), subscribe(&hub, THIRD));
        first.unwrap();
        other.unwrap_err();
        third.unwrap();
        hub.told();
        for uri in [URI, THIRD] {
            touch(&hub, uri).await;
            until("it is told", || named(&hub, |kind| is_of(kind, uri)) > 0).await;
        }
        hub.stop().await;
    })
    .await;
}
