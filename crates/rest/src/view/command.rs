//! The whole of a command line that waits for approval, for whoever may approve it and nobody else: what
//! is masked elsewhere because it looks like a secret could be the very thing that must be seen.

use serde::Serialize;
use switchboard_model::steering::steers;
use switchboard_model::{
    Auth, IfMissing, SecretTemplate, ServerSpec, StdioSpec, Template, Transport,
};
use utoipa::ToSchema;

use super::server::ServerView;

/// What would run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CommandView {
    /// The command and its arguments, word by word, nothing left out; variables as they are written.
    pub(crate) words: Vec<String>,
    /// Where it would run.
    pub(crate) cwd: Option<String>,
    /// What its environment would have besides the small base, also the variable that takes its key.
    pub(crate) env: Vec<VariableView>,
}

/// A variable of a command's environment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VariableView {
    /// Its name.
    pub(crate) name: String,
    /// The variables of the hub that make it up; nothing else is shown of it, unless it decides which code
    /// runs: then it is a part of the command line, and all of it is.
    pub(crate) value: Option<String>,
    /// Whether its value is sealed, and shown to nobody.
    pub(crate) sealed: bool,
}

/// Puts the command line into a server's view, while somebody has to approve it. Only for whoever may.
pub(crate) fn reveal(view: &mut ServerView, spec: &ServerSpec) {
    let waits = view.approval.as_mut().filter(|approval| !approval.approved);
    let (Some(approval), Transport::Stdio(stdio)) = (waits, &spec.transport) else { return };
    let words = std::iter::once(&stdio.command).chain(&stdio.args);
    approval.command = Some(CommandView {
        words: words.map(Template::source).collect(),
        cwd: stdio.cwd.as_ref().map(Template::source),
        env: environment(stdio, spec),
    });
}

/// What the key is put into has nothing else in it.
fn environment(stdio: &StdioSpec, spec: &ServerSpec) -> Vec<VariableView> {
    let key = spec.key_variable();
    let given = match &spec.auth {
        Auth::ApiKey { key, .. } => key.as_ref(),
        Auth::None | Auth::Bearer { .. } | Auth::OAuth { .. } => None,
    };
    // Without one in the declaration, it is what the store keeps.
    let kept = |name: &str| VariableView { name: name.to_owned(), value: None, sealed: true };
    let key_view = key.map(|name| given.map_or_else(|| kept(name), |key| variable(name, key)));
    let others = stdio.env.iter().filter(|(name, _)| key != Some(name.as_str()));
    others.map(|(name, value)| variable(name, value)).chain(key_view).collect()
}

fn variable(name: &str, value: &SecretTemplate) -> VariableView {
    let default = |(_, missing): (&str, &IfMissing)| matches!(missing, IfMissing::Use(text) if !text.is_empty());
    let secret = value.has_literal_secret() || value.variables().any(default);
    let sealed = secret && !steers(name);
    let shown = (!sealed).then(|| value.expose().source());
    VariableView { name: name.to_owned(), value: shown, sealed }
}
