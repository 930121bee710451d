//! A server's entry while it is read: texts with their places. Every dialect fills one in, and one
//! function makes the server of it, so that the same faults are found everywhere.

mod checks;

use std::collections::BTreeMap;
use std::ops::Range;

use switchboard_model::{
    AuditArguments, Auth, Code, HttpKind, HttpSpec, Limits, SecretTemplate, ServerName, ServerSpec,
    Standing, Start, StdioSpec, Template, TemplateError, Timing, ToolFilter, Transport,
};

use crate::decode::{Report, Spanned, Text};
use crate::expand::{self, Notation};

pub(crate) use self::checks::is_header_name;

/// A server's entry, not yet checked.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) name: Text,
    /// The entry, or its name where it has no text of its own.
    pub(crate) span: Range<usize>,
    pub(crate) kind: Option<Spanned<Kind>>,
    pub(crate) command: Option<Text>,
    pub(crate) args: Option<Vec<Text>>,
    pub(crate) env: Vec<(Text, Text)>,
    pub(crate) cwd: Option<Text>,
    pub(crate) url: Option<Text>,
    pub(crate) headers: Vec<(Text, Text)>,
    pub(crate) enabled: bool,
    pub(crate) description: Option<String>,
    pub(crate) category: Option<String>,
    pub(crate) timing: Timing,
    pub(crate) limits: Limits,
    pub(crate) start: Start,
    pub(crate) sensitive: bool,
    pub(crate) audit_arguments: Option<AuditArguments>,
    pub(crate) trust_hints: bool,
    pub(crate) tools: ToolFilter,
    pub(crate) auth: Option<Spanned<Auth>>,
}

/// What an entry says its transport is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Stdio,
    Http,
    Sse,
}

impl Draft {
    pub(crate) fn new(name: Text) -> Self {
        Self {
            span: name.span.clone(),
            name,
            kind: None,
            command: None,
            args: None,
            env: Vec::new(),
            cwd: None,
            url: None,
            headers: Vec::new(),
            enabled: true,
            description: None,
            category: None,
            timing: Timing::default(),
            limits: Limits::default(),
            start: Start::Eager,
            sensitive: false,
            audit_arguments: None,
            trust_hints: true,
            tools: ToolFilter::default(),
            auth: None,
        }
    }

    /// The server, if the entry is good; every fault is told, and a faulty entry is left out whole,
    /// since half of a filter or of an environment is worse than none.
    pub(crate) fn build(
        self,
        name: ServerName,
        notation: &Notation,
        report: &mut Report,
    ) -> Option<ServerSpec> {
        let before = report.errors();
        let mut builder = Builder { notation, report };
        let transport = builder.transport(&self);
        let auth = self.auth.as_ref().map_or(Auth::None, |auth| auth.value.clone());
        if let (Some(transport), Some(given)) = (&transport, &self.auth) {
            checks::auth_fits(given, transport, builder.report);
        }
        let good = report.errors() == before;
        Some(ServerSpec {
            name,
            transport: transport.filter(|_| good)?,
            auth,
            enabled: self.enabled,
            description: self.description,
            category: self.category,
            timing: self.timing,
            limits: self.limits,
            start: self.start,
            sensitive: self.sensitive,
            audit_arguments: self.audit_arguments,
            trust_hints: self.trust_hints,
            tools: self.tools,
            standing: Standing::External,
        })
    }
}

/// Reads what becomes a header's value, where another key than `headers` gives it.
pub(crate) fn header_value(
    text: &Text,
    notation: &Notation,
    report: &mut Report,
) -> Option<SecretTemplate> {
    checks::one_line(text, "a header's value", report);
    template(text, notation, report).map(SecretTemplate::new)
}

/// Reads a template where a key other than a server's own needs one.
pub(crate) fn template(text: &Text, notation: &Notation, report: &mut Report) -> Option<Template> {
    if text.value.contains('\0') {
        let remedy = "Remove it; no program or server can be given one.";
        report.error(Code::BadValue, &text.span, "there is a NUL character in it", remedy);
        return None;
    }
    match expand::template(&text.value, notation) {
        Ok(template) => Some(template),
        Err(error) => {
            let remedy = "Write `${NAME}` or `${NAME:-default}`; `$${` stands for `${` itself.";
            // Not what stands there, which may be a part of a password.
            let message = match error {
                TemplateError::Unclosed { .. } => "`${` is not closed by `}`",
                TemplateError::NotAName { .. } => "between `${` and `}` stands no variable's name",
            };
            report.error(Code::BadInterpolation, &text.span, message, remedy);
            None
        }
    }
}

struct Builder<'a> {
    notation: &'a Notation,
    report: &'a mut Report,
}

impl Builder<'_> {
    fn transport(&mut self, draft: &Draft) -> Option<Transport> {
        match (&draft.command, &draft.url) {
            (Some(command), Some(url)) => {
                let message = "both `command` and `url` are set".to_owned();
                let remedy =
                    "Keep `command` for a program to start, or `url` for a server elsewhere.";
                self.report.error(Code::CommandAndUrl, &url.span, message, remedy);
                let place = self.report.place(&command.span);
                self.report.relate(place, "the command is here");
                None
            }
            (Some(command), None) => self.stdio(draft, command),
            (None, Some(url)) => self.http(draft, url),
            // A key that is misspelt or of the wrong type has been told already.
            (None, None) if self.report.has_errors() => None,
            (None, None) => {
                let (what, example) = match draft.kind.as_ref().map(|kind| kind.value) {
                    Some(Kind::Http | Kind::Sse) => ("`url`", "url = \"https://example.com/mcp\""),
                    Some(Kind::Stdio) => ("`command`", "command = \"npx\""),
                    None => ("`command` and no `url`", "command = \"npx\""),
                };
                let message = format!("server `{}` has no {what}", draft.name.value);
                let remedy = format!("Say how it is reached, for example `{example}`.");
                self.report.error(Code::NoTransport, &draft.span, message, remedy);
                None
            }
        }
    }

    fn stdio(&mut self, draft: &Draft, command: &Text) -> Option<Transport> {
        checks::kind_fits(draft, "`command`", &[Kind::Stdio], self.report);
        checks::ignored(
            draft.headers.first().map(|(name, _)| name),
            "headers",
            "a command",
            self.report,
        );
        let (command, args) = self.words(command, draft.args.as_deref())?;
        let mut env = BTreeMap::new();
        for (name, value) in &draft.env {
            checks::variable_name(name, self.report);
            if let Some(template) = self.template(value) {
                env.insert(name.value.clone(), SecretTemplate::new(template));
            }
        }
        let cwd = draft.cwd.as_ref().and_then(|cwd| self.template(cwd));
        Some(Transport::Stdio(StdioSpec { command, args, env, cwd }))
    }

    /// The program and its arguments. A whole line under `command` is split as a shell would split
    /// it, unless arguments are given or the first word is a path, which may have spaces.
    fn words(
        &mut self,
        command: &Text,
        args: Option<&[Text]>,
    ) -> Option<(Template, Vec<Template>)> {
        if command.value.trim().is_empty() {
            let remedy = "Write the program to start, such as \"npx\".";
            self.report.error(Code::BadValue, &command.span, "`command` is empty", remedy);
            return None;
        }
        if args.is_some_and(|args| !args.is_empty()) || !is_line(&command.value) {
            let args = args.unwrap_or_default().iter();
            let args: Vec<_> = args.filter_map(|arg| self.template(arg)).collect();
            return Some((self.template(command)?, args));
        }
        let Ok(words) = shell_words::split(&command.value) else {
            let remedy = "Close the quote, or put the arguments into `args`.";
            self.report.error(
                Code::BadValue,
                &command.span,
                "a quote is not closed in `command`",
                remedy,
            );
            return None;
        };
        if words.first().is_none_or(|word| word.trim().is_empty()) {
            let remedy = "Begin with the program to start, such as \"npx\".";
            self.report.error(Code::BadValue, &command.span, "`command` names no program", remedy);
            return None;
        }
        let words = words.into_iter().map(|word| Spanned::new(word, &command.span));
        let mut words: Vec<_> = words.filter_map(|word| self.template(&word)).collect();
        (!words.is_empty()).then(|| (words.remove(0), words))
    }

    fn http(&mut self, draft: &Draft, url: &Text) -> Option<Transport> {
        checks::kind_fits(draft, "`url`", &[Kind::Http, Kind::Sse], self.report);
        let args = draft.args.as_ref().and_then(|args| args.first());
        for (found, key) in [
            (args, "args"),
            (draft.env.first().map(|(name, _)| name), "env"),
            (draft.cwd.as_ref(), "cwd"),
        ] {
            checks::ignored(found, key, "a URL", self.report);
        }
        let mut headers = BTreeMap::new();
        for (name, value) in &draft.headers {
            checks::header(name, value, self.report);
            let Some(template) = self.template(value) else { continue };
            let previous =
                headers.insert(name.value.to_ascii_lowercase(), SecretTemplate::new(template));
            if previous.is_some() {
                let message =
                    format!("the header `{}` stands here for the second time", name.value);
                let remedy = "Remove one of them; names of headers ignore case.";
                self.report.error(Code::DuplicateName, &name.span, message, remedy);
            }
        }
        let kind = match draft.kind.as_ref().map(|kind| kind.value) {
            Some(Kind::Sse) => HttpKind::Sse,
            Some(Kind::Http | Kind::Stdio) | None => HttpKind::Streamable,
        };
        let template = self.template(url)?;
        checks::url(&template, url, self.report);
        Some(Transport::Http(HttpSpec { kind, url: template, headers }))
    }

    fn template(&mut self, text: &Text) -> Option<Template> {
        template(text, self.notation, self.report)
    }
}

/// Whether a command is a whole line: several words, of which the first is no path.
pub(crate) fn is_line(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    let quoted = command.starts_with(['"', '\'']);
    quoted || (first.len() < command.trim_end().len() && !first.contains(['/', '\\']))
}
