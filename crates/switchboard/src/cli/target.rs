//! Which servers a command means.

use clap::Args;

use crate::control::protocol::Target;

/// Whose server, where the name alone is not enough.
#[derive(Clone, Debug, Args)]
pub(super) struct Scoped {
    /// Whose server it is, if several have the name: `global`, `agent cto`, `user anna`.
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,
}

impl Scoped {
    pub(super) fn target(&self, name: &str) -> Target {
        Target { name: name.to_owned(), scope: self.scope.clone() }
    }

    pub(super) fn targets(&self, names: &[String]) -> Vec<Target> {
        names.iter().map(|name| self.target(name)).collect()
    }
}
