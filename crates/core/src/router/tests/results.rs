//! A hub behind the hub keeps results, too: under the same URIs.

use super::*;
use crate::registry::{Home, Offer};

/// As a hub offers them.
fn hub(home: Home) -> Arc<Offer> {
    let templates = crate::results::template().into_iter().collect();
    Arc::new(Offer { templates, home, ..Offer::default() })
}

#[test]
fn are_read_where_they_are_kept() {
    let registry = Registry::default();
    registry.publish(&key("inner"), hub(Home::Outside));
    registry.publish(&key("switchboard"), hub(Home::Hub));
    let echo = Echo::new(r#"{"contents":[]}"#);
    let router = kit::router(kit::ports(&echo));
    let (one, two) = (Who::agent(agent("one"), None), Who::agent(agent("two"), None));
    let id = router.results().keep(&one, "kept here".to_owned()).unwrap();
    let own = format!("switchboard://results/{id}");
    let read = |view: &View, who: &Who, uri: &str| {
        let got = kit::call(&router, view, who, "resources/read", &format!(r#"{{"uri":"{uri}"}}"#));
        let asked = echo.asked().pop();
        let asked = asked.map(|(server, _, params)| format!("{server} {params}"));
        (got.ok(), asked)
    };
    let asked = |uri: &str| {
        (Some(r#"{"contents":[]}"#.to_owned()), Some(format!(r#"inner {{"uri":"{uri}"}}"#)))
    };
    let now = registry.load();
    // At its own door it is asked for what is not kept here for this caller.
    let door = now.server(&key("inner"), &Surface::Bare).unwrap();
    for uri in [&own, &format!("{own}?offset=1")] {
        let (got, none) = read(&door, &one, uri);
        assert!(got.unwrap().contains("ept here") && none.is_none(), "{uri}");
        assert_eq!(read(&door, &two, uri), asked(uri));
    }
    assert_eq!(read(&door, &one, "switchboard://results/1"), asked("switchboard://results/1"));
    // Beside others, what its results are called says whose they are; what does not is the hub's own.
    for surface in [Surface::mcp(), Surface::Bare, Surface::Short(46)] {
        let all = now.everything(&surface);
        let names: Vec<_> = all.templates().map(|family| family.name.to_owned()).collect();
        let families = ["mcp://inner/switchboard://results/{id}", "switchboard://results/{id}"];
        assert_eq!(names, families, "{surface:?}");
        assert!(read(&all, &one, &own).0.unwrap().contains("kept here"));
        let inner = "mcp://inner/switchboard://results/1";
        assert_eq!(read(&all, &one, inner), asked("switchboard://results/1"));
        assert_eq!(read(&all, &one, "switchboard://results/1"), (None, None));
        let (got, none) = read(&all, &one, &format!("mcp://switchboard/{own}"));
        assert!(got.unwrap().contains("kept here") && none.is_none());
    }
}
