//! Texts that parsers get wrong, hang on or die of. A set of our own, so that it is always run.

pub mod headers;
mod large;
mod messages;
mod public;
mod values;

pub use self::large::{large, many, quadratic};
pub use self::messages::{bulky, bytes};
pub use self::public::{public_strings, public_values};
pub use self::values::{STRINGS, VALUES};

/// A hostile text.
#[derive(Clone, Debug)]
pub struct Input {
    /// What is hostile about it.
    pub name: String,
    /// The text, which may not be one.
    pub bytes: Vec<u8>,
}

impl Input {
    fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into() }
    }
}

/// Every small hostile text.
pub fn small() -> Vec<Input> {
    let mut inputs: Vec<Input> =
        TEXTS.iter().map(|(name, text)| Input::new(*name, *text)).collect();
    inputs.extend(BYTES.iter().map(|(name, bytes)| Input::new(*name, *bytes)));
    inputs.extend(encodings());
    inputs.extend(keys());
    inputs.extend(numbers());
    inputs
}

const TEXTS: &[(&str, &str)] = &[
    ("empty", ""),
    ("a space", " "),
    ("line ends", "\r\n\r\n\n\r"),
    ("a comma", ","),
    ("a bracket", "["),
    ("a brace", "{"),
    ("the other brace", "}"),
    ("a quote", "\""),
    ("a colon", ":"),
    ("an equals sign", "="),
    ("null", "null"),
    ("a number", "1"),
    ("a text", "\"x\""),
    ("a list", "[]"),
    ("a list of lists", "[[[]]]"),
    ("an unclosed comment", "/* {"),
    ("an unclosed text", "{\"servers\": \"x"),
    ("an escape at the end", "{\"a\": \"\\"),
    ("half an escape", "{\"a\": \"\\u12"),
    ("a lone high surrogate", r#"{"servers": {"\ud800": {"command": "\ud800"}}}"#),
    ("a lone low surrogate", r#"{"mcpServers": {"\udc00x": {"command": "x\udfff"}}}"#),
    ("a surrogate and no other", r#"{"mcpServers": {"a": {"command": "\ud800A"}}}"#),
    (
        "NUL escapes",
        r#"{"servers": {"a\u0000b": {"command": "\u0000", "env": {"\u0000": "\u0000"}}}}"#,
    ),
    (
        "the same key thrice",
        r#"{"servers": {"a": 1, "a": {"command": "x"}, "a": 2}, "servers": []}"#,
    ),
    ("the same table twice", "[servers.a]\ncommand = 'x'\n[servers.a]\nurl = 'y'\n"),
    ("the same key twice in YAML", "servers: {a: 1}\nservers: {b: 2}\n"),
    ("a table that was a value", "servers = 1\n[servers.a]\ncommand = 'x'\n"),
    ("a list that was a table", "[servers]\n[[servers]]\n[policy.x]\n[[policy]]\n"),
    ("dates", "servers = 1979-05-27T07:32:00Z\n[hub]\nlisten = 07:32:00\n"),
    ("an alias to itself", "a: &a [*a]\nservers: *a\n"),
    ("an alias to a parent", "servers: &s\n  a:\n    env: *s\n"),
    ("an alias to nothing", "servers: *nowhere\n"),
    ("a merge with itself", "servers: &s\n  <<: *s\n"),
    ("a merge with a text", "servers:\n  <<: text\n  a: {<<: [1, {command: x}]}\n"),
    ("an anchor on a key", "&a servers: {*a : 1}\n"),
    ("several documents", "servers: {}\n---\nservers: {}\n...\n---\n"),
    ("directives", "%YAML 9.9\n%TAG ! tag:x,2000:\n---\nservers: !x {}\n"),
    ("tags", "servers: !!set {a, b}\nhub: !!binary aGk=\nagents: !!python/object:os.system [x]\n"),
    ("a wrong tag", "servers: !!map text\npolicy: !!int x\n"),
    ("a complex key", "? [a, b]\n: c\n? {d: e}\n: f\n"),
    ("tabs as indentation", "servers:\n\ta:\n\t\tcommand: x\n"),
    ("block scalars", "servers: |+9\n  x\n\n\nhub: >-\n y\n"),
    ("YAML without spaces", "servers:a:command:x"),
    ("a question mark", "?"),
    ("a dash", "-"),
    ("an ampersand", "&"),
    ("an exclamation mark", "!"),
    ("a percent sign", "%"),
    ("a backquote", "`"),
    (
        "variables that are none",
        r#"{"servers": {"a": {"command": "${", "args": ["${}", "${:-}", "$", "$$", "${{", "}}", "${a:-${b}}", "$${", "{env:", "${env:}", "${input: }", "${{ secrets. }}"]}}}"#,
    ),
    (
        "a URL that is none",
        r#"{"servers": {"a": {"url": "http://"}, "b": {"url": "://"}, "c": {"url": "http://[::1"}, "d": {"url": "http://${A}:${B}@${C}:${D}/?${E}#${F}"}}}"#,
    ),
    (
        "a command that is none",
        r#"{"servers": {"a": {"command": "'"}, "b": {"command": "\\"}, "c": {"command": "''"}, "d": {"command": "\" \""}, "e": {"command": "a \\"}}}"#,
    ),
    (
        "globs that are none",
        r#"{"servers": {"a": {"command": "x", "tools": {"allow": ["[", "{a", "**", "[z-a]", "\\"]}}}, "policy": [{"tool": "{", "action": "deny"}]}"#,
    ),
    ("right to left", "{\"servers\": {\"\u{202e}moc\": {\"command\": \"\u{2066}x\u{2069}\"}}}"),
];

const BYTES: &[(&str, &[u8])] = &[
    ("NUL", b"\0"),
    ("NULs", &[0; 64]),
    ("a byte order mark", b"\xEF\xBB\xBF"),
    ("two byte order marks", b"\xEF\xBB\xBF\xEF\xBB\xBF{}"),
    ("half a byte order mark", b"\xEF\xBB"),
    ("UTF-16, nothing else", b"\xFF\xFE"),
    ("UTF-32's mark", b"\xFF\xFE\0\0{\0\0\0"),
    ("Latin-1", b"servers:\n  caf\xE9: {command: x}\n"),
    ("a surrogate in UTF-8", b"{\"servers\": {\"a\": {\"command\": \"\xED\xA0\x80\"}}}"),
    ("overlong", b"{\"a\": \"\xC0\xAF\xE0\x80\xAF\"}"),
    ("beyond Unicode", b"[\"\xF4\x90\x80\x80\"]"),
    ("cut within a character", b"{\"servers\": {\"\xF0\x9F\x98"),
    ("every byte", &ALL_BYTES),
];

const ALL_BYTES: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut at = 0;
    while at < 256 {
        bytes[at] = at as u8;
        at += 1;
    }
    bytes
};

const VALID: &str = "{\"servers\": {\"a\": {\"command\": \"x\"}}}";

fn encodings() -> Vec<Input> {
    let wide = |to: fn(u16) -> [u8; 2], mark: &[u8]| -> Vec<u8> {
        mark.iter().copied().chain(VALID.encode_utf16().flat_map(to)).collect()
    };
    let endings = |end: &str| ["servers:", "  a:", "    command: x", ""].join(end);
    vec![
        Input::new("UTF-16, little end first", wide(u16::to_le_bytes, b"\xFF\xFE")),
        Input::new("UTF-16, big end first", wide(u16::to_be_bytes, b"\xFE\xFF")),
        Input::new("UTF-16 without a mark", wide(u16::to_le_bytes, b"")),
        Input::new("a mark and a good text", format!("\u{FEFF}{VALID}")),
        Input::new("a mark in the middle", VALID.replace(": ", ":\u{FEFF} ")),
        Input::new("CRLF", endings("\r\n")),
        Input::new("CR", endings("\r")),
        Input::new("all line ends", endings("\r\n\r\u{85}\u{2028}\u{2029}\n")),
        Input::new("form feeds", endings("\u{c}\u{b}\n")),
    ]
}

/// Names that other programs trip over.
pub const KEYS: [&str; 14] = [
    "",
    " ",
    "__proto__",
    "constructor",
    "<<",
    "$schema",
    "\u{202e}gnirts",
    "zero\u{200b}width",
    "\u{feff}",
    "e\u{301}",
    "\u{1F469}\u{200D}\u{1F4BB}",
    "../../etc/passwd",
    "a\nb",
    "null",
];

fn keys() -> Vec<Input> {
    let mut inputs = Vec::new();
    for key in KEYS {
        let quoted = serde_json::Value::from(key).to_string();
        for root in ["servers", "mcpServers", "mcp", "extensions", "context_servers", "agents"] {
            let text = format!("{{\"{root}\": {{{quoted}: {{\"command\": \"x\", {quoted}: 1}}}}}}");
            inputs.push(Input::new(format!("{root} with the name {key:?}"), text));
        }
        inputs.push(Input::new(format!("the root has {key:?}"), format!("{{{quoted}: {{}}}}")));
        let table = format!("[servers.{quoted}]\ncommand = 'x'\n{quoted} = 1\n");
        inputs.push(Input::new(format!("a table named {key:?}"), table));
    }
    inputs
}

fn numbers() -> Vec<Input> {
    let numbers = [
        "1e999",
        "-1e999",
        "1e-999",
        "-0",
        "0x7fffffffffffffff",
        "99999999999999999999999999",
        "-1",
        "0.1",
        "NaN",
        "nan",
        ".inf",
        "inf",
        "1_000",
        "0o17",
        "+1",
        "01",
        "1.",
        "1e+5",
        "\"1e999\"",
        "\"-5s\"",
        "\"999999999999y\"",
        "\"18446744073709551616B\"",
        "\"9EiB\"",
    ];
    let keys = ["timeout", "call_timeout", "idle_timeout", "max_in_flight", "max_output", "env"];
    let mut inputs = Vec::new();
    for number in numbers {
        let pairs: Vec<String> = keys.iter().map(|key| format!("\"{key}\": {number}")).collect();
        let json =
            format!("{{\"servers\": {{\"a\": {{\"command\": \"x\", {}}}}}}}", pairs.join(", "));
        inputs.push(Input::new(format!("the number {number}"), json.clone()));
        inputs
            .push(Input::new(format!("{number} elsewhere"), json.replace("servers", "mcpServers")));
        let pairs: Vec<String> = keys.iter().map(|key| format!("{key} = {number}\n")).collect();
        let toml = format!("[servers.a]\ncommand = 'x'\n{}", pairs.concat());
        inputs.push(Input::new(format!("{number} in TOML"), toml));
    }
    inputs
}
