//! Our own file in YAML and JSON.

use super::*;

const YAML: &str = "\
# top
servers:
    # about a
    a:  # the first
        command: npx   # the command
        args:
            - -y
            - a
        # cwd: /tmp

    # alone

    # about b
    b:
        url: 'https://b.example/mcp'  # where
        headers: {Authorization: 'Bearer ${B}'}

    c: &c {command: x}

defaults: {servers: [a, b]}
agents:
    cto:
        servers:
        - a  # first
        - b
    dev: {}
";

#[test]
fn yaml() {
    check(
        "switchboard.yaml",
        YAML,
        add_for(with(stdio("new", "npx -y new"), "KEY", "${KEY}"), &["cto", "dev"]),
        r#"
+    new:
+        command: npx
+        args: ["-y", new]
+        env:
+            KEY: "${KEY}"
+
-    dev: {}
+        - new
+    dev:
+        servers: [a, b, new]
"#,
    );
    check(
        "switchboard.yaml",
        YAML,
        replace(with(stdio("a", "npx"), "K", "v")),
        "
-        args:
-            - -y
-            - a
+        env:
+            K: v
",
    );
}

#[test]
fn yaml_removals_and_switches() {
    check(
        "switchboard.yaml",
        YAML,
        remove("a"),
        "
-    # about a
-    a:  # the first
-        command: npx   # the command
-        args:
-            - -y
-            - a
-        # cwd: /tmp
-
-defaults: {servers: [a, b]}
+defaults: {servers: [b]}
-        - a  # first
",
    );
    check(
        "switchboard.yaml",
        YAML,
        remove("b"),
        "
-    # about b
-    b:
-        url: 'https://b.example/mcp'  # where
-        headers: {Authorization: 'Bearer ${B}'}
-
-defaults: {servers: [a, b]}
+defaults: {servers: [a]}
-        - b
",
    );
    check(
        "switchboard.yaml",
        YAML,
        enable("c", false),
        "
-    c: &c {command: x}
+    c: &c {command: x, enabled: false}
",
    );
    check("switchboard.yaml", YAML, enable("b", true), "");
}

#[test]
fn yaml_that_becomes_empty_says_so() {
    let text = "servers:  # mine\n  a:\n    command: x\nagents:\n  cto:\n    servers:\n      - a\n";
    check(
        "switchboard.yaml",
        text,
        remove("a"),
        "
-servers:  # mine
-  a:
-    command: x
+servers: {}  # mine
-    servers:
-      - a
+    servers: []
",
    );
    check(
        "switchboard.yaml",
        "servers: {}  # none\nagents:\n",
        add(stdio("a", "x")),
        "
-servers: {}  # none
+servers:  # none
+  a:
+    command: x
",
    );
    check(
        "switchboard.yaml",
        "servers:\n  # none yet\n\nhub: {}\n",
        add(stdio("a", "x")),
        "+  a:\n+    command: x",
    );
}

const JSON: &str = r#"{
	// top
	"servers": {
		// about a
		"a": {
			"command": "npx", // the command
			"args": ["-y", "a"]
		},

		/* alone */

		/* about
		   b */
		"b": { "url": "https://b.example/mcp" } // where
	},
	"agents": { "cto": { "servers": [ "a" ] } }
}
"#;

#[test]
fn json() {
    check(
        "switchboard.json",
        JSON,
        add_for(stdio("new", "x y"), &["cto"]),
        r#"
-		"b": { "url": "https://b.example/mcp" } // where
+		"b": { "url": "https://b.example/mcp" }, // where
+
+		"new": {
+			"command": "x",
+			"args": ["y"]
+		}
-	"agents": { "cto": { "servers": [ "a" ] } }
+	"agents": { "cto": { "servers": [ "a", "new" ] } }
"#,
    );
    check(
        "switchboard.json",
        JSON,
        remove("a"),
        r#"
-		// about a
-		"a": {
-			"command": "npx", // the command
-			"args": ["-y", "a"]
-		},
-
-	"agents": { "cto": { "servers": [ "a" ] } }
+	"agents": { "cto": { "servers": [] } }
"#,
    );
    check(
        "switchboard.json",
        JSON,
        remove("b"),
        r#"
-		},
+		}
-
-		/* about
-		   b */
-		"b": { "url": "https://b.example/mcp" } // where
"#,
    );
    check(
        "switchboard.json",
        JSON,
        enable("a", false),
        r#"
-			"args": ["-y", "a"]
+			"args": ["-y", "a"],
+			"enabled": false
"#,
    );
}
