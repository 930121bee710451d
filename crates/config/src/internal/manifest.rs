//! One manifest: the object in a package.json that says that the package is an internal server, in
//! the documented spelling and in the one that is in use. Pure.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchboard_model::{
    Code, Part, Problem, ServerKey, ServerName, ServerSpec, Standing, Template, Transport,
};

use crate::declared::{Declared, DeclaredServer};
use crate::decode::{Fields, Report, Spanned, Text, Unit, Unknown};
use crate::dialect::native::server_name;
use crate::draft::Draft;
use crate::expand::Notation;
use crate::parse;
use crate::syntax::{Field, Format, Node};

/// What a package.json says of an internal server.
pub(super) struct Manifest {
    /// A server, or the name of one whose manifest is not good; nothing if the text is no JSON.
    pub(super) declared: Option<Declared>,
    pub(super) problems: Vec<Problem>,
}

/// What starts a package that names no command.
const COMMAND: &str = "node";
/// What is started of a package that names no `main`.
const MAIN: &str = "dist/index.js";
/// What only other parts of that system read.
const OTHERS: [&str; 9] = [
    "allowDestructiveTools",
    "channel",
    "guardianScan",
    "httpPort",
    "keywords",
    "label",
    "metadata",
    "role",
    "toolGroup",
];

/// Reads the first of these keys that is there, if one is.
pub(super) fn read(path: &Path, text: &str, keys: &[String]) -> Option<Manifest> {
    let (tree, mut report) = match parse::tree(path, text, Format::Json) {
        Ok(read) => read,
        Err(problems) => return Some(Manifest { declared: None, problems }),
    };
    let fields = tree.root.fields();
    let field = keys.iter().find_map(|key| fields.iter().find(|field| field.key == *key));
    let field = field.filter(|field| !field.value.is_null())?;
    let mut declared = Declared::default();
    let package = Package { root: &tree.root, directory: path.parent().unwrap_or(path) };
    if let Some((name, spec)) = package.server(field, &mut report) {
        let key = ServerKey::global(name);
        match spec {
            Some(spec) => {
                let place = report.place(&field.key_span);
                declared.servers.push(DeclaredServer { key, spec: Arc::new(spec), place });
            }
            None => {
                declared.broken.insert(key);
            }
        }
    }
    Some(Manifest { declared: Some(declared), problems: report.into_problems() })
}

struct Package<'a> {
    root: &'a Node,
    directory: &'a Path,
}

impl Package<'_> {
    /// The server's name, and the server if the manifest is good.
    fn server(
        &self,
        field: &Field,
        report: &mut Report,
    ) -> Option<(ServerName, Option<ServerSpec>)> {
        let mut fields = Fields::of(&field.value, "the manifest", report)?;
        let before = report.errors();
        let own = fields.text("mcpName", report).or(fields.text("name", report));
        let Some(own) = own else {
            if report.errors() == before {
                let remedy = "Add `\"name\": \"…\"` to it; without one it is left out.";
                let message = "this manifest names no server";
                report.error(Code::MissingKey, &field.key_span, message, remedy);
            }
            return None;
        };
        let name = server_name(&own.value, &own.span, report)?;
        report.about(Some(&name));
        let spec = self.spec(own, &name, fields, report);
        report.about(None);
        Some((name, spec))
    }

    fn spec(
        &self,
        own: Text,
        name: &ServerName,
        mut fields: Fields<'_>,
        report: &mut Report,
    ) -> Option<ServerSpec> {
        let before = report.errors();
        let mut draft = Draft::new(own);
        if let Some(kind) = fields.text("transport", report).filter(|kind| kind.value != "stdio") {
            let message = "an internal server is a command, and this one is none";
            let remedy = "Declare it under `servers` with its `url`; this manifest is left out.";
            report.error(Code::Unsupported, &kind.span, message, remedy);
        }
        let command = fields.text("command", report);
        let args = fields.texts("args", report);
        let before_main = fields.texts("commandArgs", report);
        // `args` are all that a command gets; otherwise it gets what is to be run.
        let main = match &args {
            Some(_) => None,
            None => self.main().or(command.is_none().then_some(MAIN)),
        };
        let node = Spanned::new(COMMAND.to_owned(), &draft.span);
        draft.command = Some(command.unwrap_or(node));
        draft.args = args.or(before_main);
        draft.env = fields.pairs("env", report);
        draft.sensitive = fields.flag("sensitive", report).is_some_and(|flag| flag.value);
        let about = self.root.get("description").and_then(Node::as_str).map(str::to_owned);
        draft.description = fields.text("description", report).map(|text| text.value).or(about);
        if let Some(timeout) = fields.duration("timeout", Unit::Millis, report) {
            draft.timing.connect = timeout;
        }
        let required = fields.flag("required", report).is_some_and(|flag| flag.value);
        fields.skip(&OTHERS);
        fields.finish(Unknown::Warning, report);
        let mut spec = draft.build(name.clone(), &Notation::Upper, report)?;
        spec.standing = if required { Standing::Required } else { Standing::Internal };
        self.settle(&mut spec, main.map(|main| self.directory.join(main).components().collect()));
        (report.errors() == before).then_some(spec)
    }

    /// It runs in its own directory, and so do the programs that it brings along.
    fn settle(&self, spec: &mut ServerSpec, main: Option<PathBuf>) {
        let Transport::Stdio(stdio) = &mut spec.transport else { return };
        let literal = |path: &Path| Template::literal(path.to_string_lossy());
        stdio.cwd = Some(literal(self.directory));
        stdio.args.extend(main.as_deref().map(literal));
        if let [Part::Literal(program), ..] = stdio.command.parts()
            && program.contains('/')
            && Path::new(program).is_relative()
        {
            let here = Part::Literal(format!("{}/", self.directory.display()));
            let parts = stdio.command.parts().iter().cloned();
            stdio.command = Template::from_parts(std::iter::once(here).chain(parts));
        }
    }

    fn main(&self) -> Option<&str> {
        self.root.get("main").and_then(Node::as_str)
    }
}
