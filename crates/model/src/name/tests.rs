//! Which names pass and which do not.

use super::*;

#[test]
fn server_names() {
    for good in
        ["github", "My Server", "@scope/pkg", "slack-mcp", "日本", "a.b:c", &"x".repeat(128)]
    {
        assert_eq!(ServerName::parse(good).map(|n| n.to_string()), Ok(good.to_owned()));
    }
    for (bad, why) in [
        ("", NameError::Empty),
        (" a", NameError::Padded),
        ("a\n", NameError::Padded),
        ("a\u{200B}b", NameError::Invisible(0x200B)),
        ("a\u{202E}b", NameError::Invisible(0x202E)),
        ("a\0b", NameError::Invisible(0)),
        (&"x".repeat(129), NameError::TooLong(129, 128)),
    ] {
        assert_eq!(ServerName::parse(bad), Err(why), "{bad:?}");
    }
}

#[test]
fn agent_ids() {
    for good in ["cto", "backend-engineer", "a_1.x", "9"] {
        assert!(AgentId::parse(good).is_ok(), "{good}");
    }
    for (bad, why) in [
        ("", NameError::Empty),
        ("..", NameError::Character('.')),
        ("a b", NameError::Character(' ')),
        ("a/b", NameError::Character('/')),
        ("ä", NameError::Character('ä')),
        (&"x".repeat(65), NameError::TooLong(65, 64)),
    ] {
        assert_eq!(AgentId::parse(bad), Err(why), "{bad:?}");
    }
}
