//! A server of the stateless era that is asked for less than it tells: nothing that it tells is given up for that.

use std::path::Path;
use std::time::Duration;

use switchboard_model::{EventKind, HttpKind};
use switchboard_testkit::Scratch;
use switchboard_testkit::script::{Script, Scripted};
use switchboard_upstream::Context;
use switchboard_wire::method;
use tokio::time::sleep;

use crate::anew::{OTHER, THIRD, heard, listens, on_one_stream};
use crate::kit::{Hub, command, context, key, until, url};
use crate::late::{LATE, hasty};
use crate::watched::{URI, about, is_of, subscribe, touch, untold, updated};

async fn unsubscribe(hub: &Hub, uri: &str) {
    about(hub, method::UNSUBSCRIBE, uri).await.unwrap();
}

/// It is told as often as it is touched, so its stream was never closed; and nobody was told anything else.
async fn is_still_told(hub: &Hub) {
    let mut events = Vec::new();
    for times in 1..=3 {
        touch(hub, URI).await;
        until("it is told", || {
            events.extend(hub.told());
            events.iter().filter(|kind| updated(kind)).count() == times
        })
        .await;
    }
    assert!(!events.iter().any(untold));
}

/// What does not work out: it refuses, or says nothing.
#[tokio::test]
async fn what_is_told_is_not_closed_for_less() {
    let scratch = Scratch::new();
    let check = async |name: &str, fault: &str, context: Context, over_http: bool| {
        let (trouble, record) = (scratch.path().join("trouble"), scratch.path().join(name));
        let fault = format!("{fault},method=subscriptions/listen");
        let script = Script::new().only("2026-07-28").record(&record).while_file(&trouble);
        let script = script.fault(fault.as_str());
        let server = Scripted::http(&script);
        let spec = match over_http {
            true => url("a", server.url(), HttpKind::Streamable),
            false => command("a", &script),
        };
        let hub = on_one_stream(context, spec, &[URI, OTHER]).await;
        std::fs::write(&trouble, "").unwrap();
        let before = listens(&record);
        unsubscribe(&hub, OTHER).await;
        until("it is asked for less", || listens(&record) > before).await;
        // It is late, or has refused it again and again by then.
        sleep(LATE + Duration::from_millis(1000)).await;
        is_still_told(&hub).await;
        assert_eq!(listens(&record), before + 1, "{name}: it is not asked again");
        std::fs::remove_file(&trouble).unwrap();
        // With the next question it is told off.
        subscribe(&hub, THIRD).await.unwrap();
        is_told_off(&hub).await;
        hub.stop().await;
    };
    for over_http in [false, true] {
        check("refused", "error:code=-32603", context(), over_http).await;
        check("never", "error:code=-32601", context(), over_http).await;
        check("silent", "silent:", hasty(), over_http).await;
    }
    check("busy", "status:status=503", context(), true).await;
}

/// The same for one that is known to bear two streams, and for one that bears one.
#[tokio::test]
async fn who_is_asked_for_less_is_not_asked_for_ever() {
    let scratch = Scratch::new();
    let check = async |name: &str, script: Script, trouble: &Path, asked: usize| {
        let record = scratch.path().join(name);
        let fault = "error:code=-32603,method=subscriptions/listen";
        let script = script.only("2026-07-28").record(&record).while_file(trouble).fault(fault);
        let hub = Hub::start([command("a", &script)]).await;
        heard(&hub).await;
        for uri in [URI, OTHER] {
            subscribe(&hub, uri).await.unwrap();
        }
        let tools = hub.upstreams.catalog(&key("a")).unwrap().tools.len();
        sleep(Duration::from_millis(500)).await;
        hub.told();
        std::fs::write(trouble, "").unwrap();
        let before = listens(&record);
        unsubscribe(&hub, OTHER).await;
        sleep(Duration::from_millis(1500)).await;
        assert_eq!(listens(&record), before + asked, "{name}");
        is_still_told(&hub).await;
        assert_eq!(hub.upstreams.catalog(&key("a")).unwrap().tools.len(), tools);
        // What it tells still is no question.
        subscribe(&hub, OTHER).await.unwrap();
        unsubscribe(&hub, OTHER).await;
        std::fs::remove_file(trouble).unwrap();
        subscribe(&hub, THIRD).await.unwrap();
        is_told_off(&hub).await;
        hub.stop().await;
    };
    let trouble = |name: &str| scratch.path().join(format!("trouble of {name}"));
    check("several", Script::new(), &trouble("several"), 1).await;
    check("one", Script::new().listeners(1), &trouble("one"), 0).await;
}

/// It does not tell of the other any more.
async fn is_told_off(hub: &Hub) {
    for _ in 0..100 {
        hub.told();
        touch(hub, OTHER).await;
        touch(hub, URI).await;
        let mut events = Vec::new();
        until("it is told", || {
            events.extend(hub.told());
            events.iter().any(updated)
        })
        .await;
        if !events.iter().any(|kind: &EventKind| is_of(kind, OTHER)) {
            return;
        }
        // Over HTTP the stream before is heard for a moment more.
        sleep(Duration::from_millis(100)).await;
    }
    panic!("it still tells of what nobody wants");
}
