//! Servers of the stateless era that take longer than they should to acknowledge a subscription: for lack of time, or
//! because they wait for the end of another.

use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;
use switchboard_model::{EventKind, HttpKind, ServerSpec};
use switchboard_testkit::Scratch;
use switchboard_testkit::script::{Script, Scripted};
use switchboard_upstream::Context;
use switchboard_wire::method;
use tokio::time::{sleep, timeout};

use crate::anew::{OTHER, THIRD, heard, listens, on_one_stream, until_subscribed};
use crate::kit::{Hub, command, context, key, until, url};
use crate::watched::{URI, ask, is_of, named, subscribe, touch, untold, updated};

/// What is late for the hub of these tests, and after how long whoever has lost a subscription asks again. A server
/// may have acknowledged everything by then, or nothing yet. A busy machine is no late server.
pub(crate) const LATE: Duration = Duration::from_millis(1500);
const AGAIN: Duration = Duration::from_millis(1200);

pub(crate) fn hasty() -> Context {
    let mut context = context();
    context.waits.acknowledge = LATE;
    context
}

/// Servers that are late, and how many subscriptions are lost by that at most.
fn rows() -> [(&'static str, Script, usize); 4] {
    let slow = |fault: &str| Script::new().fault(fault);
    [
        ("it waits for the end of another", Script::new().listeners(1).queues(), 0),
        ("a little", slow("delay:ms=2100,method=subscriptions/listen"), 1),
        ("as late as it is lost", slow("delay:ms=3600,method=subscriptions/listen"), 1),
        ("later than it is asked for again", slow("delay:ms=5400,method=subscriptions/listen"), 1),
    ]
}

/// Subscribes to one more as an agent's session does: again, if what was promised is lost. Adds how often that was,
/// also in the time after.
async fn pursue(hub: &Hub, uri: &str, lost: &mut usize) {
    let asking = async {
        subscribe(hub, uri).await.unwrap();
        sleep(LATE * 3).await;
    };
    let losing = async {
        loop {
            for kind in hub.told() {
                if let EventKind::ResourceUntold { uri } = kind {
                    *lost += 1;
                    sleep(AGAIN).await;
                    subscribe(hub, &uri).await.unwrap();
                }
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        () = asking => {}
        () = losing => {}
    }
}

async fn check(name: &str, spec: ServerSpec, slow: &Path, most: usize) {
    let hub = on_one_stream(hasty(), spec, &[URI]).await;
    std::fs::write(slow, "").unwrap();
    let mut lost = 0;
    for uri in [OTHER, THIRD] {
        pursue(&hub, uri, &mut lost).await;
        assert!(lost <= most, "{name}: {lost} were lost with {uri}");
    }
    for uri in [URI, OTHER, THIRD] {
        assert!(hub.upstreams.is_subscribed(&key("a"), uri), "{name}: {uri}");
        hub.told();
        touch(&hub, uri).await;
        until("it is told", || named(&hub, |kind| is_of(kind, uri)) > 0).await;
    }
    hub.stop().await;
}

/// What stands is closed for the next one, and lost by none who is only late; how late it may be is learnt.
#[tokio::test]
async fn a_server_that_is_late_is_asked_until_it_is_heard() {
    let scratch = Scratch::new();
    join_all(rows().map(async |(name, script, most)| {
        let at = |way: &str| scratch.path().join(format!("{name}, {way}"));
        let of = |slow: &Path| script.clone().only("2026-07-28").while_file(slow);
        let (piped, posted) = (at("on a pipe"), at("behind a URL"));
        let server = Scripted::http(&of(&posted));
        let far = url("a", server.url(), HttpKind::Streamable);
        let near = command("a", &of(&piped));
        tokio::join!(check(name, near, &piped, most), check(name, far, &posted, most));
    }))
    .await;
}

/// What somebody waits for is asked for, though it was lost for those who had it before.
#[tokio::test]
async fn what_is_wished_for_again_while_it_is_lost_is_asked_for() {
    let scratch = Scratch::new();
    let trouble = scratch.path().join("trouble");
    let fault = "silent:method=subscriptions/listen";
    let script = Script::new().only("2026-07-28").while_file(&trouble).fault(fault);
    // It is asked for the others alone, or was asked for one more beside it.
    for more in [None, Some(OTHER)] {
        let hub = on_one_stream(hasty(), command("a", &script), &[URI]).await;
        std::fs::write(&trouble, "").unwrap();
        let beside = async {
            if let Some(uri) = more {
                subscribe(&hub, uri).await.unwrap();
            }
            std::future::pending::<()>().await
        };
        let anew = async {
            sleep(LATE / 6).await;
            ask(&hub, method::UNSUBSCRIBE).await.unwrap();
            sleep(LATE / 6).await;
            let meanwhile = async {
                sleep(LATE / 6).await;
                std::fs::remove_file(&trouble).unwrap();
            };
            let (asked, ()) = tokio::join!(ask(&hub, method::SUBSCRIBE), meanwhile);
            asked.unwrap();
        };
        let both = async {
            tokio::select! {
                () = anew => {}
                () = beside => {}
            }
        };
        timeout(LATE * 20, both).await.expect("it is agreed to");
        hub.told();
        touch(&hub, URI).await;
        until("it is told", || named(&hub, updated) > 0).await;
        hub.stop().await;
    }
}

/// What is still heard is not asked for again when nothing else is wanted any more: it answers whoever wants that.
#[tokio::test]
async fn what_stands_is_not_asked_for_again() {
    let scratch = Scratch::new();
    let (trouble, record) = (scratch.path().join("trouble"), scratch.path().join("record"));
    let fault = "silent:method=subscriptions/listen";
    let script = Script::new().only("2026-07-28").while_file(&trouble).fault(fault);
    let hub = Hub::with(hasty(), [command("a", &script.record(&record))]).await;
    let asked = || std::fs::read_to_string(&record).unwrap().matches(method::LISTEN).count();
    heard(&hub).await;
    ask(&hub, method::SUBSCRIBE).await.unwrap();
    std::fs::write(&trouble, "").unwrap();
    let before = asked();
    // It bears two streams, and does not say whether it agrees to more.
    assert!(timeout(LATE * 2, subscribe(&hub, OTHER)).await.is_err());
    sleep(LATE / 2).await;
    let more = asked() - before;
    ask(&hub, method::UNSUBSCRIBE).await.unwrap();
    until("it is asked for less", || asked() > before + more).await;
    timeout(LATE * 6, ask(&hub, method::SUBSCRIBE)).await.expect("it stands").unwrap();
    assert_eq!(asked() - before, 2 * more);
    hub.told();
    touch(&hub, URI).await;
    until("it is told", || named(&hub, updated) > 0).await;
    hub.stop().await;
}

/// A server that has borne two streams, and of which both end while it is given a moment, still bears two.
#[tokio::test]
async fn an_end_in_between_says_nothing_of_how_many_streams_it_bears() {
    let scratch = Scratch::new();
    let record = scratch.path().join("record");
    let script = Script::new().only("2026-07-28").listeners(2).lasting().record(&record);
    let server = Scripted::http(&script);
    let hub = Hub::start([url("a", server.url(), HttpKind::Streamable)]).await;
    let polled = || hub.upstreams.catalog(&key("a")).unwrap().polled.is_some();
    until("its lists are heard", || !polled()).await;
    subscribe(&hub, URI).await.unwrap();
    let asked = listens(&record);
    let end = async {
        until("a third stream is asked for", || listens(&record) > asked).await;
        // It has refused that, and is not asked again yet. Where it is, nothing is shown here, and nothing else is true.
        sleep(Duration::from_millis(60)).await;
        hub.tool("a", "listen_end", "{}").await.unwrap();
    };
    tokio::join!(until_subscribed(&hub, OTHER), end);
    sleep(Duration::from_millis(1500)).await;
    hub.told();
    subscribe(&hub, THIRD).await.unwrap();
    sleep(Duration::from_millis(500)).await;
    assert_eq!(named(&hub, updated), 0, "nothing was missed");
    hub.stop().await;
}

/// What stands may end while the next stream is late already: that is said, and looked at.
#[tokio::test]
async fn what_falls_while_the_next_is_late_is_told() {
    let scratch = Scratch::new();
    let trouble = scratch.path().join("trouble");
    let fault = "silent:method=subscriptions/listen";
    let script = Script::new().only("2026-07-28").lasting().while_file(&trouble).fault(fault);
    let server = Scripted::http(&script);
    for spec in [command("a", &script), url("a", server.url(), HttpKind::Streamable)] {
        let hub = Hub::with(hasty(), [spec]).await;
        let polled = || hub.upstreams.catalog(&key("a")).unwrap().polled.is_some();
        heard(&hub).await;
        // It bears two.
        ask(&hub, method::SUBSCRIBE).await.unwrap();
        std::fs::write(&trouble, "").unwrap();
        hub.told();
        let meanwhile = async {
            sleep(LATE * 2).await;
            assert!(hub.upstreams.is_subscribed(&key("a"), URI) && !polled());
            hub.tool("a", "listen_end", "{}").await.unwrap();
            until("it is said that it does not tell", || named(&hub, untold) == 1).await;
            until("its lists are looked at", polled).await;
        };
        tokio::select! {
            asked = subscribe(&hub, OTHER) => panic!("{asked:?}"),
            () = meanwhile => {}
        }
        std::fs::remove_file(&trouble).unwrap();
        ask(&hub, method::SUBSCRIBE).await.unwrap();
        until("its lists are heard again", || !polled()).await;
        hub.stop().await;
    }
}
