//! That names are good, stable, and each only one thing's.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

#[test]
fn names() {
    let spacebot = Surface::parse("{server}_{tool}", 64).unwrap();
    let check = |surface: &Surface, server: &str, tool: &str, expected: &str| {
        assert_eq!(surface.name(server, tool), expected, "{server} {tool}");
    };
    let mcp = Surface::mcp();
    check(&mcp, "github", "create_issue", "github__create_issue");
    check(&Surface::model(), "github", "create_issue", "mcp__github__create_issue");
    check(&spacebot, "github", "create_issue", "github_create_issue");
    check(&Surface::Bare, "any", "browser.click/ü", "browser.click/ü");
    let short = Surface::Short(46);
    check(&short, "any", "create_issue", "create_issue");
    check(&short, "web", "browser.click", "browser_click_x397b8870");
    check(&short, "s", &"t".repeat(46), &"t".repeat(46));
    assert_eq!(short.name("s", &"t".repeat(47)).len(), 46);
    assert_ne!(short.name("a", &"t".repeat(47)), short.name("b", &"t".repeat(47)));
    assert_ne!(short.name("a", "get_status"), "get_status");
    assert_ne!(short.name("a", "b_x01234567"), "b_x01234567");
    assert!(short.aside("a", &"t".repeat(99)).len() <= 46);
    // Of two divisions of one name, only that with the shorter server has it.
    check(&mcp, "a", "b__c", "a__b__c");
    check(&mcp, "a__b", "c", "a__b__c_x31ffefa8");
    check(&mcp, "a", "_b", "a___b");
    check(&mcp, "a_", "b", "a___b_xc00f079d");
    // What providers refuse, what is too long, and what is the hub's own.
    check(&mcp, "web", "browser.click", "web__browser_click_x397b8870");
    check(&mcp, "Google Drive", "search", "Google_Drive__search_xe059b0a1");
    check(&mcp, "日本", "é", "______xa8db05f9");
    check(&mcp, "s", &"t".repeat(43), &format!("s__{}", "t".repeat(43)));
    check(&mcp, "s", &"t".repeat(44), &format!("s__{}_x260a6767", "t".repeat(33)));
    check(&spacebot, "get", "status", "get_status_x68f0d657");
    // What looks as if it had a hash gets one.
    check(&mcp, "a", "b_x01234567", "a__b_x01234567_xd222375f");
    check(&mcp, "a", "b_20250305", "a__b_20250305");
}

#[test]
fn templates() {
    let check = |template: &str, limit, expected: Result<&str, &str>| {
        let made = Surface::parse(template, limit).map(|surface| surface.name("s", "t"));
        let made = made.map_err(|error| error.to_string());
        assert_eq!(made.as_deref().map_err(|error| error.as_str()), expected, "{template}");
    };
    check(
        "{server}.{tool}",
        64,
        Err("`.` cannot be part of a tool's name: letters, digits, `_` and `-` can"),
    );
    check("x-{server}-{tool}-y", 64, Ok("x-s-t-y"));
    let parts = |template| {
        format!(
            "`{template}` must have `{{server}}` and after it `{{tool}}`, each once: `{{server}}__{{tool}}`"
        )
    };
    for template in ["", "{tool}", "{server}", "{tool}_{server}", "{server}_{tool}_{tool}"] {
        check(template, 64, Err(&parts(template)));
    }
    check(
        "{server}{tool}",
        64,
        Err("`{server}{tool}` has nothing between `{server}` and `{tool}`; put `_` or `__` there"),
    );
    check(
        "{server}_{tool}",
        18,
        Err("18 characters are too few for this template, which needs at least 19"),
    );
}

#[test]
fn uris() {
    let check = |server: &str, uri: &str, expected: &str| {
        let qualifier = Qualifier::of(server);
        assert_eq!(qualifier.qualify(uri), expected);
        assert_eq!(qualifier.original(expected).as_deref(), Some(uri));
        assert!(expected.starts_with(Qualifier::prefix(expected).unwrap()));
        assert_eq!(Qualifier::prefix_of(qualifier.host()).as_str(), &**qualifier.prefixes()[0]);
    };
    check("git", "file:///a/b", "mcp://git/file:///a/b");
    check("git", "test://{id}", "mcp://git/test://{id}");
    check("git", "ui://app/index.html", "ui://git/app/index.html");
    check("a/b c", "x", "mcp://a%2Fb%20c/x");
    check("a", "", "mcp://a/");
    assert_eq!(Qualifier::of("a").original("mcp://b/x"), None);
    assert_eq!(Qualifier::prefix("file:///x"), None);
}

fn any_name() -> impl Strategy<Value = String> {
    // Few letters, so that what could be confused is.
    prop_oneof![
        "[ab_]{1,4}",
        "[ab_]{1,4}(__|_)[ab_]{1,4}",
        "[ab._ é]{1,5}",
        "[ab]{30,50}",
        "[a_]{1,3}_x[0-9a-f]{8}",
        Just("get".to_owned()),
        Just("status".to_owned()),
    ]
}

fn any_surface() -> impl Strategy<Value = Surface> {
    prop_oneof![
        Just(Surface::mcp()),
        Just(Surface::model()),
        Just(Surface::parse("{server}_{tool}", 30).unwrap()),
        Just(Surface::parse("_{server}-{tool}_", 40).unwrap()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Names are within the limit, of good characters, never the hub's own, and no two pairs have
    /// the same; and since each is made from its pair alone, none depends on any other.
    #[test]
    fn one_name_for_each(
        surface in any_surface(),
        pairs in prop::collection::btree_set((any_name(), any_name()), 1..60),
    ) {
        let Surface::Prefixed(template) = &surface else { unreachable!() };
        let mut known: HashMap<String, (String, String)> = HashMap::new();
        for (server, tool) in pairs {
            for name in [surface.name(&server, &tool), surface.aside(&server, &tool)] {
                prop_assert!(name.len() <= template.limit(), "{}", name);
                prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
                prop_assert!(!RESERVED.contains(&name.as_str()));
                let pair = (server.clone(), tool.clone());
                let before = known.insert(name.clone(), pair.clone());
                prop_assert!(before.is_none_or(|before| before == pair), "{}", name);
            }
        }
    }

    /// Whose a qualified URI is can be told without knowing who there is.
    #[test]
    fn a_uri_says_whose(servers in prop::collection::btree_set(any_name(), 2..6), uri in ".{0,12}") {
        for server in &servers {
            let qualified = Qualifier::of(server).qualify(&uri);
            let owners: Vec<_> =
                servers.iter().filter(|other| Qualifier::of(other).original(&qualified).is_some()).collect();
            prop_assert_eq!(owners, [server]);
        }
    }
}
