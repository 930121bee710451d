//! Texts whose size or shape costs more than it should: nesting, repetition, expansion.

use super::Input;

// The sizes are such that what is linear takes moments even without optimisation, and what is
// quadratic takes minutes.

/// Deep enough to end any recursion badly.
const DEEP: usize = 100_000;

/// Every large hostile text whose shape is a matter of the format alone.
pub fn large() -> Vec<Input> {
    [deep(), bombs(), long()].concat()
}

fn deep() -> Vec<Input> {
    let nest = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(DEEP), close.repeat(DEEP))
    };
    let indented: String = (0..1_500).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    vec![
        Input::new("deep lists", nest("[", "", "]")),
        Input::new("deep lists, not closed", "[".repeat(DEEP)),
        Input::new("deep maps", nest("{\"a\":", "1", "}")),
        Input::new("deep maps, not closed", "{\"a\":".repeat(DEEP)),
        Input::new("deep servers", format!("{{\"servers\": {}}}", nest("{\"a\":", "1", "}"))),
        Input::new("deep lists in TOML", format!("a = {}", nest("[", "", "]"))),
        Input::new("deep tables in TOML", format!("a = {}", nest("{a = ", "1", "}"))),
        Input::new("deep dotted key in TOML", format!("{}a = 1", "a.".repeat(DEEP))),
        Input::new("deep header in TOML", format!("[{}a]\nb = 1", "a.".repeat(DEEP))),
        Input::new("deep list header in TOML", format!("[[{}a]]\nb = 1", "a.".repeat(DEEP))),
        Input::new(
            "deep header under servers",
            format!("[servers.{}a]\ncommand = 'x'", "a.".repeat(DEEP)),
        ),
        Input::new("deep YAML lists", "- ".repeat(DEEP)),
        Input::new("deep YAML maps", format!("{indented}{}1", " ".repeat(1_500))),
        Input::new("deep YAML keys", "? ".repeat(DEEP)),
        Input::new("deep YAML flow maps", nest("{a: ", "1", "}")),
        Input::new("deep comments", "/*".repeat(DEEP)),
        Input::new("deep aliases", aliases(3_000)),
    ]
}

/// Each list holds the one before.
fn aliases(count: usize) -> String {
    let mut text = String::from("a0: &a0 []\n");
    (1..count).for_each(|n| text.push_str(&format!("a{n}: &a{n} [*a{}]\n", n - 1)));
    text
}

fn bombs() -> Vec<Input> {
    let mut laughs = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    let mut merges = String::from("a0: &a0 {k: x}\n");
    for n in 1..20 {
        let list = vec![format!("*a{}", n - 1); 10].join(", ");
        laughs.push_str(&format!("a{n}: &a{n} [{list}]\n"));
        merges.push_str(&format!("a{n}: &a{n} {{<<: [{list}], k{n}: *a{}}}\n", n - 1));
    }
    let big = "x".repeat(100_000);
    let wide = format!("big: &big \"{big}\"\nservers: [{}]\n", "*big, ".repeat(100_000));
    vec![
        Input::new("a billion laughs", laughs),
        Input::new("a billion merges", merges),
        Input::new("a long text many times", wide),
    ]
}

fn long() -> Vec<Input> {
    let line = "x".repeat(1_000_000);
    vec![
        Input::new("a line of a megabyte", line.clone()),
        Input::new("a text of a megabyte", format!("{{\"servers\": \"{line}\"}}")),
        Input::new(
            "a name of a megabyte",
            format!("{{\"servers\": {{\"{line}\": {{\"command\": \"x\"}}}}, \"{line}\": 1}}"),
        ),
        Input::new(
            "a key of a megabyte",
            format!("{{\"servers\": {{\"a\": {{\"command\": \"x\", \"{line}\": 1}}}}}}"),
        ),
        Input::new(
            "a reference of a megabyte",
            format!("{{\"defaults\": {{\"servers\": [\"{line}\"]}}}}"),
        ),
        Input::new("a command of a megabyte", one_server("command", &"a b ".repeat(50_000))),
        Input::new("a number of a megabyte", format!("{{\"a\": {}}}", "9".repeat(1_000_000))),
        Input::new("spaces of a megabyte", " ".repeat(1_000_000)),
        Input::new("a comment of a megabyte", format!("# {line}\n//{line}\n")),
    ]
}

/// Files of the dialects that are good, or bad, in very many places. Each is told by its shape.
pub fn many() -> Vec<Input> {
    let numbers = 0..10_000;
    let rows = |row: &dyn Fn(usize) -> String| -> String {
        numbers.clone().map(row).collect::<Vec<_>>().join(",")
    };
    let good = rows(&|n| format!("\"s{n}\": {{\"command\": \"x\"}}"));
    let bad = rows(&|n| format!("\"s{n}\": {{\"comand\": \"x\"}}"));
    let names = rows(&|n| format!("\"unknown-{n}\""));
    let agents = rows(&|n| format!("\"a{n}\": {{\"servers\": [\"s{n}\"]}}"));
    let rules = rows(&|_| "{\"action\": \"perhaps\"}".to_owned());
    let spacebot: String = numbers
        .clone()
        .map(|n| format!("[[defaults.mcp]]\nname = \"s{n}\"\ncommand = 'x'\n"))
        .collect();
    let continues: String =
        numbers.clone().map(|n| format!("- {{name: s{n}, command: x}}\n")).collect();
    let pairs = rows(&|n| format!("\"K{n}\": \"${{V{n}}}\""));
    vec![
        Input::new("many servers", format!("{{\"servers\": {{{good}}}}}")),
        Input::new("many servers elsewhere", format!("{{\"mcpServers\": {{{good}}}}}")),
        Input::new("many broken servers", format!("{{\"servers\": {{{bad}}}}}")),
        Input::new("many broken servers elsewhere", format!("{{\"mcpServers\": {{{bad}}}}}")),
        Input::new("many flat servers", format!("{{{good}}}")),
        Input::new(
            "many unknown references",
            format!("{{\"servers\": {{{good}}}, \"defaults\": {{\"servers\": [{names}]}}}}"),
        ),
        Input::new("many agents", format!("{{\"servers\": {{{good}}}, \"agents\": {{{agents}}}}}")),
        Input::new("many bad rules", format!("{{\"policy\": [{rules}]}}")),
        Input::new("many variables", one_server_with("env", &format!("{{{pairs}}}"))),
        Input::new("many Spacebot servers", spacebot),
        Input::new("many Continue servers", format!("mcpServers:\n{continues}")),
        Input::new(
            "many AICIB servers",
            format!("integrations:\n  servers: {{{good}}}\n  default_servers: [{names}]\n"),
        ),
    ]
}

/// Texts that are read again from every place in them, unless somebody took care.
pub fn quadratic() -> Vec<Input> {
    let mut inputs = Vec::new();
    for piece in
        ["${", "$", "{", "}", "{env:", "${{", "${env:", "'", "\\\"", "://", "?a=", "@", "$$"]
    {
        let text = piece.repeat(10_000);
        for key in ["command", "url"] {
            inputs.push(Input::new(format!("`{piece}` in {key}"), one_server(key, &text)));
        }
        let env = format!("{{\"A\": \"{text}\"}}");
        inputs.push(Input::new(format!("`{piece}` in env"), one_server_with("env", &env)));
    }
    inputs
}

/// One server of every dialect that is a map, with one text.
fn one_server(key: &str, text: &str) -> String {
    one_server_with(key, &format!("\"{text}\""))
}

fn one_server_with(key: &str, value: &str) -> String {
    let command = if matches!(key, "command" | "url") { "" } else { "\"command\": \"x\", " };
    let entry = format!("{{\"a\": {{\"type\": \"stdio\", {command}\"{key}\": {value}}}}}");
    let roots = ["servers", "mcpServers", "context_servers", "mcp_servers", "extensions", "mcp"];
    let maps: Vec<String> = roots.iter().map(|root| format!("\"{root}\": {entry}")).collect();
    format!("{{{}}}", maps.join(", "))
}
