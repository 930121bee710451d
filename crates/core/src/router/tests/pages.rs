//! That pages of the apps extension reach their own server, and no other.

use super::*;
use crate::kit::{entry, tools};
use crate::registry::Offer;
use switchboard_wire::types::ResourceEntry;

/// A server with a page, which calls `now`.
fn with_page(of: &str) -> Offer {
    let tool = r#"{"name":"now","inputSchema":{},"_meta":{"ui":{"resourceUri":"ui://page"}}}"#;
    let mut offer = tools(of, &["later"]);
    offer.tools.push(entry(tool));
    offer.resources.push(entry::<ResourceEntry>(r#"{"uri":"ui://page"}"#));
    offer
}

#[test]
fn a_page_calls_its_own_server() {
    let registry = Registry::default();
    let echo = Echo::new("{}");
    let router = kit::router(kit::ports(&echo));
    let asked = |surface: &Surface, method: &str, params: &str| {
        let view = registry.load().everything(surface);
        let called = kit::call(&router, &view, &Who::default(), method, params);
        let asked = echo.asked().pop().map(|(server, _, params)| format!("{server} {params}"));
        assert_eq!(called.is_ok(), asked.is_some(), "{called:?}");
        asked
    };
    let now = || asked(&Surface::mcp(), "tools/call", r#"{ "name":"now","arguments":{"n":1.0}}"#);
    let page = || asked(&Surface::mcp(), "resources/read", r#"{"uri":"ui://page"}"#);
    let clocks = || Some(r#"clock { "name":"now","arguments":{"n":1.0}}"#.to_owned());
    // Another server has a tool of that name, and no page that could say it.
    registry.publish(&key("other"), Arc::new(tools("other", &["now"])));
    assert_eq!((now(), page()), (None, None));
    registry.publish(&key("clock"), Arc::new(with_page("clock")));
    assert_eq!((now(), page()), (clocks(), Some(r#"clock {"uri":"ui://page"}"#.to_owned())));
    let later = r#"{"name":"later"}"#;
    assert_eq!(asked(&Surface::mcp(), "tools/call", later), Some(format!("clock {later}")));
    // Where names are bare, they are what everybody is told.
    assert_eq!(asked(&Surface::Bare, "tools/call", r#"{"name":"now"}"#), None);
    // Of two that say the same it cannot be seen which one speaks.
    registry.publish(&key("watch"), Arc::new(with_page("watch")));
    assert_eq!((now(), page()), (None, None));
    // A page is open still whose server is gone; what it says is not for another.
    registry.withdraw(&key("clock"));
    assert_eq!((now(), page()), (None, None));
    registry.publish(&key("clock"), Arc::new(with_page("clock")));
    registry.withdraw(&key("watch"));
    assert_eq!((now(), page()), (None, None), "nor for the one whose page spoke with two");
}

#[test]
fn a_page_whose_server_comes_back_calls_it() {
    let registry = Registry::default();
    let view = || registry.load().everything(&Surface::mcp());
    let whose =
        || view().tool_of_page("now").map(|(name, part, _)| (name.to_owned(), part.key.clone()));
    registry.publish(&key("clock"), Arc::new(with_page("clock")));
    assert_eq!(whose(), Some(("clock__now".to_owned(), key("clock"))));
    registry.withdraw(&key("clock"));
    registry.publish(&key("watch"), Arc::new(with_page("watch")));
    assert_eq!(whose(), None);
    registry.withdraw(&key("watch"));
    registry.publish(&key("clock"), Arc::new(with_page("clock")));
    assert_eq!(whose(), None, "the other one may have a page open, too");
}
