//! Variables that decide which code a command runs, whatever its words say: where programs and libraries are
//! found, what an interpreter loads before it begins, where packages come from. The one table of them.

use crate::mask;
use crate::server::{Auth, KeyPlace, ServerSpec};

/// By their whole names.
const NAMES: &[&str] = &[
    // Where programs and their settings are found.
    "PATH",
    "PATHEXT",
    "COMSPEC",
    "HOME",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "ZDOTDIR",
    // Shells.
    "ENV",
    "BASH_ENV",
    "SHELL",
    "SHELLOPTS",
    "BASHOPTS",
    "IFS",
    "CDPATH",
    "PS4",
    "PROMPT_COMMAND",
    // The loader and the C library.
    "GLIBC_TUNABLES",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    // Whom downloads are believed from.
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    // Interpreters.
    "CLASSPATH",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "PERLLIB",
    "PERL5LIB",
    "PERL5OPT",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "GEM_HOME",
    "GEM_PATH",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "LUA_INIT",
    "LUA_PATH",
    "LUA_CPATH",
    "ERL_FLAGS",
    "ERL_AFLAGS",
    "ERL_ZFLAGS",
    "ELIXIR_ERL_OPTIONS",
    "R_HOME",
    "R_LIBS",
    "R_PROFILE",
    "R_ENVIRON",
    "VIRTUAL_ENV",
    // Builders.
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "GOROOT",
    "GOPATH",
    "GOPROXY",
    "GOFLAGS",
    "GOTOOLCHAIN",
    "MAKEFLAGS",
    // Programs that other programs start.
    "EDITOR",
    "VISUAL",
    "PAGER",
    "MANPAGER",
    "LESSOPEN",
    "LESSCLOSE",
    "BROWSER",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "RSYNC_RSH",
    "KUBECONFIG",
    "AWS_CONFIG_FILE",
];

/// By how their names begin.
const FAMILIES: &[&str] =
    &["LD_", "DYLD_", "BASH_FUNC_", "PYTHON", "JAVA_", "DOTNET_", "CORECLR_", "COR_", "XDG_"];

/// The same, but for those of them that are keys by their names, such as `NODE_AUTH_TOKEN`.
const TOOLS: &[&str] = &[
    "NODE_",
    "NPM_CONFIG_",
    "YARN_",
    "PNPM_",
    "COREPACK_",
    "BUN_",
    "DENO_",
    "PIP_",
    "PIPX_",
    "UV_",
    "CONDA_",
    "BUNDLE_",
    "CARGO_",
    "RUSTUP_",
    "GIT_",
    "DOCKER_",
];

/// Whether a variable of this name decides which code runs. What is a name to one program is one to another in
/// capitals, and a name that holds `=` is for the child the part before it.
pub fn steers(name: &str) -> bool {
    let name = name.split('=').next().unwrap_or_default().to_ascii_uppercase();
    let begins = |families: &[&str]| families.iter().any(|family| name.starts_with(family));
    NAMES.contains(&name.as_str())
        || begins(FAMILIES)
        || (begins(TOOLS) && !mask::is_secret_key(&name))
}

impl ServerSpec {
    /// The variable that takes the server's key, if one does.
    pub fn key_variable(&self) -> Option<&str> {
        match &self.auth {
            Auth::ApiKey { place: KeyPlace::Variable(name), .. } => Some(name),
            Auth::ApiKey { place: KeyPlace::Header(_), .. }
            | Auth::None
            | Auth::Bearer { .. }
            | Auth::OAuth { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_variables_decide_what_runs() {
        for (name, decides) in [
            ("PATH", true),
            ("Path", true),
            ("LD_PRELOAD", true),
            ("LD_AUDIT", true),
            ("DYLD_INSERT_LIBRARIES", true),
            ("NODE_OPTIONS", true),
            ("NODE_PATH", true),
            ("npm_config_registry", true),
            ("PYTHONPATH", true),
            ("PYTHONSTARTUP", true),
            ("PYTHONHOME", true),
            ("BASH_ENV", true),
            ("BASH_FUNC_get_token%%", true),
            ("ENV", true),
            ("PERL5LIB", true),
            ("RUBYOPT", true),
            ("JAVA_TOOL_OPTIONS", true),
            ("GIT_SSH_COMMAND", true),
            ("UV_INDEX_URL", true),
            ("LD_PRELOAD=/tmp/x", true),
            ("NODE_AUTH_TOKEN", false),
            ("GIT_TOKEN", false),
            ("GITHUB_TOKEN", false),
            ("NOTION_API_KEY", false),
            ("MY_PATH", false),
            ("ENVIRONMENT", false),
            ("DATABASE_URL", false),
            ("", false),
        ] {
            assert_eq!(steers(name), decides, "{name}");
        }
    }
}
