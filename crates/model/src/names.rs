//! How tools are named towards one kind of reader, as a person chooses it. Never makes a name.

/// How tools are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// As their servers name them; only what two servers have in common is told apart.
    Bare,
    /// By a template with `{server}` and after it `{tool}`.
    By(String),
}

/// Why a text is no way to name tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NamesError {
    /// Both must be there, once, the server first.
    #[error("it must have `{{server}}` and after it `{{tool}}`, each once")]
    Parts,
    /// Two names without anything between them cannot be told apart.
    #[error("there is nothing between `{{server}}` and `{{tool}}`")]
    Nothing,
    /// Model providers refuse it.
    #[error("`{0}` cannot be part of a tool's name: letters, digits, `_` and `-` can")]
    Character(char),
    /// No room would be left for the names themselves.
    #[error("it has more than {} characters besides them", Names::MOST)]
    Long,
}

impl Names {
    /// The word for no template.
    pub const BARE: &'static str = "bare";
    /// Characters that a template may add.
    pub const MOST: usize = 16;

    /// Reads a template, or the word `bare`.
    pub fn parse(text: &str) -> Result<Self, NamesError> {
        const SERVER: &str = "{server}";
        const TOOL: &str = "{tool}";
        if text == Self::BARE {
            return Ok(Self::Bare);
        }
        let (before, rest) = text.split_once(SERVER).ok_or(NamesError::Parts)?;
        let (between, after) = rest.split_once(TOOL).ok_or(NamesError::Parts)?;
        let added = [before, between, after];
        if added.iter().any(|part| part.contains(SERVER) || part.contains(TOOL)) {
            return Err(NamesError::Parts);
        }
        if between.is_empty() {
            return Err(NamesError::Nothing);
        }
        let is_safe = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if let Some(bad) = added.iter().flat_map(|part| part.chars()).find(|c| !is_safe(*c)) {
            return Err(NamesError::Character(bad));
        }
        if added.iter().map(|part| part.len()).sum::<usize>() > Self::MOST {
            return Err(NamesError::Long);
        }
        Ok(Self::By(text.to_owned()))
    }
}

#[cfg(test)]
mod tests;
