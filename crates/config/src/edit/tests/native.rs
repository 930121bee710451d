//! Our own file in TOML, in its many styles, and what holds in every format.

use super::*;

const TOML: &str = r#"# top

[hub]
listen = "127.0.0.1:8010"

# about a
[servers.a] # the first
command = "npx"   # the command
args = ["-y", "a"]
# cwd = "/tmp"

# alone

# about b
[servers.b]
url = "https://b.example/mcp"

[servers.b.headers]
Authorization = "Bearer ${B}" # secret

[defaults]
servers = ["a", "b"]

[agents.cto]
servers = [
  "a", # first
  "b",
]

[agents.dev]

[agents.qa]
servers = ["a"]

[agents.qa.own.a]
command = "other"
"#;

#[test]
fn toml() {
    check(
        "switchboard.toml",
        TOML,
        add_for(with(stdio("new", "npx -y new"), "KEY", "${KEY}"), &["cto", "dev", "cfo"]),
        r#"
+[servers.new]
+command = "npx"
+args = ["-y", "new"]
+env = { KEY = "${KEY}" }
+
+  "new",
+servers = ["a", "b", "new"]
+
+[agents.cfo]
+servers = ["new"]
"#,
    );
    check(
        "switchboard.toml",
        TOML,
        add_to_defaults(http("new", "https://new.example")),
        r#"
+[servers.new]
+url = "https://new.example"
+
-servers = ["a", "b"]
+servers = ["a", "b", "new"]
"#,
    );
}

#[test]
fn toml_changes_in_place() {
    check(
        "switchboard.toml",
        TOML,
        replace(with(stdio("a", "npx -y other"), "K", "v")),
        r#"
-args = ["-y", "a"]
+args = ["-y", "other"]
+env = { K = "v" }
"#,
    );
    check(
        "switchboard.toml",
        TOML,
        replace(with(http("b", "https://b.example/v2"), "authorization", "${TOKEN}")),
        r#"
-url = "https://b.example/mcp"
+url = "https://b.example/v2"
-Authorization = "Bearer ${B}" # secret
+Authorization = "${TOKEN}" # secret
"#,
    );
    check(
        "switchboard.toml",
        TOML,
        remove("b"),
        r#"
-# about b
-[servers.b]
-url = "https://b.example/mcp"
-
-[servers.b.headers]
-Authorization = "Bearer ${B}" # secret
-
-servers = ["a", "b"]
+servers = ["a"]
-  "b",
"#,
    );
    check("switchboard.toml", TOML, enable("b", false), "+enabled = false");
}

#[test]
fn removal_takes_assignments_and_comments_along() {
    check(
        "switchboard.toml",
        TOML,
        remove("a"),
        r#"
-# about a
-[servers.a] # the first
-command = "npx"   # the command
-args = ["-y", "a"]
-# cwd = "/tmp"
-
-servers = ["a", "b"]
+servers = ["b"]
-  "a", # first
-servers = ["a"]
-
-[agents.qa.own.a]
-command = "other"
+servers = []
"#,
    );
}

#[test]
fn toml_in_other_styles() {
    let inline = "servers = { a = { command = \"x\" }, b = { url = \"http://b\" } } # all\n";
    check(
        "switchboard.toml",
        inline,
        add(stdio("c", "y z")),
        "
-servers = { a = { command = \"x\" }, b = { url = \"http://b\" } } # all
+servers = { a = { command = \"x\" }, b = { url = \"http://b\" }, \
         c = { command = \"y\", args = [\"z\"] } } # all
",
    );
    check(
        "switchboard.toml",
        inline,
        remove("a"),
        "
-servers = { a = { command = \"x\" }, b = { url = \"http://b\" } } # all
+servers = { b = { url = \"http://b\" } } # all
",
    );
    let dotted = "servers.a.command = 'x'\nservers.b.url = \"http://b\"\n\n[agents]\n\
                  cto = { servers = ['a'] }\n";
    check(
        "switchboard.toml",
        dotted,
        add_for(stdio("c", "y"), &["cto"]),
        "
+[servers.c]
+command = \"y\"
+
-cto = { servers = ['a'] }
+cto = { servers = ['a', \"c\"] }
",
    );
    check("switchboard.toml", dotted, enable("a", false), "+servers.a.enabled = false");
    check(
        "switchboard.toml",
        dotted,
        remove("a"),
        "
-servers.a.command = 'x'
-cto = { servers = ['a'] }
+cto = { servers = [] }
",
    );
    let table = "[servers]\n# about a\na = { command = \"x\" } # a\n'b c' = { command = \"y\" }\n";
    check("switchboard.toml", table, add(stdio("d", "z")), "+d = { command = \"z\" }");
    check("switchboard.toml", table, remove("a"), "-# about a\n-a = { command = \"x\" } # a");
    check("switchboard.toml", table, remove("b c"), "-'b c' = { command = \"y\" }");
    let tall = "[servers.a]\ncommand = \"x\"\nargs = [\n  # why\n  \"one\", # two\n]\n\
                env = {\n  A = \"1\", # a\n  B = \"2\",\n}\n";
    let spec = with(with(stdio("a", "x one"), "A", "1"), "C", "3");
    check("switchboard.toml", tall, replace(spec), "-  B = \"2\",\n+  C = \"3\",");
}

#[test]
fn line_ends_and_marks_stay() {
    let windows = TOML.replace('\n', "\r\n");
    let bare = format!("\u{FEFF}{}", windows.trim_end());
    let edited = check("switchboard.toml", &bare, enable("b", false), "+enabled = false\\r");
    assert!(edited.after.starts_with("\u{FEFF}# top"));
    let yaml = "servers:\r\n  a: {command: x}";
    check(
        "switchboard.yaml",
        yaml,
        add(stdio("b", "z")),
        "-  a: {command: x}¬\n+  a: {command: x}\\r\n+  b:\\r\n+    command: z¬",
    );
}

#[test]
fn new_files() {
    let check = |path: &str, expected: &str| {
        let after = apply(Path::new(path), "", Dialect::Native, &add(stdio("a", "x"))).unwrap();
        assert_eq!(after, expected);
    };
    check("f.toml", "[servers.a]\ncommand = \"x\"\n");
    check("f.yaml", "servers:\n  a:\n    command: x\n");
    let json = "{\n  \"servers\": {\n    \"a\": {\n      \"command\": \"x\"\n    }\n  }\n}\n";
    check("f.json", json);
}

#[test]
fn what_one_agent_has() {
    let entry = "+[agents.cto.own.a]\n+command = \"x\"\n+";
    check("switchboard.toml", TOML, add_own(stdio("a", "x"), "cto"), entry);
    let entry = "+\n+[agents.new.own.b]\n+command = \"x\"";
    check("switchboard.toml", TOML, add_own(stdio("b", "x"), "new"), entry);
    let inline = "[agents.cto]\nown.a = { command = \"x\" }\n";
    let expected = "+own.b = { command = \"z\" }";
    check("switchboard.toml", inline, add_own(stdio("b", "z"), "cto"), expected);
    // The same name may be everybody's as well.
    check("switchboard.toml", inline, add(stdio("a", "z")), "+\n+[servers.a]\n+command = \"z\"");
    check(
        "switchboard.yaml",
        "agents:\n  cto: {}\n",
        add_own(stdio("a", "x"), "cto"),
        "-  cto: {}\n+  cto:\n+    own:\n+      a:\n+        command: x",
    );
}
