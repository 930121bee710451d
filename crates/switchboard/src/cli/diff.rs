//! What a change does to a file, as a diff in which secrets are masked.

use std::path::Path;

use similar::{ChangeTag, TextDiff};
use switchboard_config::edit::Edited;
use switchboard_config::parse;

use super::out::{BAD, DIM, GOOD};

/// The difference, a few lines of context around each change; nothing where nothing changes.
pub(super) fn masked(path: &Path, edited: &Edited) -> String {
    let before = parse::masked(path, &edited.before);
    let after = parse::masked(path, &edited.after);
    let diff = TextDiff::from_lines(&before, &after);
    let mut lines = Vec::new();
    for hunk in diff.unified_diff().context_radius(2).iter_hunks() {
        lines.push(format!("{DIM}{}{DIM:#}", hunk.header()));
        for change in hunk.iter_changes() {
            let text = change.value().trim_end_matches(['\n', '\r']);
            lines.push(match change.tag() {
                ChangeTag::Insert => format!("{GOOD}+{text}{GOOD:#}"),
                ChangeTag::Delete => format!("{BAD}-{text}{BAD:#}"),
                ChangeTag::Equal => format!(" {text}"),
            });
        }
    }
    lines.join("\n")
}
