//! The three formats make the same tree, and broken texts are told where they break.

use super::*;

fn shown(node: &Node) -> String {
    match &node.value {
        Value::Null => "null".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.clone(),
        Value::String(text) => format!("{text:?}"),
        Value::Date => "date".into(),
        Value::Twice => "twice".into(),
        Value::List(items) => {
            format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(" "))
        }
        Value::Map(fields) => {
            let mut fields: Vec<_> =
                fields.iter().map(|f| format!("{}:{}", f.key, shown(&f.value))).collect();
            fields.sort();
            format!("{{{}}}", fields.join(" "))
        }
    }
}

fn check(format: Format, text: &str, expected: &str) {
    match parse(text, format) {
        Ok(tree) => assert_eq!(shown(&tree.root), expected, "{text}"),
        Err(errors) => {
            let told: Vec<_> =
                errors.iter().map(|e| format!("{}@{}", e.code, e.span.start)).collect();
            assert_eq!(told.join(" "), expected, "{text}: {errors:?}");
        }
    }
}

#[test]
fn the_same_tree() {
    let expected = r#"{a:"x" b:[1 true] c:{d:null e:"ü"}}"#;
    check(
        Format::Json,
        r#"{"a":"x", /* c */ "b":[1,true,], "c":{"d":null,"e":"ü"}} // end"#,
        expected,
    );
    check(Format::Yaml, "a: x\nb: [1, true]\nc:\n  d:\n  e: 'ü'\n", expected);
    check(
        Format::Toml,
        "a = 'x'\nb = [1, true]\n[c]\ne = \"ü\"\n",
        r#"{a:"x" b:[1 true] c:{e:"ü"}}"#,
    );
    for format in [Format::Json, Format::Yaml, Format::Toml] {
        check(format, "", "{}");
    }
}

#[test]
fn yaml_scalars_aliases_and_merges() {
    check(
        Format::Yaml,
        "a: '1'\nb: !!str 2\nc: 1.5\nd: 1.2.3\ne: 0x1F\nf: ~\ng: .\n",
        r#"{a:"1" b:"2" c:1.5 d:"1.2.3" e:0x1F f:null g:"."}"#,
    );
    check(
        Format::Yaml,
        "x: &x {a: 1}\ny: *x\nz: {<<: *x, b: 2}\n",
        "{x:{a:1} y:{a:1} z:{a:1 b:2}}",
    );
    check(Format::Yaml, "x: &x {a: 1}\nz: {<<: [*x], a: 2}\n", "{x:{a:1} z:{a:2}}");
    check(Format::Yaml, "1: a\ntrue: b\n", r#"{1:"a" true:"b"}"#);
}

#[test]
fn broken_texts() {
    check(Format::Json, r#"{"a": }"#, "syntax@6");
    check(Format::Json, r#"{"a": 'x'}"#, "syntax@6");
    check(Format::Yaml, "a: [1\n", "syntax@6");
    check(Format::Yaml, "a: 1\n---\nb: 2\n", "syntax@5");
    check(Format::Yaml, "[a]: 1\n", "syntax@0");
    check(Format::Toml, "a = \nb = 2\nc = ]", "syntax@4 syntax@15");
    check(Format::Toml, "a = 1\na = 2\n", "{a:1}");
    check(Format::Toml, "[s.a]\nx = 1\n[s.a]\ny = 1\n[s.b]\nz = 1\n", "{s:{a:twice b:{z:1}}}");
    check(Format::Toml, "[s.'a.b']\nx = 1\n[ s . \"a.b\" ] # again\ny = 1\n", "{s:{a.b:twice}}");
}

#[test]
fn depth_and_bombs_are_refused() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let text = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        for format in [Format::Json, Format::Yaml] {
            assert!(parse(&text, format).is_err(), "{format:?} {open}");
        }
    }
    let deep = format!("a = {}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(parse(&deep, Format::Toml).is_err());
    let deep = format!("{}x = 1", "a.".repeat(10_000));
    assert!(parse(&deep, Format::Toml).is_err());

    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..9 {
        let refs = vec![format!("*a{}", i - 1); 10].join(", ");
        bomb.push_str(&format!("a{i}: &a{i} [{refs}]\n"));
    }
    assert_eq!(parse(&bomb, Format::Yaml).err().unwrap()[0].code, Code::TooDeep);
}
