//! Each rule as data: a small tree, and the violations it must give, as `FILE:LINE [RULE] WHAT`.

use super::check as violations;
use super::tree::Tree;

fn check(files: &[(&str, &str)], expected: &[&str]) {
    let found = violations(&Tree::of(files));
    let found: Vec<_> = found
        .iter()
        .map(|violation| {
            format!("{}:{} [{}] {}", violation.file, violation.line, violation.rule, violation.what)
        })
        .collect();
    assert_eq!(found, expected, "in {files:?}");
}

fn lines(count: usize) -> String {
    format!("//! x\n{}", "\n".repeat(count - 1))
}

#[test]
fn a_rust_file_opens_with_what_it_owns() {
    let missing = "the file does not begin with `//!`";
    check(&[("a.rs", "//! Owns a.\n")], &[]);
    check(&[("build.rs", "fn main() {}\n")], &[]);
    check(&[("a.rs", "fn a() {}\n")], &[&format!("a.rs:1 [opening] {missing}")]);
    check(&[("a.rs", "\n//! Owns a.\n")], &[&format!("a.rs:1 [opening] {missing}")]);
    check(&[("a.rs", "")], &[&format!("a.rs:1 [opening] {missing}")]);
}

#[test]
fn modules_are_files_beside_their_directories() {
    check(
        &[("a/mod.rs", "//! x\n")],
        &["a/mod.rs:1 [mod-rs] a `mod.rs` tells nothing in a list of open files"],
    );
}

#[test]
fn unfinished_work_is_found_where_it_stands() {
    let mark = |file: &str, text: &str, shown: &str| {
        let expected = format!("{file}:2 [unfinished] `{shown}` marks unfinished work");
        check(&[(file, &format!("//! x\n{text}\n"))], &[&expected]);
    };
    mark("a.rs", concat!("// TO", "DO: later"), concat!("TO", "DO"));
    mark("a.rs", concat!("let a = 1; // FIX", "ME"), concat!("FIX", "ME"));
    mark("ui/a.tsx", concat!("// (HA", "CK)"), concat!("HA", "CK"));
    mark(".ci/run", concat!("# XX", "X"), concat!("XX", "X"));
    mark("a.rs", concat!("    todo", "!()"), concat!("todo", "!("));
    mark("a.rs", concat!("    unimplemented", "!(\"\")"), concat!("unimplemented", "!("));
}

#[test]
fn words_that_only_contain_a_mark_are_no_marks() {
    for text in
        [concat!("// key-XX", "XX"), concat!("const TO", "DOS: u8 = 1;"), concat!("ghp_XX", "X")]
    {
        check(&[("a.rs", &format!("//! x\n{text}\n"))], &[]);
    }
    check(&[("a.md", concat!("TO", "DO in prose\n"))], &[]);
}

#[test]
fn no_test_is_ignored() {
    let ignored = "a.rs:3 [ignored] an ignored test proves nothing";
    check(&[("a.rs", concat!("//! x\n#[test]\n#[", "ignore]\n"))], &[ignored]);
    check(&[("a.rs", concat!("//! x\n#[test]\n#[", "ignore = \"slow\"]\n"))], &[ignored]);
}

#[test]
fn files_are_short() {
    check(&[("a.rs", &lines(400))], &[]);
    check(&[("a.rs", &lines(401))], &["a.rs:401 [length] 401 lines, 400 are allowed"]);
}

#[test]
fn exceptions_only_shrink() {
    let case = |length: usize, list: &str, expected: &[&str]| {
        let expected: Vec<_> =
            expected.iter().map(|rest| format!("xtask/tidy-exceptions.txt:{rest}")).collect();
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        check(&[("a.rs", &lines(length)), ("xtask/tidy-exceptions.txt", list)], &expected);
    };
    case(500, "# why\na.rs 500 # a table\n", &[]);
    case(499, "# why\na.rs 500\n", &["2 [length-exception] `a.rs` has only 499 lines"]);
    case(501, "a.rs 500\n", &["1 [length-exception] `a.rs` has 501 lines, its ceiling is 500"]);
    case(400, "a.rs 500\n", &["1 [length-exception] `a.rs` is short now (400 lines)"]);
    case(500, "a.rs 500\nb.rs 500\n", &["2 [length-exception] `b.rs` does not exist"]);
    case(500, "a.rs 500\na.rs 500\n", &["2 [length-exception] `a.rs` is listed twice"]);
    case(10, "a.rs many\n", &["1 [length-exception] `a.rs many` is not a path and a number"]);
}

fn member(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\n[lints]\nworkspace = true\n{rest}")
}

fn star(name: &str, section: &str, dependency: &str, refused: Option<&str>) {
    let manifest = member(name, &format!("[{section}]\n{dependency}.workspace = true\n"));
    let expected = refused.map(|reason| {
        format!("crates/x/Cargo.toml:6 [star] `{name}` depends on `{dependency}`, but {reason}")
    });
    let expected: Vec<_> = expected.iter().map(String::as_str).collect();
    check(&[("crates/x/Cargo.toml", &manifest)], &expected);
}

#[test]
fn crates_know_only_what_the_star_allows() {
    let (code, tests) = ("dependencies", "dev-dependencies");
    let model_only = Some("`switchboard-config` may know only switchboard-model");
    let nothing = Some("`switchboard-model` knows no other crate of the workspace");
    star("switchboard-config", code, "switchboard-model", None);
    star("switchboard", code, "switchboard-store", None);
    star("switchboard-model", tests, "switchboard-testkit", None);
    star("switchboard-model", code, "switchboard-wire", nothing);
    star("switchboard-config", code, "switchboard-testkit", model_only);
    star("switchboard-config", tests, "switchboard-core", model_only);
}

#[test]
fn outside_crates_stay_in_their_rooms() {
    let (code, tests) = ("dependencies", "dev-dependencies");
    let tokio = Some("`tokio` stays out of switchboard-model, switchboard-wire");
    let rmcp =
        Some("`rmcp` lives only in switchboard-upstream, switchboard-testkit, switchboard-fixture");
    let sqlx = Some("`sqlx` lives only in switchboard-store");
    star("switchboard-upstream", code, "rmcp", None);
    star("switchboard-wire", tests, "rmcp", None);
    star("switchboard-wire", tests, "tokio", None);
    star("switchboard-model", code, "tokiozzz", None);
    star("switchboard-model", code, "tokio-util", tokio);
    star("switchboard-wire", "target.'cfg(unix)'.dependencies", "tokio", tokio);
    star("switchboard-rest", "build-dependencies", "sqlx", sqlx);
    star("switchboard-mcp", code, "rmcp", rmcp);
}

#[test]
fn a_renamed_dependency_is_still_that_dependency() {
    let root = "[workspace.dependencies]\nlater = { package = \"sqlx\", version = \"1\" }\n";
    let member = member("switchboard-core", "[dependencies]\nlater.workspace = true\n");
    let expected = "crates/core/Cargo.toml:6 [star] `switchboard-core` depends on `sqlx`, but `sqlx` lives only in switchboard-store";
    check(&[("Cargo.toml", root), ("crates/core/Cargo.toml", &member)], &[expected]);
}

#[test]
fn members_take_lints_and_versions_from_the_workspace() {
    let lints = "xtask/Cargo.toml:1 [lints] the lints of the workspace do not apply";
    check(&[("xtask/Cargo.toml", "[package]\nname = \"xtask\"\n")], &[lints]);
    check(
        &[(
            "xtask/Cargo.toml",
            "[package]\nname = \"xtask\"\n[lints.rust]\nunsafe_code = \"deny\"\n",
        )],
        &[lints],
    );

    let version = "xtask/Cargo.toml:6 [workspace-dependency] `url` does not take its version from the workspace";
    let inherited = ["url.workspace = true", "url = { workspace = true, features = [\"serde\"] }"];
    let own = [
        "url = \"2\"",
        "url = { version = \"2\" }",
        "url.path = \"../url\"",
        "url = { workspace = false }",
    ];
    let with = |row: &str| member("xtask", &format!("[dependencies]\n{row}\n"));
    for row in inherited {
        check(&[("xtask/Cargo.toml", &with(row))], &[]);
    }
    for row in own {
        check(&[("xtask/Cargo.toml", &with(row))], &[version]);
    }
}

#[test]
fn every_member_has_a_place() {
    let expected =
        "crates/x/Cargo.toml:1 [star] `switchboard-x` has no place in the star of crates";
    check(&[("crates/x/Cargo.toml", &member("switchboard-x", ""))], &[expected]);
    check(&[("fuzz/Cargo.toml", "[package]\nname = \"fuzz\"\n[dependencies]\nurl = \"2\"\n")], &[]);
}

#[test]
fn decisions_are_numbered_without_gaps() {
    let case = |names: &[&str], expected: &[&str]| {
        let paths: Vec<_> = names.iter().map(|name| format!("docs/decisions/{name}")).collect();
        let files: Vec<_> = paths.iter().map(|path| (path.as_str(), "")).collect();
        let expected: Vec<_> =
            expected.iter().map(|rest| format!("docs/decisions/{rest}")).collect();
        check(&files, &expected.iter().map(String::as_str).collect::<Vec<_>>());
    };
    case(&["0001-one.md", "0002-number-2.md", "README.md"], &[]);
    case(&["0002-two.md"], &["0002-two.md:1 [decisions] decision 0002 stands where 0001 should"]);
    case(
        &["0001-one.md", "0003-three.md", "0004-four.md"],
        &["0003-three.md:1 [decisions] decision 0003 stands where 0002 should"],
    );
    case(
        &["0001-one.md", "0001-uno.md"],
        &["0001-uno.md:1 [decisions] decision 0001 stands where 0002 should"],
    );
    for name in ["1-one.md", "0001.md", "0001-One.md", "0001-one.txt", "0001--one.md", "one.md"] {
        case(
            &[name],
            &[&format!("{name}:1 [decisions] `{name}` is not the name of a decision record")],
        );
    }
}

#[test]
fn links_lead_somewhere() {
    let page = |text: &str, expected: &[&str]| {
        let files = [
            ("docs/a.md", text),
            ("README.md", "# The title\n## A `b`, c\n## A `b`, c\n"),
            ("crates/x/a.rs", "//! x\n"),
        ];
        let expected: Vec<_> = expected.iter().map(|rest| format!("docs/a.md:{rest}")).collect();
        check(&files, &expected.iter().map(String::as_str).collect::<Vec<_>>());
    };
    for text in [
        "[a](../README.md) and [b](a.md \"title\"), ![c](<../crates/x/a.rs>)",
        "[a](/README.md) [b](../crates/) [c](..)",
        "[a](https://example.com/x.md) [b](mailto:a@example.com)",
        "[a](../README.md#the-title) [b](../README.md#a-b-c) [c](../README.md#a-b-c-1)",
        "# Here\n[a](#here)",
        "[a]: ../README.md\n[^1]: a footnote.md",
        "`[a](gone.md)` in code",
        "```md\n[a](gone.md)\n```",
        "~~~\n```\n[a](gone.md)\n~~~",
    ] {
        page(text, &[]);
    }
    page("[a](gone.md)", &["1 [links] `gone.md` leads to no file of the repository"]);
    page("\n[a]: gone.md", &["2 [links] `gone.md` leads to no file of the repository"]);
    page(
        "[a](../../README.md)",
        &["1 [links] `../../README.md` leads to no file of the repository"],
    );
    page(
        "[a](README.md) [b](gone/)",
        &[
            "1 [links] `README.md` leads to no file of the repository",
            "1 [links] `gone/` leads to no file of the repository",
        ],
    );
    page(
        "[a](../README.md#nowhere)",
        &["1 [links] `../README.md#nowhere` leads to no heading of README.md"],
    );
    page(
        "```\n```\n`code` [a](gone.md)",
        &["3 [links] `gone.md` leads to no file of the repository"],
    );
}
