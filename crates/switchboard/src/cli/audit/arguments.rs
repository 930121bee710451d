//! The arguments of a call in one short line for people. `--json` has the whole.

use serde_json::Value;
use switchboard_model::name::is_invisible;

/// Characters that a line has room for.
const ROOM: usize = 80;

/// What a row of the log has of them.
pub(super) fn of(row: &Value) -> Option<&Value> {
    row.pointer("/detail/arguments")
}

/// `path="/tmp/x" depth=2`
pub(super) fn line(arguments: &Value) -> String {
    let text = match arguments.as_object() {
        Some(members) => {
            let members = members.iter().map(|(name, value)| format!("{name}={value}"));
            members.collect::<Vec<_>>().join(" ")
        }
        None => arguments.to_string(),
    };
    let mut line: String = text.chars().take(ROOM).flat_map(printable).collect();
    if text.chars().nth(ROOM).is_some() {
        line.push('…');
    }
    line
}

/// What an agent sent must neither steer the terminal of whoever reads it nor turn its text around.
fn printable(c: char) -> Vec<char> {
    if is_invisible(c) { c.escape_unicode().collect() } else { vec![c] }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_short_line() {
        for (given, shown) in [
            (json!({"path": "/tmp/x", "depth": 2}), r#"path="/tmp/x" depth=2"#),
            (
                json!({"text": "a\nb\u{1b}[31m\u{202e}", "x\u{7f}": []}),
                r#"text="a\nb\u001b[31m\u{202e}" x\u{7f}=[]"#,
            ),
            (json!({}), ""),
            (json!("[cut: 9 bytes]"), r#""[cut: 9 bytes]""#),
        ] {
            assert_eq!(line(&given), shown);
        }
        let long = line(&json!({"text": "ü".repeat(200)}));
        assert_eq!((long.chars().count(), long.ends_with("ü…")), (ROOM + 1, true));
    }
}
