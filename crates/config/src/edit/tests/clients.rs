//! JSON of other programs: the clients' `mcpServers` and Annabelle's flat map.

use super::*;

const CLIENT: &str = r#"{
    // mine
    "mcpServers": {
        "a": { "command": "npx -y a", "disabled": false, "alwaysAllow": ["q"] },
        // about b
        "b": { "type": "http", "serverUrl": "https://b" }, // b
    },
    "theme": "dark"
}"#;

#[test]
fn mcp_servers() {
    let new = r#"
+        "new": {
+            "command": "npx",
+            "env": {
+                "K": "${K}"
+            }
+        },
"#;
    check(".mcp.json", CLIENT, add(with(stdio("new", "npx"), "K", "${K}")), new);
    check(
        ".mcp.json",
        CLIENT,
        replace(stdio("a", "npx -y other")),
        r#"
-        "a": { "command": "npx -y a", "disabled": false, "alwaysAllow": ["q"] },
+        "a": { "command": "npx", "disabled": false, "alwaysAllow": ["q"], "args": ["-y", "other"] },
"#,
    );
    check(
        ".mcp.json",
        CLIENT,
        replace(http("b", "https://b/v2")),
        r#"
-        "b": { "type": "http", "serverUrl": "https://b" }, // b
+        "b": { "type": "http", "serverUrl": "https://b/v2" }, // b
"#,
    );
    check(
        ".mcp.json",
        CLIENT,
        enable("a", false),
        r#"
-        "a": { "command": "npx -y a", "disabled": false, "alwaysAllow": ["q"] },
+        "a": { "command": "npx -y a", "disabled": true, "alwaysAllow": ["q"] },
"#,
    );
    check(
        ".mcp.json",
        CLIENT,
        remove("b"),
        "-        // about b\n-        \"b\": { \"type\": \"http\", \"serverUrl\": \"https://b\" }, // b",
    );
    check(
        ".mcp.json",
        r#"{"mcpServers":{"a":{"command":"x"}}}"#,
        add(stdio("b", "y")),
        r#"
-{"mcpServers":{"a":{"command":"x"}}}¬
+{"mcpServers":{"a":{"command":"x"}, "b": {"command": "y"}}}¬
"#,
    );
}

#[test]
fn annabelle() {
    let text = "{\n  \"a\": {\n    \"command\": \"x\",\n    \"env\": { \"T\": \"${T}\" },\n    \
                \"sensitive\": true,\n    \"timeout\": 500\n  }\n}\n";
    let new = "+  },\n+  \"b\": {\n+    \"command\": \"y\",\n+    \"env\": {\n+      \
               \"T\": \"${T}\"\n+    }\n";
    check("external-mcps.json", text, add(with(stdio("b", "y"), "T", "${T}")), new);
    let mut spec = with(stdio("a", "x"), "T", "${T}");
    spec.sensitive = true;
    spec.timing.connect = std::time::Duration::from_millis(700);
    let expected = "-    \"timeout\": 500\n+    \"timeout\": 700";
    check("external-mcps.json", text, replace(spec), expected);
    let all: String = text.lines().map(|line| format!("-{line}\n")).collect();
    check("external-mcps.json", text, remove("a"), &(all + "+{}"));
}
