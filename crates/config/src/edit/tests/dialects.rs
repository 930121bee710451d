//! AICIB's and Spacebot's files, with their own rules.

use super::*;

const AICIB: &str = "\
company: {name: Acme}
x-base: &base
  env: {Q: '1'}
integrations:
  enabled: true
  servers:
    # about a
    a:
      command: npx   # the command
      args: [a]

    b:
      <<: *base
      command: x
      args:
      - y

  default_servers: [b]
  per_agent:
    cto: [a, b]
    qa:
      - a   # only

agents:
  cto:
    mcp_servers: [a]
    workers:
      - back:
          mcp_servers:
            - a
            - b
      - front: {mcp_servers: [a]}
  dev:
    model: large
";

#[test]
fn aicib() {
    let edited = check(
        "aicib.config.yaml",
        AICIB,
        add_for(stdio("new", "npx"), &["cto", "dev", "back", "cfo"]),
        "
+    new:
+      command: npx
+      args: []
+
-    cto: [a, b]
+    cto: [a, b, new]
+    cfo: [new]
+    dev: [b, new]
+            - new
",
    );
    assert_eq!(edited.notes.len(), 1, "{:?}", edited.notes);
    check(
        "aicib.config.yaml",
        AICIB,
        add_to_defaults(stdio("new", "npx -y new")),
        "
-  default_servers: [b]
+    new:
+      command: npx
+      args: [\"-y\", new]
+
+  default_servers: [b, new]
",
    );
    check(
        "aicib.config.yaml",
        AICIB,
        replace(with(stdio("a", "npx b"), "K", "${K}")),
        "
-      args: [a]
+      args: [b]
+      env:
+        K: \"${K}\"
",
    );
}

/// An empty list and no list mean the same to AICIB: the defaults. Its own `remove` leaves agents
/// with that, and so does ours, but it is said.
#[test]
fn aicib_removal_clears_every_assignment() {
    let edited = check(
        "aicib.config.yaml",
        AICIB,
        remove("a"),
        "
-    # about a
-    a:
-      command: npx   # the command
-      args: [a]
-
-    cto: [a, b]
-    qa:
-      - a   # only
+    cto: [b]
+    qa: []
-    mcp_servers: [a]
+    mcp_servers: []
-            - a
-      - front: {mcp_servers: [a]}
+      - front: {mcp_servers: []}
",
    );
    assert_eq!(
        edited.notes,
        [
            "agent `front` names no server any more and now has the defaults: b",
            "agent `qa` names no server any more and now has the defaults: b",
        ]
    );
    check(
        "aicib.config.yaml",
        AICIB,
        remove("b"),
        "
-    b:
-      <<: *base
-      command: x
-      args:
-      - y
-
-  default_servers: [b]
+  default_servers: []
-    cto: [a, b]
+    cto: [a]
-            - b
",
    );
    let composio =
        "integrations:\n  composio:\n    enabled: true\n  per_agent:\n    cto: [github]\n";
    check("aicib.config.yaml", composio, remove("composio"), "-  composio:\n-    enabled: true");
    // A name that only the catalog knows is assigned all the same.
    check("aicib.config.yaml", composio, remove("github"), "-    cto: [github]\n+    cto: []");
}

#[test]
fn aicib_switched_off_is_edited_all_the_same() {
    let off = AICIB.replace("enabled: true", "enabled: false");
    let entry = "+    new:\n+      command: npx\n+      args: []\n+\n";
    let lists = "-    cto: [a, b]\n+    cto: [a, b, new]\n+    cfo: [new]\n+    dev: [b, new]\n";
    let expected = format!("{entry}{lists}");
    check(
        "aicib.config.yaml",
        &off,
        add_for(stdio("new", "npx"), &["cto", "cfo", "dev"]),
        &expected,
    );
    let expected = format!("-  default_servers: [b]\n{entry}+  default_servers: [b, new]\n");
    check("aicib.config.yaml", &off, add_to_defaults(stdio("new", "npx")), &expected);
    assert_eq!(
        check(
            "aicib.config.yaml",
            "",
            add(stdio("new", "npx")),
            "
+integrations:
+  servers:
+    new:
+      command: npx
+      args: []
"
        )
        .notes,
        Vec::<String>::new()
    );
}

const SPACEBOT: &str = r#"[api]
key = 1

# the a
[[defaults.mcp]]
name = "a"
transport = "stdio"
command = "x" # c

[[defaults.mcp]]
name = "b"
transport = "http"
url = "http://b"

[[agents]]
id = "cto"

[[agents.mcp]]
name = "a"
transport = "stdio"
command = "y"

[agents.mcp.env]
A = "1"

[[agents]]
id = "qa"
depth = 1
"#;

#[test]
fn spacebot() {
    let entry =
        "+name = \"new\"\n+transport = \"stdio\"\n+command = \"npx\"\n+args = [\"-y\", \"n\"]\n";
    check(
        "config.toml",
        SPACEBOT,
        add(stdio("new", "npx -y n")),
        &format!("+[[defaults.mcp]]\n{entry}+\n"),
    );
    check(
        "config.toml",
        SPACEBOT,
        add_for(stdio("new", "npx -y n"), &["cto", "zoe"]),
        &format!(
            "+[[agents.mcp]]\n{entry}+\n+\n+[[agents]]\n+id = \"zoe\"\n+\n+[[agents.mcp]]\n{entry}"
        ),
    );
    check(
        "config.toml",
        SPACEBOT,
        replace(with(stdio("a", "z"), "K", "v")),
        "-command = \"x\" # c\n+command = \"z\" # c\n+env = { K = \"v\" }",
    );
    check(
        "config.toml",
        SPACEBOT,
        remove("a"),
        "
-# the a
-name = \"a\"
-transport = \"stdio\"
-command = \"x\" # c
-
-[[defaults.mcp]]
-[[agents.mcp]]
-name = \"a\"
-transport = \"stdio\"
-command = \"y\"
-
-[agents.mcp.env]
-A = \"1\"
-
",
    );
    check("config.toml", SPACEBOT, enable("a", false), "+enabled = false\n+enabled = false");
    let inline = "[defaults]\nmcp = [\n  { name = \"a\", command = \"x\" }, # a\n]\n";
    check(
        "config.toml",
        inline,
        add(http("b", "https://b")),
        "+  { name = \"b\", transport = \"http\", url = \"https://b\" },",
    );
    check(
        "config.toml",
        inline,
        remove("a"),
        "-mcp = [\n-  { name = \"a\", command = \"x\" }, # a\n-]\n+mcp = []",
    );
}
