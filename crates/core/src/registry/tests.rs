//! That a view has exactly what it should, and finds its way back.

mod apps;
mod churn;
mod families;
mod fits;

use super::*;
use crate::kit::{agent, entry, everything, json, key, tools, user};
use crate::naming::Surface;
use std::collections::{BTreeMap, BTreeSet};
use switchboard_model::{
    AgentSpec, Desired, HttpKind, HttpSpec, Scope, ServerName, ServerSpec, Template, Transport,
};
use switchboard_wire::types::{Capabilities, ToolEntry};

fn registry(offers: &[(&ServerKey, Offer)]) -> Registry {
    let registry = Registry::default();
    for (key, offer) in offers {
        registry.publish(key, Arc::new(offer.clone()));
    }
    registry
}

fn names(view: &View) -> Vec<String> {
    view.tools()
        .map(|tool| format!("{} = {} {}", tool.name, tool.server, tool.entry.name))
        .collect()
}

#[test]
fn in_order_whatever_came_first() {
    let (a, b) = (key("alpha"), key("beta"));
    let offers = [(&b, tools("b", &["z", "a"])), (&a, tools("a", &["same", "b.c"]))];
    let forwards = registry(&offers);
    let backwards = registry(&[offers[1].clone(), offers[0].clone()]);
    for registry in [&forwards, &backwards] {
        let view = registry.load().everything(&Surface::mcp());
        let hashed = Surface::mcp().name("alpha", "b.c");
        assert_eq!(
            names(&view),
            [
                &format!("{hashed} = alpha b.c"),
                "alpha__same = alpha same",
                "beta__a = beta a",
                "beta__z = beta z"
            ]
        );
    }
    let [one, other] = [forwards, backwards].map(|r| r.load().everything(&Surface::mcp()));
    for kind in Kind::ALL {
        assert_eq!(one.digest(kind), other.digest(kind));
        assert_eq!(one.page(kind, None), other.page(kind, None));
    }
}

#[test]
fn bare() {
    let (a, b, hub) = (key("a"), key("b"), key("switchboard"));
    let own = Offer { home: Home::Hub, ..tools("hub", &["get_status", "extra"]) };
    let registry = registry(&[
        (&a, everything("a", &["same", "only.a", "get_status"])),
        (&b, everything("b", &["same"])),
        (&hub, own),
    ]);
    let now = registry.load();
    let aside = |server: &str, tool: &str| Surface::Bare.aside(server, tool);
    assert_eq!(
        names(&now.everything(&Surface::Bare)),
        [
            format!("{} = a get_status", aside("a", "get_status")),
            "only.a = a only.a".to_owned(),
            format!("{} = a same", aside("a", "same")),
            format!("{} = b same", aside("b", "same")),
            "extra = switchboard extra".to_owned(),
            "get_status = switchboard get_status".to_owned(),
        ]
    );
    // Alone, everything is as the server has it.
    let alone = now.server(&a, &Surface::Bare).unwrap();
    let expected = ["get_status = a get_status", "only.a = a only.a", "same = a same"];
    assert_eq!(names(&alone), expected);
    let page = alone.page(Kind::Tools, None).unwrap();
    let raws: Vec<_> = page.entries.as_json().elements().map(|tool| tool.as_str()).collect();
    let sent: Vec<_> = alone.tools().map(|tool| tool.entry.raw().as_str()).collect();
    assert_eq!(raws, sent);
    assert_eq!(now.everything(&Surface::mcp()).tool("get_status").unwrap().server, &hub);
    assert!(now.everything(&Surface::mcp()).tool("switchboard__extra").is_some());
}

/// Three names whose hashes were made to be equal: whichever is called would be one of three.
#[test]
fn equal_hashes() {
    let names = ["1645089", "1718246", "2972535"].map(|end| format!("{}{end}", "t".repeat(40)));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for surface in [Surface::Short(46), Surface::mcp()] {
        let one = surface.name("a", names[0]);
        assert!(names.iter().all(|name| surface.name("a", name) == one), "{surface:?}");
        for several in [&names[..2], &names] {
            let all = [several, &["good"]].concat();
            let view = registry(&[(&key("a"), tools("a", &all))]).load().everything(&surface);
            let offered: Vec<_> = view.tools().map(|tool| tool.entry.name.as_str()).collect();
            assert_eq!(offered, ["good"], "{surface:?}");
            assert!(view.tool(&one).is_none(), "{surface:?}");
        }
    }
}

/// Whoever remembers a bare name would call another server unawares.
#[test]
fn a_bare_name_does_not_pass_on() {
    let registry = registry(&[(&key("a"), everything("a", &["t"]))]);
    let whose = |name: &str| {
        let view = registry.load().everything(&Surface::Short(46));
        view.tool_at(name).map(|(part, _)| part.key.clone())
    };
    assert_eq!(whose("t"), Some(key("a")));
    registry.withdraw(&key("a"));
    assert_eq!(whose("t"), None);
    registry.publish(&key("a"), Arc::new(everything("a", &["t"])));
    assert_eq!(whose("t"), Some(key("a")), "its own comes back");
    registry.withdraw(&key("a"));
    registry.publish(&key("b"), Arc::new(everything("b", &["t", "u"])));
    assert_eq!((whose("t"), whose("u")), (None, Some(key("b"))), "it was another's");
}

#[test]
fn resources() {
    let (a, b) = (key("a"), key("b"));
    let registry = registry(&[(&a, everything("a", &["x", "y"])), (&b, everything("b", &["x"]))]);
    let now = registry.load();
    let check = |view: &View, uri: &str, expected: Option<(&ServerKey, &str)>| {
        let place = view.place(uri);
        let got = place.as_ref().map(|place| (&place.part.key, place.uri.as_str()));
        assert_eq!(got, expected, "{uri}");
    };
    let view = now.everything(&Surface::mcp());
    check(&view, "mcp://a/test://x", Some((&a, "test://x")));
    check(&view, "mcp://b/test://x", Some((&b, "test://x")));
    check(&view, "mcp://b/anything://else", Some((&b, "anything://else")));
    check(&view, "ui://b/app.html", Some((&b, "ui://app.html")));
    check(&view, "mcp://c/test://x", None);
    check(&view, "test://x", None);
    let bare = now.everything(&Surface::Bare);
    check(&bare, "test://x", None);
    check(&bare, "mcp://b/test://x", Some((&b, "test://x")));
    check(&bare, "test://y", Some((&a, "test://y")));
    check(&bare, "test://y/1/2", Some((&a, "test://y/1/2")));
    check(&bare, "test://nobody", None);
    let alone = now.server(&a, &Surface::Bare).unwrap();
    check(&alone, "test://x", Some((&a, "test://x")));
    check(&alone, "mcp://a/whatever", Some((&a, "mcp://a/whatever")));
    // What a server says comes back to it.
    for (view, of, uri) in [(&bare, &a, "test://x"), (&bare, &b, "new://z"), (&view, &a, "ui://x")]
    {
        let part = view.part(of).unwrap();
        check(view, &view.uri(part, uri).unwrap(), Some((of, uri)));
    }
    assert_eq!(bare.uri(bare.part(&a).unwrap(), "test://y"), None);
    assert_eq!(alone.uri(alone.part(&a).unwrap(), "test://anything"), None);
}

#[test]
fn listed_bytes() {
    let a = key("a");
    let tool: ToolEntry = entry(
        r#"{ "_meta" :{"ui":{"resourceUri":"ui://app"},"n":1.0}, "na\u006de" :"x","inputSchema":{ },"z":"\ud800"}"#,
    );
    let registry = registry(&[(&a, Offer { tools: vec![tool], ..Offer::default() })]);
    let page = registry.load().everything(&Surface::mcp()).page(Kind::Tools, None).unwrap();
    assert_eq!(
        page.entries.as_json().as_str(),
        r#"[{ "_meta" :{"ui":{"resourceUri":"ui://a/app"},"n":1.0}, "na\u006de" :"a__x","inputSchema":{ },"z":"\ud800"}]"#
    );
}

#[test]
fn pages() {
    let names: Vec<String> = (0..25).map(|n| format!("t{n:02}")).collect();
    let of = |range: std::ops::Range<usize>| {
        let names: Vec<&str> = names[range].iter().map(String::as_str).collect();
        Arc::new(tools("x", &names))
    };
    let registry = Registry::new(Settings { page: 10 });
    registry.publish(&key("b"), of(0..25));
    let read = |view: &View, cursor: Option<&str>| {
        let page = view.page(Kind::Tools, cursor).unwrap();
        let name = |tool: switchboard_wire::Json<'_>| {
            tool.get("name").unwrap().string().unwrap().into_owned()
        };
        (page.entries.as_json().elements().map(name).collect::<Vec<_>>(), page.next)
    };
    let view = registry.load().everything(&Surface::Bare);
    let (first, next) = read(&view, None);
    assert_eq!(first, names[..10]);
    let (second, last) = read(&view, next.as_deref());
    assert_eq!(second, names[10..20]);
    assert_eq!(read(&view, last.as_deref()), (names[20..].to_vec(), None));
    // The list changed under the reader: nothing that was there all the time is lost or repeated.
    registry.publish(&key("a"), of(0..3));
    registry.publish(&key("b"), of(5..23));
    let view = registry.load().server(&key("b"), &Surface::Bare).unwrap();
    assert_eq!(read(&view, next.as_deref()).0, names[10..20]);
    assert_eq!(read(&view, last.as_deref()), (names[20..23].to_vec(), None));
    registry.withdraw(&key("b"));
    let view = registry.load().everything(&Surface::Bare);
    assert_eq!(read(&view, last.as_deref()), (Vec::new(), None));
    for bad in ["", "?", "AAAA", "OTk5Ong"] {
        assert_eq!(view.page(Kind::Tools, Some(bad)), Err(BadCursor), "{bad}");
    }
}

#[test]
fn views_are_shared_and_kept() {
    let (a, b) = (key("a"), key("b"));
    let registry = registry(&[(&a, tools("a", &["x"])), (&b, tools("b", &["x"]))]);
    let both = [b.clone(), a.clone()];
    registry.set_audience(
        Audience::default()
            .with_agent(agent("one"), &both)
            .with_agent(agent("two"), &[a.clone(), b.clone()])
            .with_agent(agent("three"), std::slice::from_ref(&a)),
    );
    let view = |id: &str| registry.load().agent(&agent(id), &Surface::mcp()).unwrap();
    assert!(Arc::ptr_eq(&view("one"), &view("two")));
    let (one, three) = (view("one"), view("three"));
    registry.publish(&b, Arc::new(tools("b", &["y"])));
    assert!(Arc::ptr_eq(&three, &view("three")));
    assert!(!Arc::ptr_eq(&one, &view("one")));
    assert_ne!(one.digest(Kind::Tools), view("one").digest(Kind::Tools));
    assert_eq!(one.digest(Kind::Prompts), view("one").digest(Kind::Prompts));
    // The part of the server that did not change is the same one.
    assert!(Arc::ptr_eq(one.part(&a).unwrap(), view("one").part(&a).unwrap()));
    assert!(registry.load().agent(&agent("nobody"), &Surface::mcp()).is_none());
}

#[test]
fn changes_are_heard() {
    let registry = Registry::default();
    let heard = registry.changes();
    registry.withdraw(&key("a"));
    assert!(!heard.has_changed().unwrap());
    registry.publish(&key("a"), Arc::default());
    assert!(heard.has_changed().unwrap());
    assert_eq!(*heard.borrow(), registry.load().version());
}

#[test]
fn who_sees_what() {
    let name = |name: &str| ServerName::parse(name).unwrap();
    let of = |scope: Scope, server: &str| ServerKey { scope, name: name(server) };
    let (ann, cto, off) = (user("ann"), agent("cto"), agent("off"));
    let keys = [
        key("git"),
        key("web"),
        of(Scope::User(ann.clone()), "git"),
        of(Scope::Agent(cto.clone()), "web"),
        of(Scope::User(user("bob")), "git"),
    ];
    let url = Template::parse("http://localhost").unwrap();
    let kind = HttpKind::Streamable;
    let http = Transport::Http(HttpSpec { kind, url, headers: BTreeMap::new() });
    let spec = |key: &ServerKey| Arc::new(ServerSpec::new(key.name.clone(), http.clone()));
    let desired = Desired {
        servers: keys.iter().map(|key| (key.clone(), spec(key))).collect(),
        defaults: BTreeSet::from([name("git"), name("switchboard")]).into(),
        agents: BTreeMap::from([
            (
                cto.clone(),
                AgentSpec { servers: Some([name("git")].into()), ..AgentSpec::default() },
            ),
            (off.clone(), AgentSpec { enabled: false, ..AgentSpec::default() }),
        ]),
        ..Desired::default()
    };
    let (new, house) = (agent("new"), [key("switchboard")]);
    let owners = [(&cto, Some(&ann)), (&new, None), (&off, Some(&ann))];
    let registry = Registry::default();
    registry.set_audience(Audience::of(&desired, owners, &house));
    for key in keys.iter().chain(&house) {
        registry.publish(key, Arc::new(tools("any", &["x"])));
    }
    let now = registry.load();
    let check = |view: Option<Arc<View>>, expected: &[&ServerKey]| {
        let view = view.unwrap();
        assert_eq!(view.servers().map(|(key, _)| key).collect::<Vec<_>>(), expected);
    };
    let mcp = &Surface::mcp();
    check(now.agent(&cto, mcp), &[&keys[2], &house[0], &keys[3]]);
    check(now.agent(&new, mcp), &[&keys[0], &house[0]]);
    check(now.agent(&off, mcp), &[]);
    check(now.user(&ann, mcp), &[&keys[2], &house[0], &keys[1]]);
    assert!(now.may_see(&cto, &keys[2]) && !now.may_see(&cto, &keys[0]));
    assert_eq!(now.server_of(&cto, "web"), Some(&keys[3]));
    assert_eq!(now.server_of(&new, "web"), None);
    // An administrator sees all of them, each by itself.
    let all = now.everything(mcp);
    assert_eq!(all.count(Kind::Tools), 6);
    for tool in all.tools() {
        assert_eq!(all.tool(tool.name).unwrap().server, tool.server);
    }
}

#[test]
fn taken_away_before_anything_is_given() {
    let keys = ["a", "b", "c"].map(key);
    let offers = keys.each_ref().map(|key| (key, tools("x", &["x"])));
    let registry = registry(&offers);
    let audience = |one: &[ServerKey], two: &[ServerKey]| {
        let audience = Audience::default().with_agent(agent("one"), one);
        audience.with_agent(agent("two"), two).with_user(user("ann"), one)
    };
    let before = audience(&keys[..2], &keys[2..]).with_agent(agent("gone"), &keys);
    registry.set_audience(before);
    let view = |id: &str| registry.load().agent(&agent(id), &Surface::mcp());
    let two = view("two").unwrap();
    let next = audience(&keys[1..], &keys[2..]).with_agent(agent("new"), &keys);
    registry.narrow_audience(&next);
    let sees = |view: Option<Arc<View>>| {
        view.map(|view| view.servers().map(|(key, _)| key.clone()).collect::<Vec<_>>())
    };
    assert_eq!(sees(view("one")).unwrap(), keys[1..2]);
    assert_eq!(sees(registry.load().user(&user("ann"), &Surface::mcp())).unwrap(), keys[1..2]);
    assert_eq!((sees(view("gone")), sees(view("new"))), (None, None));
    registry.set_audience(next);
    assert_eq!(sees(view("one")).unwrap(), keys[1..]);
    assert_eq!(sees(view("new")).unwrap(), keys);
    assert!(Arc::ptr_eq(&two, &view("two").unwrap()), "it was made anew for nothing");
}

#[test]
fn what_servers_can_do_between_them() {
    let offer = |capabilities: &str, instructions: Option<&str>| Offer {
        capabilities: Capabilities::read(Some(json(capabilities))),
        instructions: instructions.map(Into::into),
        ..Offer::default()
    };
    let (a, b) = (key("a"), key("b"));
    let registry = registry(&[
        (&a, offer(r#"{"tools":{},"tasks":{"list":{},"cancel":{}}}"#, Some("Be kind."))),
        (&b, offer(r#"{"resources":{"subscribe":true},"tools":{"x":1.0}}"#, Some(" "))),
    ]);
    let view = registry.load().everything(&Surface::mcp());
    assert_eq!(
        view.capabilities().raw().as_str(),
        r#"{"tools":{"x":1.0,"listChanged":true},"tasks":{"cancel":{}},"resources":{"subscribe":true,"listChanged":true}}"#
    );
    assert_eq!(view.instructions(), Some("# a\n\nBe kind."));
    let alone = registry.load().server(&a, &Surface::Bare).unwrap();
    assert_eq!(alone.instructions(), Some("Be kind."));
}
