//! What is read, what is shown, what comes out with an environment.

use super::*;

fn check(text: &str, env: &[(&str, &str)], expected: Result<&str, &[&str]>) {
    let template = Template::parse(text).unwrap();
    let lookup = |name: &str| env.iter().find(|(k, _)| *k == name).map(|(_, v)| Secret::new(*v));
    let mut missing = Vec::new();
    let value = template.resolve(&lookup, &mut |name, _| missing.push(name.to_owned()));
    match expected {
        Ok(text) => assert_eq!((value.expose(), missing.len()), (text, 0)),
        Err(names) => assert_eq!(missing, names),
    }
    assert_eq!(Template::parse(&template.source()).unwrap(), template, "{text:?} comes back");
}

#[test]
fn values() {
    let env = &[("A", "1"), ("B_2", "two"), ("EMPTY", "")];
    check("", env, Ok(""));
    check("plain $ text $5", env, Ok("plain $ text $5"));
    check("${A}", env, Ok("1"));
    check("<${A}-${B_2}>", env, Ok("<1-two>"));
    check("${C:-three}", env, Ok("three"));
    check("${C:-}", env, Ok(""));
    check("${EMPTY:-x}", env, Ok("x"));
    check("${EMPTY}", env, Err(&["EMPTY"]));
    check("${C}${D}", env, Err(&["C", "D"]));
    check("$${A} $$${A} $$$${A} $$$", env, Ok("${A} $1 $${A} $$$"));
    check("${C:-a:-b}", env, Ok("a:-b"));
}

#[test]
fn refused_by_the_native_notation_and_text_elsewhere() {
    for (text, at) in [("x${", 1), ("${}", 0), ("${a-b}", 0), ("${1}", 0), ("é${A:-${B}}", 2)] {
        assert_eq!(Template::parse(text).unwrap_err().at(), at, "{text}");
        let plain = Template::parse_as(text, Syntax::Plain).unwrap();
        assert!(plain.source().contains("$${"), "{text} stays text: {}", plain.source());
    }
}

#[test]
fn nothing_secret_is_shown() {
    let shown = |text: &str| SecretTemplate::new(Template::parse(text).unwrap()).to_string();
    assert_eq!(shown("Bearer ${T}"), "Bearer ${T}");
    assert_eq!(shown("hunter2"), "***");
    assert_eq!(shown("a${T:-hunter2}b"), "***${T}***");
    let token = Template::parse("--token=ghp_0123456789abcdefghij").unwrap();
    assert_eq!(format!("{token} {token:?}"), "--token=*** \"--token=***\"");
}
