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
