//! Where names are bare, what templates make leads to whose they are, or to nobody.

use super::*;
use crate::kit::{self, Echo};
use crate::port::{CallError, Who};
use switchboard_wire::types::{ResourceEntry, TemplateEntry};

const SHORT: Surface = Surface::Short(46);

/// An offer of these resources, and of these families.
fn offer(resources: &[&str], families: &[&str]) -> Offer {
    let listed = |uri: &&str| entry::<ResourceEntry>(&format!(r#"{{"uri":"{uri}"}}"#));
    let family = |uri: &&str| entry::<TemplateEntry>(&format!(r#"{{"uriTemplate":"{uri}"}}"#));
    Offer {
        resources: resources.iter().map(listed).collect(),
        templates: families.iter().map(family).collect(),
        capabilities: Capabilities::read(Some(json(r#"{"completions":{}}"#))),
        ..Offer::default()
    }
}

/// Where a URI leads: whose it is and what they are asked for, or why it leads nowhere.
fn led(view: &View, method: &str, uri: &str) -> String {
    let echo = Echo::new("{}");
    let router = kit::router(kit::ports(&echo));
    let params = match method {
        "completion/complete" => {
            format!(
                r#"{{"ref":{{"type":"ref/resource","uri":"{uri}"}},"argument":{{"name":"a"}}}}"#
            )
        }
        _ => format!(r#"{{"uri":"{uri}"}}"#),
    };
    match kit::call(&router, view, &Who::agent(agent("one"), None), method, &params) {
        Ok(_) => {
            let (server, _, sent) = echo.asked().pop().unwrap();
            let sent = json(&sent);
            let own = sent.get("uri").or_else(|| sent.get("ref")?.get("uri")).unwrap();
            format!("{server} {}", own.string().unwrap())
        }
        Err(CallError::Ambiguous { uri: told }) => {
            assert_eq!(told, uri);
            "several".to_owned()
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn lead_to_the_closest_or_to_nobody() {
    let check = |offers: &[(&str, Offer)], uri: &str, expected: &str| {
        let mut offers: Vec<_> = offers.iter().map(|(name, offer)| (key(name), offer)).collect();
        for _ in 0..offers.len() {
            offers.rotate_left(1);
            let all: Vec<_> = offers.iter().map(|(key, o)| (key, Offer::clone(o))).collect();
            for surface in [SHORT, Surface::Bare] {
                let view = registry(&all).load().everything(&surface);
                let led = led(&view, "resources/read", uri);
                assert_eq!(led, expected, "{uri} {surface:?}");
            }
        }
    };
    // One that is open from its first character makes nobody's URIs, and is found by its prefix.
    let open = [("a", offer(&[], &["{+all}"])), ("b", offer(&[], &["test://b/{x}/y"]))];
    check(&open, "test://b/1", "there is no resource `test://b/1`");
    check(&open, "test://b/1/y", "b test://b/1/y");
    check(&open, "ui://b/app", "b ui://app");
    check(&open, "mcp://c/x", "there is no resource `mcp://c/x`");
    check(&open, "switchboard://results/1", "there is no result `switchboard://results/1`");
    for uri in ["test://b/1/y", "ui://b/app", "mcp://c/x", "switchboard://results/1"] {
        check(&open, &format!("mcp://a/{uri}"), &format!("a {uri}"));
    }
    // What is listed comes first, then what says most before it is open, then what says most.
    let wide = ("a", offer(&[], &["test://{+all}", "test://{+all}/long/end"]));
    let near = ("b", offer(&["test://1"], &["test://b/{+x}", "test://{id}/meta"]));
    let both = [wide, near];
    check(&both, "test://1", "b test://1");
    check(&both, "test://2", "a test://2");
    check(&both, "test://b/x/long/end", "b test://b/x/long/end");
    check(&both, "test://c/x/long/end", "a test://c/x/long/end");
    check(&both, "test://2/meta", "b test://2/meta");
    // Of equals none, whatever else fits less closely.
    let equal = [
        ("a", offer(&[], &["test://{a}", "test://{b}"])),
        ("b", offer(&[], &["test://{c}"])),
        ("c", offer(&[], &["{d}", "test:{+e}"])),
    ];
    check(&equal, "test://1", "several");
    check(&equal[..1], "test://1", "a test://1");
    check(&equal, "test:1", "c test:1");
    check(&equal, "mcp://b/test://1", "b test://1");
    // What two list is nobody's as it stands, whosever template would make it.
    let twice = [
        ("a", offer(&["test://1"], &[])),
        ("b", offer(&["test://1"], &[])),
        ("c", offer(&[], &["test://{c}"])),
    ];
    check(&twice, "test://1", "several");
    check(&twice, "test://2", "c test://2");
}

#[test]
fn of_two_are_not_completed_by_a_third() {
    let family = offer(&[], &["test://{id}"]);
    let wide = offer(&[], &["test://{+all}"]);
    let (a, b, c) = (key("a"), key("b"), key("c"));
    let registry = registry(&[(&a, family.clone()), (&b, family), (&c, wide)]);
    for surface in [SHORT, Surface::Bare] {
        let view = registry.load().everything(&surface);
        let led = |uri: &str| led(&view, "completion/complete", uri);
        assert_eq!(led("test://{id}"), "there is no resource `test://{id}`");
        assert_eq!(led("mcp://a/test://{id}"), "a test://{id}");
        assert_eq!(led("test://{+all}"), "c test://{+all}");
    }
}

/// What somebody made with the template of a server that is gone is not read from another one.
#[test]
fn do_not_pass_on() {
    let (a, b) = (key("a"), key("b"));
    let (wide, near) = (offer(&[], &["test://{+all}"]), offer(&[], &["test://b/{id}"]));
    let registry = registry(&[(&a, wide), (&b, near.clone())]);
    let check = |uri: &str, expected: &str| {
        let view = registry.load().everything(&SHORT);
        assert_eq!(led(&view, "resources/read", uri), expected, "{uri}");
    };
    check("test://b/1", "b test://b/1");
    check("test://c/1", "a test://c/1");
    registry.withdraw(&b);
    check("test://b/1", "several");
    check("test://c/1", "a test://c/1");
    check("mcp://a/test://b/1", "a test://b/1");
    // One that comes closer is another one's again, and so is it when it is back.
    registry.publish(&a, Arc::new(offer(&[], &["test://{+all}", "test://b/{id}/x{+y}"])));
    check("test://b/1/x", "a test://b/1/x");
    registry.publish(&b, Arc::new(near));
    check("test://b/1", "b test://b/1");
}

/// Only so many are remembered, and what one server takes back makes nobody forget another's.
#[test]
fn do_not_pass_on_whatever_else_goes() {
    let (a, b) = (key("a"), key("b"));
    let own = ["notes://{x}"];
    let check = |goes: &Offer| {
        let registry = registry(&[(&a, offer(&[], &["notes://{id}"])), (&b, offer(&[], &own))]);
        let led = || led(&registry.load().everything(&SHORT), "resources/read", "notes://1");
        assert_eq!(led(), "several", "it is of both");
        registry.withdraw(&a);
        assert_eq!(led(), "several", "it was of another");
        // Twice, as all that goes is remembered, too, as far as there is room.
        for _ in 0..2 {
            registry.publish(&b, Arc::new(goes.clone()));
            registry.publish(&b, Arc::new(offer(&[], &own)));
            assert_eq!(led(), "several", "it was of another, also behind much else");
        }
    };
    let many = |count: usize| (0..count).map(|n| format!("other://{n}")).collect::<Vec<_>>();
    let families = many(300);
    let families: Vec<&str> = families.iter().map(|uri| &**uri).chain(own).collect();
    check(&offer(&[], &families));
    let resources = many(10_100);
    check(&offer(&resources.iter().map(|uri| &**uri).collect::<Vec<_>>(), &own));
}

/// What is forgotten is a name of its own kind: not a family, where a resource had the same text for a URI.
#[test]
fn do_not_pass_on_for_a_name_that_looks_the_same() {
    let (a, b) = (key("a"), key("b"));
    let family = "notes://{id}";
    let registry = registry(&[(&a, offer(&[family], &[family]))]);
    let led = || led(&registry.load().everything(&SHORT), "resources/read", "notes://1");
    assert_eq!(led(), "a notes://1");
    registry.withdraw(&a);
    // With the resource, the family and what begins like its apps, just one too many.
    let tools: Vec<String> = (0..9_998).map(|n| format!("t{n}")).collect();
    let tools = tools.iter().map(|name| &**name).collect::<Vec<_>>();
    registry.publish(&a, Arc::new(crate::kit::tools("a", &tools)));
    registry.withdraw(&a);
    registry.publish(&b, Arc::new(offer(&[], &["notes://{x}"])));
    assert_eq!(led(), "several");
}
