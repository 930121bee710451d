//! What is hidden and what stays readable.

use super::*;

#[test]
fn texts() {
    for (given, shown) in [
        (
            "npx -y @modelcontextprotocol/server-filesystem",
            "npx -y @modelcontextprotocol/server-filesystem",
        ),
        ("mcp-server-time==0.6.2", "mcp-server-time==0.6.2"),
        ("use ghp_0123456789abcdefghij now", "use *** now"),
        ("key=sk-ant-api03-abcdefg", "key=***"),
        ("3f8a9b2c1d4e5f60718293a4", "***"),
        ("${GITHUB_TOKEN}", "${GITHUB_TOKEN}"),
        ("é → ü", "é → ü"),
    ] {
        assert_eq!(text(given), shown);
    }
}

#[test]
fn urls() {
    for (given, shown) in [
        ("https://mcp.example.com/mcp", "https://mcp.example.com/mcp"),
        ("postgres://u:hunter2@db/x", "postgres://u:***@db/x"),
        ("https://a.example/mcp?apiKey=hunter2&b=1", "https://a.example/mcp?apiKey=***&b=***"),
        ("https://a.example/${P}?k=${K}#x", "https://a.example/${P}?k=${K}#x"),
        ("postgres://u:${PW}@db/x", "postgres://u:${PW}@db/x"),
        ("not a url", "not a url"),
    ] {
        assert_eq!(url(given), shown);
    }
}

#[test]
fn command_lines() {
    for (given, shown) in [
        (vec!["npx", "-y", "pkg", "/tmp"], "npx -y pkg /tmp"),
        (vec!["srv", "--api-key", "hunter2", "--port", "80"], "srv --api-key *** --port 80"),
        (vec!["srv", "/a dir", "", "it's so"], "srv '/a dir' '' 'it'\\''s so'"),
        (vec!["srv", "--token=hunter2"], "srv --token=***"),
        (vec!["srv", "--token=${T}"], "srv --token=${T}"),
        (vec!["srv", "postgres://u:pw@h/d"], "srv postgres://u:***@h/d"),
        (vec!["srv", "\x1b[2K\x1b[1Gls", "a\nb"], "srv \\u{1b}[2K\\u{1b}[1Gls 'a\\nb'"),
        (vec!["srv", "http://h/\u{202e}a\u{200b}"], "srv http://h/\\u{202e}a\\u{200b}"),
    ] {
        assert_eq!(command_line(given), shown);
    }
}
