//! Subscriptions to resources: how long they are waited for, and that they end with what one sees.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use switchboard_core::{Audience, Offer};
use switchboard_model::{AgentId, HttpKind, HttpSpec, ServerKey, ServerSpec, Template, Transport};

use crate::kit::{Answer, Client, Hub, LIMIT, key, offer, request, until};

const UPDATED: &str = "notifications/resources/updated";

async fn session(hub: &Hub, token: &str) -> Client {
    hub.client(token).initialized("2025-11-25", json!({})).await
}

fn subscribe(uri: &str) -> String {
    request(7, "resources/subscribe", json!({"uri": uri}))
}

/// What each of the agents sees from now on.
fn audience(hub: &Hub, cto: &[ServerKey], dev: &[ServerKey]) {
    let agent = |id| AgentId::parse(id).unwrap();
    let audience = Audience::default().with_agent(agent("cto"), cto).with_agent(agent("dev"), dev);
    hub.registry.set_audience(audience);
}

fn asked(hub: &Hub, server: &str, method: &str) -> usize {
    let seen = hub.servers.seen.lock().unwrap();
    seen.iter().filter(|(of, asked, _)| of == server && asked == method).count()
}

/// Of which resource it is told next; lists are passed over.
async fn told(stream: &mut Answer) -> String {
    loop {
        let (_, message) = stream.next().await.unwrap();
        if message["method"] == UPDATED {
            return message["params"]["uri"].as_str().unwrap().to_owned();
        }
    }
}

#[tokio::test]
async fn who_has_lost_a_server_hears_nothing_more_of_it() {
    let hub = Hub::start().await;
    let (lost, kept) = ("mcp://beta/test://beta", "mcp://alpha/test://alpha");
    let (cto, dev) = (session(&hub, "token-cto").await, session(&hub, "token-dev").await);
    let (mut own, mut other) = (cto.get().await, dev.get().await);
    let wanted = json!({"notifications": {"resourceSubscriptions": [lost, kept]}});
    let mut stream =
        hub.client("token-cto").ask(9, "subscriptions/listen", wanted, json!({})).await;
    assert!(stream.next().await.is_some(), "it is acknowledged");
    for (client, uri) in [(&cto, lost), (&cto, kept), (&dev, lost)] {
        assert_eq!(client.post(&subscribe(uri)).await.json().await["result"], json!({}));
    }
    let update = |server: &str| {
        hub.endpoint.resource_updated(&key(server), &format!("test://{server}"));
    };
    // At once, and when everybody has been told of the change.
    audience(&hub, &[key("alpha")], &[key("beta")]);
    update("beta");
    update("alpha");
    assert_eq!([told(&mut own).await, told(&mut stream).await], [kept, kept]);
    assert_eq!(told(&mut other).await, lost, "who still sees it is told");
    // It comes back, and is not what was subscribed to.
    audience(&hub, &[key("alpha")], &[]);
    until("the server is told off", || {
        hub.endpoint.sweep();
        asked(&hub, "beta", "resources/unsubscribe") == 1
    })
    .await;
    let both = [key("alpha"), key("beta")];
    audience(&hub, &both, &both);
    update("beta");
    update("alpha");
    assert_eq!([told(&mut own).await, told(&mut stream).await], [kept, kept]);
    assert_eq!(hub.endpoint.watched(), [(key("alpha"), "test://alpha".to_owned())]);
    assert_eq!(asked(&hub, "alpha", "resources/unsubscribe"), 0);
    // Until it is subscribed to again.
    assert_eq!(cto.post(&subscribe(lost)).await.json().await["result"], json!({}));
    assert_eq!(asked(&hub, "beta", "resources/subscribe"), 2);
    update("beta");
    assert_eq!(told(&mut own).await, lost);
}

/// A server says how long a URI is, and each who hears of it would get a copy.
#[tokio::test]
async fn an_endless_part_is_told_to_nobody() {
    let hub = Hub::start().await;
    let cto = session(&hub, "token-cto").await;
    let mut own = cto.get().await;
    let uri = "mcp://beta/test://beta/p";
    assert_eq!(cto.post(&subscribe(uri)).await.json().await["result"], json!({}));
    let part = |long: usize| format!("test://beta/p/{}", "x".repeat(long));
    for long in [9_000, 8_000] {
        hub.endpoint.resource_updated(&key("beta"), &part(long));
    }
    assert_eq!(told(&mut own).await, format!("mcp://beta/{}", part(8_000)));
}

/// What changed may be part of what was subscribed to. It is told by the name that each has for it.
#[tokio::test]
async fn who_wants_to_hear_of_the_whole_hears_of_its_parts() {
    let hub = Hub::start().await;
    let (cto, dev) = (session(&hub, "token-cto").await, session(&hub, "token-dev").await);
    let door = hub.client("token-cto").at("/mcp/servers/beta");
    let door = door.initialized("2025-11-25", json!({})).await;
    let (mut own, mut at_door, mut other) = (cto.get().await, door.get().await, dev.get().await);
    let last = "mcp://alpha/test://alpha/last";
    for (client, uri) in [
        (&cto, "mcp://beta/test://beta/p"),
        (&cto, "mcp://beta/test://beta/q/"),
        (&cto, last),
        (&door, "test://beta/p"),
        (&dev, "mcp://beta/test://beta/p"),
    ] {
        assert_eq!(client.post(&subscribe(uri)).await.json().await["result"], json!({}));
    }
    let update = |server: &str, uri: &str| hub.endpoint.resource_updated(&key(server), uri);
    for none in ["test://beta", "test://beta/part", "test://beta/q", "test://beta/other/p"] {
        update("beta", none);
    }
    update("alpha", "test://beta/p/of-another-server");
    for part in ["/p/a.rs", "/p?x", "/p#y", "/q/z", "/p/a/b", "/p"] {
        update("beta", &format!("test://beta{part}"));
        assert_eq!(told(&mut own).await, format!("mcp://beta/test://beta{part}"));
        if part != "/q/z" {
            assert_eq!(told(&mut other).await, format!("mcp://beta/test://beta{part}"));
            assert_eq!(told(&mut at_door).await, format!("test://beta{part}"));
        }
    }
    // Whoever does not see the server any more hears nothing.
    audience(&hub, &[key("alpha")], &[key("beta")]);
    update("beta", "test://beta/p/a.rs");
    update("alpha", "test://alpha/last/word");
    assert_eq!(told(&mut own).await, "mcp://alpha/test://alpha/last/word");
    assert_eq!(told(&mut other).await, "mcp://beta/test://beta/p/a.rs");
}

/// Whoever wants to hear of the whole and of its part is told of the part once, on each stream.
#[tokio::test]
async fn who_wants_to_hear_of_both_hears_once() {
    let hub = Hub::start().await;
    let (cto, dev) = (session(&hub, "token-cto").await, session(&hub, "token-dev").await);
    let (mut own, mut other) = (cto.get().await, dev.get().await);
    let all = ["/p/a/b", "/p", "/p/a"].map(|part| format!("mcp://beta/test://beta{part}"));
    let last = "mcp://beta/test://beta/last";
    // Of what is asked for twice the same is told once, too.
    let twice: Vec<&str> = all.iter().chain(&all).map(String::as_str).chain([last]).collect();
    let wanted = json!({"notifications": {"resourceSubscriptions": twice}});
    let client = hub.client("token-cto");
    let mut streams = Vec::new();
    for id in [8, 9] {
        streams.push(client.ask(id, "subscriptions/listen", wanted.clone(), json!({})).await);
    }
    for stream in &mut streams {
        assert!(stream.next().await.is_some(), "it is acknowledged");
    }
    for uri in twice {
        assert_eq!(cto.post(&subscribe(uri)).await.json().await["result"], json!({}));
    }
    for uri in [&all[1], last] {
        assert_eq!(dev.post(&subscribe(uri)).await.json().await["result"], json!({}));
    }
    let update =
        |part: &str| hub.endpoint.resource_updated(&key("beta"), &format!("test://beta{part}"));
    for part in ["/p/a/b", "/p/a", "/p/a/b/c", "/p"] {
        update(part);
        update("/last");
        let seen = format!("mcp://beta/test://beta{part}");
        for stream in [&mut own, &mut other].into_iter().chain(&mut streams) {
            assert_eq!([told(stream).await, told(stream).await], [&seen, last]);
        }
    }
}

/// A server that is away for a while was not taken from anybody.
#[tokio::test]
async fn a_server_that_comes_back_is_still_subscribed_to() {
    let hub = Hub::start().await;
    let client = session(&hub, "token-cto").await;
    let at_its_door =
        hub.client("token-cto").at("/mcp/servers/beta").initialized("2025-11-25", json!({})).await;
    let mut one = client.get().await;
    let uri = "mcp://beta/test://beta";
    for (client, uri) in [(&client, uri), (&at_its_door, "test://beta")] {
        assert_eq!(client.post(&subscribe(uri)).await.json().await["result"], json!({}));
    }
    hub.registry.withdraw(&key("beta"));
    assert_eq!(
        one.next().await.unwrap().1["method"],
        "notifications/tools/list_changed",
        "everybody has been told"
    );
    hub.endpoint.resource_updated(&key("beta"), "test://beta");
    hub.endpoint.sweep();
    assert_eq!(hub.endpoint.watched().len(), 1);
    hub.registry.publish(&key("beta"), Arc::new(offer("beta")));
    let mut two = at_its_door.get().await;
    hub.endpoint.resource_updated(&key("beta"), "test://beta");
    assert_eq!([told(&mut one).await, told(&mut two).await], [uri, "test://beta"]);
}

/// One that is declared anew is another server, whatever its name: it has agreed to nothing.
#[tokio::test]
async fn a_server_that_is_declared_again_is_asked_again() {
    let hub = Hub::start().await;
    let (cto, dev) = (session(&hub, "token-cto").await, session(&hub, "token-dev").await);
    let mut stream = cto.get().await;
    let uri = "mcp://beta/test://beta";
    let asked = || asked(&hub, "beta", "resources/subscribe");
    assert_eq!(cto.post(&subscribe(uri)).await.json().await["result"], json!({}));
    hub.endpoint.server_connected(&key("beta"));
    assert_eq!(asked(), 1, "it has agreed");
    hub.endpoint.server_removed(&key("beta"));
    hub.endpoint.server_removed(&key("alpha"));
    hub.endpoint.server_connected(&key("beta"));
    let again = tokio::time::timeout(LIMIT, told(&mut stream)).await;
    assert_eq!(again.unwrap(), uri, "what happened meanwhile is not known");
    assert_eq!(asked(), 2);
    // Whoever comes before it is connected asks by itself.
    hub.endpoint.server_removed(&key("beta"));
    assert_eq!(dev.post(&subscribe(uri)).await.json().await["result"], json!({}));
    hub.endpoint.server_connected(&key("beta"));
    assert_eq!(asked(), 3);
}

/// A server that comes back and refuses what it had agreed to, for a while.
#[tokio::test]
async fn what_a_server_takes_back_is_not_promised_and_asked_for_later() {
    let hub = Hub::start().await;
    let (cto, dev) = (session(&hub, "token-cto").await, session(&hub, "token-dev").await);
    let mut stream = cto.get().await;
    let uri = "mcp://beta/test://beta";
    let asked = || asked(&hub, "beta", "resources/subscribe");
    hub.endpoint.resource_untold(&key("beta"), "test://beta");
    assert_eq!(cto.post(&subscribe(uri)).await.json().await["result"], json!({}));
    hub.servers.refusals.store(2, Ordering::SeqCst);
    // It is said more than once, and asked in one go.
    for _ in 0..2 {
        hub.endpoint.resource_untold(&key("beta"), "test://beta");
    }
    let refused = dev.post(&subscribe(uri)).await.json().await;
    assert_eq!(refused["error"]["code"], -32603, "whoever comes asks anew");
    assert_eq!(asked(), 2);
    let again = tokio::time::timeout(LIMIT, told(&mut stream)).await;
    assert_eq!(again.unwrap(), uri, "what happened meanwhile is not known");
    assert_eq!(asked(), 4);
    assert_eq!(dev.post(&subscribe(uri)).await.json().await["result"], json!({}));
    assert_eq!(asked(), 4, "it has agreed");
    // Nobody is asked for nobody.
    for client in [&cto, &dev] {
        let leave = request(8, "resources/unsubscribe", json!({"uri": uri}));
        assert_eq!(client.post(&leave).await.json().await["result"], json!({}));
    }
    hub.endpoint.resource_untold(&key("beta"), "test://beta");
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(asked(), 4);
}

/// One that is declared anew and refuses at first.
#[tokio::test]
async fn a_server_that_refuses_when_it_is_declared_again_is_asked_later() {
    let hub = Hub::start().await;
    let cto = session(&hub, "token-cto").await;
    let mut stream = cto.get().await;
    let uri = "mcp://beta/test://beta";
    assert_eq!(cto.post(&subscribe(uri)).await.json().await["result"], json!({}));
    hub.servers.refusals.store(1, Ordering::SeqCst);
    hub.endpoint.server_removed(&key("beta"));
    hub.endpoint.server_connected(&key("beta"));
    let again = tokio::time::timeout(LIMIT, told(&mut stream)).await;
    assert_eq!(again.unwrap(), uri);
    assert_eq!(asked(&hub, "beta", "resources/subscribe"), 3);
}

#[tokio::test]
async fn whoever_waits_shares_the_answer() {
    let hub = Hub::start().await;
    let refused = subscribe("mcp://alpha/test://alpha/refused");
    let mut clients = Vec::new();
    for _ in 0..3 {
        clients.push(session(&hub, "token-cto").await);
    }
    let [a, b, c] = [0, 1, 2].map(|nth: usize| clients[nth].post(&refused));
    let refuse = async {
        until("all wait", || hub.servers.count(&hub.served.open) == 3).await;
        until("the server is asked", || hub.servers.count(&hub.servers.begun) == 1).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        hub.servers.release.notify_one();
    };
    let (a, b, c, ()) = tokio::join!(a, b, c, refuse);
    for answer in [a, b, c] {
        assert_eq!(answer.json().await["error"]["code"], -32601);
    }
    assert_eq!(hub.servers.count(&hub.servers.begun), 1, "one refusal is enough");
    assert_eq!(hub.endpoint.watched(), []);
}

/// One that does not want it any more leaves it to the others.
#[tokio::test]
async fn who_asks_and_leaves_is_followed_by_who_waits() {
    let hub = Hub::start().await;
    let (one, two) = (session(&hub, "token-cto").await, session(&hub, "token-cto").await);
    let later = subscribe("mcp://alpha/test://alpha/later");
    let begun = |count| hub.servers.count(&hub.servers.begun) == count;
    let second = async {
        until("the server is asked", || begun(1)).await;
        two.post(&later).await
    };
    let rest = async {
        until("both wait", || hub.servers.count(&hub.served.open) == 2).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        let note =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        assert_eq!(one.post(note).await.status, 202);
        until("it is asked in the other's name", || begun(2)).await;
        hub.servers.release.notify_one();
    };
    let (first, second, ()) = tokio::join!(one.post(&later), second, rest);
    assert_eq!(first.status, 202, "no answer is wanted");
    assert_eq!(second.json().await["result"], json!({}));
    assert_eq!(hub.servers.count(&hub.servers.dropped), 1);
    assert_eq!(hub.endpoint.watched().len(), 1);
}

#[tokio::test]
async fn a_server_that_never_answers_is_not_waited_for() {
    let hub = Hub::start().await;
    let url = Template::parse("http://localhost").unwrap();
    let http = HttpSpec { kind: HttpKind::Streamable, url, headers: BTreeMap::new() };
    let mut spec = ServerSpec::new(key("alpha").name, Transport::Http(http));
    spec.timing.call = Duration::from_millis(50);
    let silent = Offer { spec: Some(Arc::new(spec)), ..offer("alpha") };
    hub.registry.publish(&key("alpha"), Arc::new(silent));
    let client = session(&hub, "token-cto").await;
    let later = subscribe("mcp://alpha/test://alpha/later");
    let answer = client.post(&later).await.json().await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("within 0.2 s"), "{answer}");
    assert_eq!(hub.servers.count(&hub.servers.dropped), 1);
    assert_eq!(hub.endpoint.watched(), []);
}

#[tokio::test]
async fn a_subscription_that_waits_ends_with_its_token() {
    let hub = Hub::start().await;
    let client = session(&hub, "token-cto").await;
    let withdraw = async {
        until("the server is asked", || hub.servers.count(&hub.servers.begun) == 1).await;
        hub.tokens.withdraw("token-cto");
        hub.endpoint.review();
    };
    let later = subscribe("mcp://alpha/test://alpha/later");
    let (answer, ()) = tokio::join!(client.post(&later), withdraw);
    assert_eq!(answer.status, 401);
    assert_eq!(hub.servers.count(&hub.servers.dropped), 1, "the server is told");
    assert_eq!(hub.endpoint.watched(), []);
}

/// What is given up while the server is asked is told off once it has agreed.
#[tokio::test]
async fn what_was_agreed_to_too_late_is_told_off() {
    let hub = Hub::start().await;
    let client = session(&hub, "token-cto").await;
    let uri = "mcp://alpha/test://alpha/later";
    let unsubscribe = request(8, "resources/unsubscribe", json!({"uri": uri}));
    let rest = async {
        until("the server is asked", || hub.servers.count(&hub.servers.begun) == 1).await;
        assert_eq!(client.post(&unsubscribe).await.json().await["result"], json!({}));
        hub.endpoint.sweep();
        hub.servers.release.notify_one();
    };
    let waits = subscribe(uri);
    let (answer, ()) = tokio::join!(client.post(&waits), rest);
    assert_eq!(answer.json().await["result"], json!({}));
    assert_eq!(hub.endpoint.watched(), []);
    until("the server is told off", || {
        hub.endpoint.sweep();
        asked(&hub, "alpha", "resources/unsubscribe") == 1
    })
    .await;
}
