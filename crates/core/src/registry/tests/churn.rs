//! Servers come and go, audiences change: nothing is ever crossed, and what was built step by step
//! is what would be built at once.

use std::collections::BTreeMap;

use proptest::prelude::*;
use switchboard_model::{Scope, ServerName};
use switchboard_wire::Json;

use super::*;
use crate::kit::{self, Echo};
use crate::port::{CallError, Who};
use crate::registry::uri_template::fit;
use switchboard_wire::types::TemplateEntry;

/// Names that invite confusion.
const SERVERS: [&str; 6] = ["a", "a__b", "a b", "a_b", "git", "switchboard"];
const NAMES: [&str; 9] =
    ["x", "b__x", "x.y", "x_y", "get_status", "same", "git", "git/same", "a b/git"];
/// Families that could make each other's URIs, or anybody's: a server has one with each of these names.
const OPEN: [(&str, &str); 7] = [
    ("x", "{+path}"),
    ("b__x", "{+path}/x"),
    ("x.y", "{host}://git/{+path}"),
    ("same", "test://{+path}"),
    ("git", "test://{host}/{+path}"),
    ("git/same", "test://{host}/{+all}"),
    ("a b/git", "ui:{+path}"),
];
/// What is put into them, which may be another server's.
const PATHS: [&str; 7] = [
    "1/2",
    "same",
    "same/1",
    "//git/app",
    "ui://git/app",
    "mcp://git/test://x",
    "switchboard://results/1",
];
const AGENTS: [&str; 2] = ["one", "two"];

#[derive(Clone, Debug)]
enum Step {
    Publish(ServerKey, Vec<&'static str>),
    Withdraw(ServerKey),
    Audience(Vec<Vec<ServerKey>>),
}

fn any_key() -> impl Strategy<Value = ServerKey> {
    let scope = prop_oneof![
        4 => Just(Scope::Global),
        1 => Just(Scope::User(user("ann"))),
        1 => Just(Scope::Agent(agent("one"))),
    ];
    (scope, prop::sample::select(&SERVERS[..])).prop_map(|(scope, name)| ServerKey {
        // The hub's own server is everybody's, and its name is nobody else's.
        scope: if name == "switchboard" { Scope::Global } else { scope },
        name: ServerName::parse(name).unwrap(),
    })
}

fn any_step() -> impl Strategy<Value = Step> {
    let names = prop::sample::subsequence(NAMES.to_vec(), 0..=NAMES.len()).prop_shuffle();
    let keys = prop::collection::vec(any_key(), 0..6);
    prop_oneof![
        4 => (any_key(), names).prop_map(|(key, names)| Step::Publish(key, names)),
        2 => any_key().prop_map(Step::Withdraw),
        1 => prop::collection::vec(keys, AGENTS.len()).prop_map(Step::Audience),
    ]
}

fn audience(sets: &[Vec<ServerKey>]) -> Audience {
    AGENTS
        .iter()
        .zip(sets)
        .fold(Audience::default(), |audience, (id, keys)| audience.with_agent(agent(id), keys))
}

fn offer(key: &ServerKey, names: &[&str]) -> Arc<Offer> {
    let mut offer = everything(&key.to_string(), names);
    if key.name.as_str() == "switchboard" {
        offer.home = Home::Hub;
        // The hub's URIs stay as they are, and none of them is an app's.
        offer.resources.retain(|resource| !resource.uri.starts_with("ui://"));
        offer.templates.retain(|family| !family.uri_template.starts_with("ui://"));
    } else {
        let open = OPEN.iter().filter(|(name, _)| names.contains(name));
        let family = |(_, open): &(&str, &str)| {
            entry::<TemplateEntry>(&format!(r#"{{"uriTemplate":"{open}"}}"#))
        };
        offer.templates.extend(open.map(family));
    }
    Arc::new(offer)
}

fn surfaces() -> [Surface; 4] {
    [Surface::mcp(), Surface::Bare, SHORT, Surface::parse("{server}_{tool}", 30).unwrap()]
}

/// Names without prefixes: what they are depends on what was there before.
const SHORT: Surface = Surface::Short(46);

/// Everything that is listed, by its kind and name, and whose it is under which name of its own.
fn listed(view: &View) -> Vec<((Kind, String), (ServerKey, String))> {
    let tools = view.tools().map(|one| (Kind::Tools, one.name, one.server, &one.entry.name));
    let prompts = view.prompts().map(|one| (Kind::Prompts, one.name, one.server, &one.entry.name));
    let resources =
        view.resources().map(|one| (Kind::Resources, one.name, one.server, &one.entry.uri));
    let templates = view
        .templates()
        .map(|one| (Kind::Templates, one.name, one.server, &one.entry.uri_template));
    let all = tools.chain(prompts).chain(resources).chain(templates);
    all.map(|(kind, name, server, own)| ((kind, name.to_owned()), (server.clone(), own.clone())))
        .collect()
}

fn views(registry: &Registry) -> Vec<Arc<View>> {
    let now = registry.load();
    let mut views = Vec::new();
    for surface in &surfaces() {
        views.extend(AGENTS.iter().filter_map(|id| now.agent(&agent(id), surface)));
        views.extend(now.servers().filter_map(|(key, _)| now.server(key, surface)));
        views.push(now.everything(surface));
    }
    views
}

/// Everything that is listed leads to whose it is, under its own name, and to nothing else; and
/// nothing that can be told apart is missing.
fn leads_back(view: &View, echo: &Echo, router: &crate::Router, ever: &[Published]) {
    let who = Who::agent(agent("one"), None);
    let ask = |method: &str, key: &str, name: &str, server: &ServerKey, own: &str| {
        let params = format!(r#"{{"x":1.0,"{key}":{}}}"#, kit::quoted(name));
        kit::call(router, view, &who, method, &params).unwrap();
        let (asked, _, sent) = echo.asked().pop().unwrap();
        assert_eq!(&asked, server, "{name}");
        assert_eq!(sent, format!(r#"{{"x":1.0,"{key}":{}}}"#, kit::quoted(own)));
    };
    let page = view.page(Kind::Tools, None).unwrap().entries;
    for (tool, sent) in view.tools().zip(page.as_json().elements()) {
        assert_eq!(tool.entry.description().unwrap(), tool.server.to_string());
        ask("tools/call", "name", tool.name, tool.server, &tool.entry.name);
        for (seen, own) in apps(sent).iter().zip(&apps(tool.entry.raw())) {
            ask("resources/read", "uri", seen, tool.server, own);
        }
    }
    for prompt in view.prompts() {
        ask("prompts/get", "name", prompt.name, prompt.server, &prompt.entry.name);
    }
    made(view, echo, router, &who, ever);
    completes(view, echo, router, &who);
    tasks_lead_back(view, echo, router, &who);
    for resource in view.resources() {
        ask("resources/read", "uri", resource.name, resource.server, &resource.entry.uri);
    }
    for (key, offered) in view.servers() {
        let own = view.tools().filter(|tool| tool.server == key).count();
        assert_eq!(own, offered.tools.len(), "{key}");
        let part = view.part(key).unwrap();
        for resource in &offered.resources {
            let seen = view.uri(part, &resource.uri).unwrap_or_else(|| resource.uri.clone());
            assert_eq!(&view.place(&seen).unwrap().part.key, key, "{seen}");
        }
    }
}

/// What templates make leads to whose they are, or to one that may be meant as well: one that lists exactly that, or whose
/// template alone is the closest. Whatever else it looks like, it is passed on as it was made.
fn made(view: &View, echo: &Echo, router: &crate::Router, who: &Who, ever: &[Published]) {
    let fill = |of: &str, path: &str| {
        let made = of.replace("{+path}", path).replace("{+all}", path);
        made.replace("{host}", if path.len().is_multiple_of(2) { "ui" } else { "same" })
    };
    let all: Vec<_> = view.templates().collect();
    // Each with two of the paths, which differ from view to view.
    let paths = PATHS.iter().cycle().skip(all.len() % PATHS.len());
    for (template, path) in all.iter().flat_map(|one| [one, one]).zip(paths) {
        let own = fill(&template.entry.uri_template, path);
        let seen = fill(template.name, path);
        let params = format!(r#"{{"uri":{}}}"#, kit::quoted(&seen));
        let answer = kit::call(router, view, who, "resources/read", &params);
        let fits: Vec<_> = all.iter().filter(|other| fit(other.name, &seen).is_some()).collect();
        let best = fits.iter().map(|other| fit(other.name, &seen)).max();
        let closest = fits.iter().filter(|other| Some(fit(other.name, &seen)) == best);
        let closest: BTreeSet<_> = closest.map(|other| other.server).collect();
        let lists = view.resource(&seen).map(|listed| listed.server);
        match echo.asked().pop() {
            Some((asked, _, sent)) => {
                answer.unwrap();
                let is_own = asked == *template.server;
                let may = match lists {
                    Some(lists) => *lists == asked,
                    None => closest.into_iter().eq([&asked]),
                };
                let is_moved = template.name != template.entry.uri_template;
                assert!(may && (is_own || !is_moved), "{seen} of {} to {asked}", template.server);
                let as_made = if is_own { own } else { seen.clone() };
                assert_eq!(sent, format!(r#"{{"uri":{}}}"#, kit::quoted(&as_made)));
            }
            None => {
                // By a prefix it may have been another's.
                let is_app = seen.starts_with("ui://");
                if !(*view.surface() == SHORT && is_app) {
                    assert_eq!(answer, Err(CallError::Ambiguous { uri: seen.clone() }));
                }
                let several = fits.iter().any(|other| other.server != template.server);
                let listed = view
                    .servers()
                    .filter(|(_, offer)| offer.resources.iter().any(|listed| listed.uri == seen));
                let of_another =
                    |(key, offer): &Published| key != template.server && had(offer, &seen);
                let before = *view.surface() == SHORT && (is_app || ever.iter().any(of_another));
                assert!(several || listed.count() > 0 || before, "{seen} of {}", template.server);
            }
        }
    }
}

/// What a server has offered at some time.
type Published = (ServerKey, Arc<Offer>);

/// Whether somebody offered a URI, or a template that makes it.
fn had(offer: &Offer, uri: &str) -> bool {
    offer.resources.iter().any(|listed| listed.uri == uri)
        || offer.templates.iter().any(|family| fit(&family.uri_template, uri).is_some())
}

/// The two apps that a tool refers to.
fn apps(tool: Json<'_>) -> [String; 2] {
    let meta = tool.get("_meta").unwrap();
    let uris = [meta.get("ui").unwrap().get("resourceUri"), meta.get("ui/resourceUri")];
    uris.map(|uri| uri.unwrap().string().unwrap().into_owned())
}

/// What names have meant so far.
#[derive(Default)]
struct Meant {
    /// A prefixed one, to everybody.
    prefixed: BTreeMap<(Kind, String), (String, String)>,
    /// A bare one, to whoever was shown it.
    bare: BTreeMap<(&'static str, Kind, String), (ServerKey, String)>,
    /// Any other, with the name of whose it was.
    aside: BTreeMap<(&'static str, Kind, String), String>,
}

impl Meant {
    /// What they meant once, they mean for ever.
    fn check(&mut self, now: &Snapshot) {
        for view in AGENTS.iter().filter_map(|id| now.agent(&agent(id), &Surface::mcp())) {
            for (name, (server, own)) in listed(&view) {
                // A server of one's own stands in for everybody's of the same name.
                let pair = (server.name.to_string(), own);
                let before = self.prefixed.insert(name.clone(), pair.clone());
                assert!(before.is_none_or(|before| before == pair), "{name:?}");
            }
        }
        for id in AGENTS {
            let Some(view) = now.agent(&agent(id), &SHORT) else { continue };
            for ((kind, name), pair) in listed(&view) {
                // Names with a hash, and qualified URIs, say whose they are by the server's name.
                let at = (id, kind, name.clone());
                let whose = self.aside.insert(at.clone(), pair.0.name.to_string());
                assert!(whose.is_none_or(|whose| whose == pair.0.name.as_str()), "{id} {name}");
                if name == pair.1 {
                    let before = self.bare.insert(at, pair.clone());
                    assert!(before.is_none_or(|before| before == pair), "{id} {name}");
                }
            }
        }
    }
}

/// What completes an argument of something is asked of whose it is.
fn completes(view: &View, echo: &Echo, router: &crate::Router, who: &Who) {
    let ask = |kind: &str, key: &str, name: &str, server: &ServerKey, own: &str| {
        let params = |name: &str| {
            let name = kit::quoted(name);
            format!(r#"{{"ref":{{"type":"ref/{kind}","{key}":{name}}},"argument":{{"name":"a"}}}}"#)
        };
        kit::call(router, view, who, "completion/complete", &params(name)).unwrap();
        let (asked, _, sent) = echo.asked().pop().unwrap();
        assert_eq!((&asked, sent), (server, params(own)), "{name}");
    };
    for prompt in view.prompts() {
        ask("prompt", "name", prompt.name, prompt.server, &prompt.entry.name);
    }
    for template in view.templates() {
        ask("resource", "uri", template.name, template.server, &template.entry.uri_template);
    }
}

/// Every server gives its tasks the same id: what each caller is given leads to the one that made it.
fn tasks_lead_back(view: &View, echo: &Echo, router: &crate::Router, who: &Who) {
    let mut given = BTreeMap::new();
    for tool in view.tools() {
        let params = format!(r#"{{"name":{}}}"#, kit::quoted(tool.name));
        let begun = kit::call(router, view, who, "tools/call", &params).unwrap();
        let id = json(&begun).get("taskId").unwrap().string().unwrap().into_owned();
        let home = view.part(tool.server).unwrap().offer.home;
        if home == Home::Outside {
            let before = given.insert(id, tool.server);
            assert!(before.is_none_or(|before| before == tool.server), "{}", tool.server);
        }
    }
    for (id, server) in given {
        let params = format!(r#"{{"taskId":{}}}"#, kit::quoted(&id));
        kit::call(router, view, who, "tasks/get", &params).unwrap();
        let (asked, _, sent) = echo.asked().pop().unwrap();
        assert_eq!((&asked, sent.as_str()), (server, r#"{"taskId":"t:1"}"#), "{id}");
    }
    echo.asked();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(switchboard_testkit::data::repetitions(200)))]

    #[test]
    fn prove_never_crossed(steps in prop::collection::vec(any_step(), 1..12)) {
        let echo = Echo::new(r#"{"resultType":"task","taskId":"t:1","status":"working"}"#);
        let hub = crate::Ports { hub: Some(echo.clone()), ..kit::ports(&echo) };
        let router = kit::router(hub);
        let registry = Registry::default();
        let mut published: BTreeMap<ServerKey, Arc<Offer>> = BTreeMap::new();
        let mut sets = Vec::new();
        let mut meant = Meant::default();
        let mut ever = Vec::new();
        for step in steps {
            match step {
                Step::Publish(key, names) => {
                    let offer = offer(&key, &names);
                    registry.publish(&key, offer.clone());
                    ever.push((key.clone(), offer.clone()));
                    published.insert(key, offer);
                }
                Step::Withdraw(key) => {
                    registry.withdraw(&key);
                    published.remove(&key);
                }
                Step::Audience(next) => {
                    registry.set_audience(audience(&next));
                    sets = next;
                }
            }
            let scratch = Registry::default();
            scratch.set_audience(audience(&sets));
            for (key, offer) in published.iter().rev() {
                scratch.publish(key, offer.clone());
            }
            let (grown, built) = (views(&registry), views(&scratch));
            prop_assert_eq!(grown.len(), built.len());
            for (grown, built) in grown.iter().zip(&built) {
                let kinds = if *grown.surface() == SHORT { &[][..] } else { &Kind::ALL[..] };
                for kind in kinds.iter().copied() {
                    prop_assert_eq!(grown.page(kind, None), built.page(kind, None));
                    prop_assert_eq!(grown.digest(kind), built.digest(kind));
                }
                leads_back(grown, &echo, &router, &ever);
            }
            meant.check(&registry.load());
        }
    }
}
