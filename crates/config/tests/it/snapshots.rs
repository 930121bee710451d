//! What a person sees of every kind of problem.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use switchboard_config::parse::{self, Context};
use switchboard_config::{Loader, Selection, check, file};
use switchboard_model::{Code, Problem};
use switchboard_testkit::{ManualClock, Scratch};

use crate::support::{read, render_all};

/// A file that has the problem: its code, the file's name, its text.
const CASES: &[(Code, &str, &str)] = &[
    (Code::Syntax, "switchboard.toml", "[servers.github\ncommand = \"npx\"\n"),
    (
        Code::Syntax,
        "mcp-servers.json",
        "{\n  \"mcpServers\": {\n    \"github\": { \"command\": npx }\n  }\n}\n",
    ),
    (Code::Syntax, "aicib.config.yaml", "integrations:\n  servers: [github\nagents: {}\n"),
    (
        Code::TooDeep,
        "switchboard.yaml",
        "a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n\
         c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\n\
         e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]\n",
    ),
    (Code::UnknownDialect, "notes.json", "{ \"shopping\": [\"milk\"] }\n"),
    (
        Code::UnknownKey,
        "switchboard.toml",
        "[servers.github]\ncomand = \"npx\"\nurl = \"https://example.com/mcp\"\n\n[hub]\ncolour = \"red\"\n",
    ),
    (
        Code::UnknownKey,
        "external-mcps.json",
        "{\n  \"posthog\": { \"command\": \"npx\", \"timout\": 15000 }\n}\n",
    ),
    (
        Code::IgnoredKey,
        "external-mcps.json",
        "{\n  \"posthog\": { \"command\": \"npx\", \"required\": true }\n}\n",
    ),
    (
        Code::IgnoredKey,
        "switchboard.toml",
        "[servers.sentry]\nurl = \"https://mcp.sentry.dev/mcp\"\nenv = { A = \"b\" }\n",
    ),
    (Code::WrongType, "switchboard.toml", "[servers.github]\ncommand = \"npx\"\nargs = \"-y\"\n"),
    (
        Code::BadValue,
        "switchboard.toml",
        "[servers.github]\ncommand = \"npx\"\ntimeout = \"soon\"\nstart = \"lasy\"\n",
    ),
    (Code::MissingKey, "switchboard.toml", "[[policy]]\ntool = \"delete_*\"\n"),
    (
        Code::MissingKey,
        "aicib.config.yaml",
        "integrations:\n  servers:\n    github: { command: npx }\n",
    ),
    (
        Code::DuplicateName,
        "mcp-servers.json",
        "{ \"mcpServers\": {\n  \"github\": { \"command\": \"npx\" },\n  \"github\": { \"command\": \"uvx\" }\n} }\n",
    ),
    (
        Code::DuplicateName,
        "switchboard.toml",
        "[servers.github]\ncommand = \"npx\"\n\n[servers.github]\ncommand = \"uvx\"\n",
    ),
    (Code::BadName, "switchboard.toml", "[servers.\"git\\u200Bhub\"]\ncommand = \"npx\"\n"),
    (Code::BadName, "switchboard.toml", "[agents.\"../cto\"]\nservers = []\n"),
    (Code::ReservedName, "switchboard.toml", "[servers.switchboard]\ncommand = \"npx\"\n"),
    (
        Code::UnknownServer,
        "switchboard.toml",
        "[servers.filesystem]\ncommand = \"npx\"\n\n[agents.cto]\nservers = [\"filesytem\", \"nothing-like-it\"]\n",
    ),
    (Code::UnknownServer, "aicib.config.yaml", "integrations:\n  per_agent:\n    cto: [githb]\n"),
    (
        Code::CommandAndUrl,
        "switchboard.toml",
        "[servers.sentry]\ncommand = \"npx\"\nurl = \"https://mcp.sentry.dev/mcp\"\n",
    ),
    (Code::NoTransport, "switchboard.toml", "[servers.sentry]\ndescription = \"Errors\"\n"),
    (
        Code::BadUrl,
        "switchboard.toml",
        "[servers.a]\nurl = \"mcp.sentry.dev/mcp\"\n\n[servers.b]\nurl = \"ftp://example.com\"\n",
    ),
    (
        Code::BadGlob,
        "switchboard.toml",
        "[servers.github]\ncommand = \"npx\"\ntools = { deny = [\"delete_[\"] }\n",
    ),
    (
        Code::BadInterpolation,
        "switchboard.toml",
        "[servers.github]\ncommand = \"npx\"\nenv = { TOKEN = \"${GITHUB TOKEN}\", OTHER = \"${OPEN\" }\n",
    ),
    (
        Code::MissingVariable,
        "switchboard.toml",
        "[servers.sentry]\nurl = \"https://mcp.sentry.dev/mcp\"\nheaders = { Authorization = \"Bearer ${SENTRY_TOKEN}\" }\n",
    ),
    (
        Code::MissingVariable,
        "external-mcps.json",
        "{ \"posthog\": { \"command\": \"npx\", \"env\": { \"KEY\": \"${POSTHOG_API_KEY}\" } } }\n",
    ),
    (
        Code::OwnEndpoint,
        ".mcp.json",
        "{ \"mcpServers\": { \"hub\": { \"type\": \"http\", \"url\": \"http://127.0.0.1:8010/mcp\" } } }\n",
    ),
    (
        Code::UnusedServer,
        "aicib.config.yaml",
        "integrations:\n  servers:\n    github: { command: npx, args: [] }\nagents:\n  cto: { enabled: false, mcp_servers: [github] }\n",
    ),
    (
        Code::Unsupported,
        ".mcp.json",
        "{ \"mcpServers\": { \"a\": { \"command\": \"x\", \"envFile\": \".env\" } } }\n",
    ),
];

/// The problems of one file, variables included.
fn told(name: &str, text: &str) -> Vec<Problem> {
    let read = read(&[(name, text)]);
    let missing = check::variables(read.desired(), &read.merged.origins, &|_| None);
    read.problems.iter().cloned().chain(missing).collect()
}

/// The problems of two files, in the second of which it is.
fn conflict() -> Vec<Problem> {
    let native = "[hub]\nlisten = \"127.0.0.1:9000\"\n\n[servers.github]\ncommand = \"npx\"\n";
    let other = "hub: { listen: \"127.0.0.1:9001\" }\nservers:\n  github: { command: uvx }\n";
    read(&[("switchboard.toml", native), ("switchboard.yaml", other)]).problems
}

/// The last of very many.
fn too_many() -> Vec<Problem> {
    let text = "[[policy]]\n".repeat(1_234);
    read(&[("switchboard.toml", &text)]).problems.pop().into_iter().collect()
}

fn not_utf8() -> Vec<Problem> {
    let bytes = b"[servers.caf\xE9]\ncommand = \"npx\"\n".to_vec();
    let wide = "{}".encode_utf16().flat_map(u16::to_le_bytes);
    let wide: Vec<u8> = b"\xFF\xFE".iter().copied().chain(wide).collect();
    let parse = |bytes| parse::bytes(Path::new("switchboard.toml"), bytes, &Context::default());
    [bytes, wide].into_iter().flat_map(|bytes| parse(bytes).problems).collect()
}

/// What is wrong with a file as a whole, which only the disk can tell.
fn on_disk(code: Code) -> Vec<Problem> {
    let scratch = Scratch::new();
    let path = scratch.path().join("switchboard.toml");
    let mut loader =
        Loader::new(Selection::Named(vec![path.clone()]), Arc::new(ManualClock::new()));
    if code != Code::UnreadableFile {
        scratch.write("switchboard.toml", "[servers.github]\ncommand = \"npx\"\n");
        loader.load();
    }
    match code {
        Code::FileTooLarge => {
            let file = File::options().write(true).open(&path).unwrap();
            file.set_len(file::MAX_BYTES + 1).unwrap();
        }
        Code::VanishedFile => fs::remove_file(&path).unwrap(),
        #[cfg(unix)]
        Code::WritableByOthers => {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        }
        _ => {}
    }
    let mut problems = loader.load().problems;
    let home = scratch.path().display().to_string();
    for problem in &mut problems {
        problem.message = problem.message.replace(&home, "/home/me");
        problem.remedy = problem.remedy.replace(&home, "/home/me");
    }
    problems
}

/// Every problem that the cases of a code have.
fn cases(code: Code) -> Vec<Problem> {
    match code {
        Code::Conflict => conflict(),
        Code::NotUtf8 => not_utf8(),
        Code::TooManyProblems => too_many(),
        Code::UnreadableFile | Code::FileTooLarge | Code::VanishedFile | Code::WritableByOthers => {
            on_disk(code)
        }
        _ => {
            let cases = CASES.iter().filter(|(of, ..)| *of == code);
            cases.flat_map(|(_, name, text)| told(name, text)).collect()
        }
    }
}

#[test]
fn every_kind_of_problem() {
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        for code in Code::ALL {
            let problems = cases(*code);
            let shown = render_all(&problems);
            assert!(problems.iter().any(|p| p.code == *code), "no case of {code}:\n{shown}");
            let others = problems.iter().filter(|p| p.code != *code).count();
            assert_eq!(others, 0, "other problems beside {code}:\n{shown}");
            insta::assert_snapshot!(code.as_str(), shown);
        }
    });
}

/// Every message is a sentence without its full stop, every remedy is one with it.
#[test]
fn every_message_reads_well() {
    for problem in Code::ALL.iter().flat_map(|code| cases(*code)) {
        let (message, remedy) = (&problem.message, &problem.remedy);
        assert!(!message.ends_with(['.', '!', ' ']), "{message}");
        assert!(remedy.ends_with(['.', '?']), "{remedy}");
        assert!(remedy.starts_with(|c: char| c.is_uppercase() || c == '`'), "{remedy}");
        assert!(!message.contains('\n') && !remedy.contains('\n'), "{message} {remedy}");
    }
}
