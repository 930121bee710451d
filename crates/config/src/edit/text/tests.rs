//! Single changes at awkward places.

use serde_json::json;

use super::*;

fn check(format: Format, text: &str, op: Op, expected: &str) {
    assert_eq!(change(text, format, &[op]), Ok(expected.to_owned()), "{text}");
}

fn refused(format: Format, text: &str, op: Op) {
    assert!(change(text, format, std::slice::from_ref(&op)).is_err(), "{op:?}\n{text}");
}

#[test]
fn yaml_scalars() {
    let yaml = |text: &str, op, expected: &str| check(Format::Yaml, text, op, expected);
    let a = |value| Op::Set(trail(["a"]), value);
    yaml("a: 'x' # c\n", a(json!("y z")), "a: y z # c\n");
    yaml("a: \"q\\\"\"\nb: 1\n", a(json!(true)), "a: true\nb: 1\n");
    yaml("a: |\n  t\n  u\n\nb: 1\n", a(json!("v")), "a: v\n\nb: 1\n");
    yaml("a:\n  t\n  u\nb: 1\n", a(json!("v")), "a: v\nb: 1\n");
    yaml("a: &x 'it''s' # c\n", a(json!("v")), "a: v # c\n");
}

#[test]
fn yaml_values() {
    let yaml = |text: &str, op, expected: &str| check(Format::Yaml, text, op, expected);
    let a = || trail(["a"]);
    yaml("x: &x 1\na: *x # c\n", Op::Set(a(), json!(2)), "x: &x 1\na: 2 # c\n");
    yaml("a: # c\nb: 1\n", Op::Set(a(), json!({"k": 1})), "a: # c\n  k: 1\nb: 1\n");
    yaml("a: [1] # c\n", Op::Set(a(), json!({"k": 1})), "a: # c\n  k: 1\n");
    yaml("a:\n  k: 1 # c\nb: 1\n", Op::Set(a(), json!([])), "a: []\nb: 1\n");
    yaml(
        "a: {k: [x, 'y'], } # c\n",
        Op::Push(trail(["a", "k"]), json!("z")),
        "a: {k: [x, 'y', z], } # c\n",
    );
    yaml("a: {\n  k: 1, # c\n  l: 2\n}\n", Op::Remove(trail(["a", "l"])), "a: {\n  k: 1 # c\n}\n");
    yaml(
        "a:\n- k: 1\n  l: 2\n",
        Op::Remove(vec!["a".into(), 0.into(), "l".into()]),
        "a:\n- k: 1\n",
    );
    yaml("---\na: 1\n...\n", Op::Set(trail(["b"]), json!(2)), "---\na: 1\nb: 2\n...\n");
    refused(
        Format::Yaml,
        "a:\n- k: 1\n  l: 2\n",
        Op::Remove(vec!["a".into(), 0.into(), "k".into()]),
    );
    refused(Format::Yaml, "x: &x {k: 1}\na:\n  <<: *x\n", Op::Set(trail(["a", "k"]), json!(2)));
    refused(Format::Yaml, "? a\n: 1\n", Op::Set(a(), json!(2)));
}

#[test]
fn toml() {
    let toml = |text: &str, op, expected: &str| check(Format::Toml, text, op, expected);
    let ab = || trail(["a", "b"]);
    toml("a = { b = 1 } # c", Op::Set(ab(), json!(2)), "a = { b = 2 } # c");
    toml("[a]\nb = '''\nx = [\n''' # c\n", Op::Set(ab(), json!(2)), "[a]\nb = 2 # c\n");
    toml("[a] # c\n[c]\n", Op::Set(ab(), json!(2)), "[a] # c\nb = 2\n[c]\n");
    toml("[a.c]\nx = 1\n", Op::Set(ab(), json!(2)), "[a.c]\nx = 1\n\n[a]\nb = 2\n");
    toml("a.b.c = 1\na.d = 2\n", Op::Remove(ab()), "a.d = 2\n");
    toml("[a.\"b\".c]\n[a.b]\n[x]\n", Op::Remove(ab()), "[x]\n");
    toml("a = [] # c\n", Op::Push(trail(["a"]), json!({"k": 1})), "a = [{ k = 1 }] # c\n");
    toml(
        "[[a]]\nk = 1\n\n[b]\n",
        Op::Push(trail(["a"]), json!({"k": 2})),
        "[[a]]\nk = 1\n\n[[a]]\nk = 2\n\n[b]\n",
    );
    toml("# c\n\na = 1\n", Op::Remove(trail(["a"])), "# c\n");
    refused(Format::Toml, "[a.b]\n", Op::Set(ab(), json!(2)));
}

#[test]
fn json() {
    let json = |text: &str, op, expected: &str| check(Format::Json, text, op, expected);
    let ab = || trail(["a", "b"]);
    json("", Op::Set(ab(), json!(1)), "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n");
    json("// c\n", Op::Set(trail(["a"]), json!(1)), "// c\n\n{\n  \"a\": 1\n}\n");
    json("{\"a\":null}", Op::Set(ab(), json!(1)), "{\"a\":{\"b\": 1}}");
    json("{\n  // c\n}", Op::Set(trail(["a"]), json!(1)), "{\n  // c\n\n  \"a\": 1\n}");
    json("{\"a\":[1 , 2]}", Op::Remove(vec!["a".into(), 0.into()]), "{\"a\":[2]}");
    json("{\"a\":[1 , 2]}", Op::Remove(vec!["a".into(), 1.into()]), "{\"a\":[1]}");
    json(
        "{\n  \"a\": 1, /* c */\n  \"b\": 2\n}",
        Op::Remove(trail(["b"])),
        "{\n  \"a\": 1 /* c */\n}",
    );
    json("{\n  \"a\": 1,\n\n  \"b\": 2,\n}", Op::Remove(trail(["a"])), "{\n  \"b\": 2,\n}");
    refused(Format::Json, "{\"a\": 1}", Op::Set(ab(), json!(1)));
    refused(Format::Json, "{\"a\": 1}", Op::Push(trail(["a"]), json!(1)));
}

#[test]
fn long_values_take_several_lines() {
    let words: Vec<String> = (0..12).map(|n| format!("--option-{n}")).collect();
    let server = json!({ "args": words, "env": { "A": "x".repeat(90) } });
    let section: String = std::iter::once("[s.a]\nargs = [\n".to_owned())
        .chain(words.iter().map(|word| format!("  \"{word}\",\n")))
        .chain([format!("]\n\n[s.a.env]\nA = \"{}\"\n", "x".repeat(90))])
        .collect();
    check(Format::Toml, "", Op::Set(trail(["s", "a"]), server.clone()), &section);
    let block: String = std::iter::once("s:\n  a:\n    args:\n".to_owned())
        .chain(words.iter().map(|word| format!("      - \"{word}\"\n")))
        .chain([format!("    env:\n      A: {}\n", "x".repeat(90))])
        .collect();
    check(Format::Yaml, "", Op::Set(trail(["s", "a"]), server), &block);
}
