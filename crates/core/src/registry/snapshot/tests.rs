//! That a view is there before anybody asks for it, and only if somebody would.

use super::set::PATIENCE;
use super::*;
use crate::kit::{agent, key, tools};
use crate::registry::Registry;

const AGENTS: [&str; 3] = ["uses", "uses-too", "never"];

/// Three agents who see different servers; two of them have looked.
fn registry() -> Registry {
    let registry = Registry::default();
    for server in ["a", "b", "c"] {
        registry.publish(&key(server), Arc::new(tools(server, &["x"])));
    }
    sees(&registry, [&["a", "b"], &["b", "c"], &["a", "b", "c"]]);
    let now = registry.load();
    for id in &AGENTS[..2] {
        now.agent(&agent(id), &Surface::mcp());
    }
    now.server(&key("b"), &Surface::Bare);
    now.everything(&Surface::mcp());
    registry
}

fn sees(registry: &Registry, servers: [&[&str]; 3]) {
    let all = AGENTS.iter().zip(servers).fold(Audience::default(), |all, (id, servers)| {
        let keys: Vec<_> = servers.iter().map(|server| key(server)).collect();
        all.with_agent(agent(id), &keys)
    });
    registry.set_audience(all);
}

/// Looks without asking.
fn peek(now: &Snapshot, id: &str) -> Option<Arc<View>> {
    now.sets[*now.seats.agents.get(&agent(id))?].peek(&Surface::mcp())
}

#[test]
fn what_somebody_uses_is_made_before_they_ask() {
    type Change = fn(&Registry);
    let rows: [(&str, Change); 5] = [
        ("another offer", |all| all.publish(&key("b"), Arc::new(tools("b", &["y"])))),
        ("a server more", |all| {
            sees(all, [&["a", "b", "d"], &["b", "c", "d"], &["d"]]);
            all.publish(&key("d"), Arc::new(tools("d", &["x"])));
        }),
        ("a server less", |all| all.withdraw(&key("b"))),
        ("another audience", |all| sees(all, [&["a"], &["c"], &["b"]])),
        ("what another sees", |all| sees(all, [&["b", "c"], &["a", "b", "c"], &["a"]])),
    ];
    for (what, change) in rows {
        let registry = registry();
        let before = registry.load();
        change(&registry);
        let now = registry.load();
        for id in &AGENTS[..2] {
            let made = peek(&now, id).unwrap_or_else(|| panic!("{what}: {id} would have to wait"));
            let asked = now.agent(&agent(id), &Surface::mcp()).unwrap();
            assert!(Arc::ptr_eq(&made, &asked), "{what}: {id}");
            assert!(!Arc::ptr_eq(&made, &peek(&before, id).unwrap()), "{what}: {id}");
        }
        let all = now.everything.peek(&Surface::mcp());
        assert!(all.is_some(), "{what}: an administrator would have to wait");
        if now.offer(&key("b")).is_some() {
            assert!(now.single[&key("b")].peek(&Surface::Bare).is_some(), "{what}: its own door");
        }
        assert!(peek(&now, "never").is_none(), "{what}: nobody ever asked");
        let bare = now.sets.iter().any(|set| set.peek(&Surface::Bare).is_some());
        assert!(!bare, "{what}: nobody asked for that surface");
    }
}

#[test]
fn what_nobody_uses_any_more_is_not_made_for_ever() {
    let registry = registry();
    let change = |nth: u32| {
        let name = format!("x{nth}");
        registry.publish(&key("b"), Arc::new(tools("b", &[&name])));
        registry.load()
    };
    for nth in 0..PATIENCE * 2 {
        let now = change(nth);
        assert!(peek(&now, "uses").is_some(), "{nth}");
        assert_eq!(peek(&now, "uses-too").is_some(), nth < PATIENCE, "{nth}");
        now.agent(&agent("uses"), &Surface::mcp());
    }
    // Until they come back.
    registry.load().agent(&agent("uses-too"), &Surface::mcp());
    assert!(peek(&change(PATIENCE * 2), "uses-too").is_some());
}
