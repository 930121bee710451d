//! Where names are bare, what a tool refers to leads to what its server means by it.

use super::*;
use crate::naming::Qualifier;
use switchboard_wire::Json;
use switchboard_wire::types::{ResourceEntry, TemplateEntry};

const SHORT: Surface = Surface::Short(46);

/// An offer of one tool whose app is that, and of these resources.
fn offer(tool: &str, app: &str, resources: &[&str]) -> Offer {
    let tool = entry(&format!(
        r#"{{"name":"{tool}","inputSchema":{{}}, "_meta":{{"ui":{{"resourceUri" :"{app}"}}}}}}"#
    ));
    let listed = |uri: &&str| entry::<ResourceEntry>(&format!(r#"{{"uri":"{uri}"}}"#));
    let resources = resources.iter().map(listed).collect();
    Offer { tools: vec![tool], resources, ..Offer::default() }
}

fn sent(view: &View) -> Vec<String> {
    let page = view.page(Kind::Tools, None).unwrap();
    page.entries.as_json().elements().map(|tool| tool.as_str().to_owned()).collect()
}

/// The apps of the tools as they are listed, and where each leads.
fn led(view: &View) -> Vec<String> {
    let app = |tool: &String| {
        let tool = json(tool);
        let app = tool.get("_meta").unwrap().get("ui").unwrap().get("resourceUri");
        let app = app.and_then(Json::string).unwrap().into_owned();
        let place = view.place(&app).map(|place| format!("{} {}", place.part.key, place.uri));
        format!("{app} = {}", place.unwrap_or_default())
    };
    sent(view).iter().map(app).collect()
}

#[test]
fn lead_to_whoever_refers_to_them() {
    let check = |offers: &[(&str, Offer)], expected: &[&str]| {
        let offers: Vec<_> =
            offers.iter().map(|(name, offer)| (key(name), offer.clone())).collect();
        let registry =
            registry(&offers.iter().map(|(key, o)| (key, o.clone())).collect::<Vec<_>>());
        for surface in [SHORT, Surface::Bare] {
            assert_eq!(led(&registry.load().everything(&surface)), expected);
        }
    };
    let (one, app) = ("ui://one", "ui://app/x");
    let other = ("z", offer("z", one, &[one]));
    let known = "ui://one = z ui://one";
    // Listed: as the server has it.
    let listed = ("a", offer("t", app, &[app]));
    check(&[listed.clone(), other.clone()], &["ui://app/x = a ui://app/x", known]);
    // Not listed, beside another server.
    let unlisted = ("a", offer("t", app, &[]));
    check(&[unlisted, other.clone()], &["ui://a/app/x = a ui://app/x", known]);
    // Both list it.
    let both = ["ui://a/app/x = a ui://app/x", "ui://b/app/x = b ui://app/x"];
    check(&[listed, ("b", offer("u", app, &[app]))], &both);
    // It begins like what is another server's.
    let panel = "ui://git/panel";
    let git = ("git", offer("u", "ui://panel", &[]));
    let astray = ["ui://a/git/panel = a ui://git/panel", "ui://git/panel = git ui://panel"];
    check(&[("a", offer("t", panel, &[])), git.clone()], &astray);
    // And is listed: then it leads nowhere as it stands, for whoever knows it may mean either.
    let outright = ["ui://a/git/panel = a ui://git/panel", "mcp://git/ui://panel = git ui://panel"];
    check(&[("a", offer("t", panel, &[panel])), git], &outright);
    // Or is the server's own, beside what its prefix leads to.
    let git = ("git", offer("u", "ui://panel", &[panel]));
    check(&[git, other], &["mcp://git/ui://panel = git ui://panel", known]);
}

#[test]
fn a_list_that_refers_elsewhere_is_another_list() {
    let (a, b, app) = (key("a"), key("b"), "ui://app/x");
    let registry = registry(&[(&a, offer("t", app, &[app])), (&b, offer("u", "ui://y", &[]))]);
    for surface in [SHORT, Surface::Bare] {
        let view = || registry.load().everything(&surface);
        registry.publish(&b, Arc::new(offer("u", "ui://y", &[])));
        let (before, digest) = (sent(&view()), view().digest(Kind::Tools));
        assert_eq!(
            before[0],
            r#"{"name":"t","inputSchema":{}, "_meta":{"ui":{"resourceUri" :"ui://app/x"}}}"#
        );
        // Another server lists the same resource.
        registry.publish(&b, Arc::new(offer("u", "ui://y", &[app])));
        assert_eq!(sent(&view())[0], before[0].replace(app, "ui://a/app/x"));
        assert_eq!(sent(&view())[1], before[1]);
        assert_ne!(view().digest(Kind::Tools), digest);
        // Through its own door a server is as it is.
        let alone = registry.load().server(&a, &Surface::Bare).unwrap();
        assert_eq!(sent(&alone), before[..1]);
    }
}

/// A URI that somebody was shown never becomes another server's, whichever came first.
#[test]
fn a_listed_uri_does_not_pass_on() {
    let uri = "ui://b/app";
    let (a, b, c) = (key("a"), key("b"), key("c"));
    let of = |uris: &[&str]| Arc::new(offer("t", "ui://z", uris));
    let registry = registry(&[(&a, Offer::clone(&of(&[uri])))]);
    let view = || registry.load().everything(&SHORT);
    let whose = |uri: &str| {
        let view = view();
        view.place(uri).map(|place| format!("{} {}", place.part.key, place.uri))
    };
    assert_eq!(whose(uri).as_deref(), Some("a ui://b/app"));
    registry.publish(&b, of(&["ui://app"]));
    registry.publish(&c, of(&["ui://app"]));
    assert_eq!(whose(uri), None);
    assert_eq!(whose("ui://a/b/app").as_deref(), Some("a ui://b/app"));
    let listed = |view: &View| view.resources().map(|one| one.name.to_owned()).collect::<Vec<_>>();
    assert_eq!(listed(&view()), ["ui://a/b/app", "mcp://b/ui://app", "ui://c/app"]);
    registry.withdraw(&a);
    assert_eq!(whose(uri), None);
    assert_eq!(whose("mcp://b/ui://app").as_deref(), Some("b ui://app"));
    // What begins like the URIs of one that was there is nobody else's.
    registry.withdraw(&c);
    registry.publish(&a, of(&["ui://c/app"]));
    assert_eq!(whose("ui://c/app"), None);
    assert_eq!(whose("ui://a/c/app").as_deref(), Some("a ui://c/app"));
}

#[test]
fn families() {
    let family = |template: &str| Offer {
        templates: vec![entry::<TemplateEntry>(&format!(r#"{{"uriTemplate":"{template}"}}"#))],
        ..Offer::default()
    };
    let check = |template: &str, expected: &str| {
        let registry = registry(&[(&key("a"), family(template)), (&key("b"), Offer::default())]);
        for surface in [SHORT, Surface::Bare] {
            let view = registry.load().everything(&surface);
            let names: Vec<_> = view.templates().map(|one| one.name.to_owned()).collect();
            assert_eq!(names, [expected], "{surface:?}");
        }
    };
    check("ui://app/{id}", "ui://app/{id}");
    check("test://{id}", "test://{id}");
    // What it makes would be taken for what a prefix is put before.
    check("ui://a/{id}", "ui://a/a/{id}");
    check("ui://b/{id}", "ui://a/b/{id}");
    check("ui://{host}/x", "ui://a/{host}/x");
    check("ui://{+all}", "ui://a/{+all}");
    check("mcp://x/{id}", "mcp://a/mcp://x/{id}");
    check("switchboard://results/{id}", "mcp://a/switchboard://results/{id}");
    assert!(!Qualifier::is_open("test://{id}"));
}
