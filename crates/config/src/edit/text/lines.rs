//! Lines: where they begin and end, which are blank, and how whole ones are cut.

use std::ops::Range;

/// The text's own line end.
pub(super) fn newline(text: &str) -> &'static str {
    let all = text.matches('\n').count();
    if text.matches("\r\n").count() * 2 > all { "\r\n" } else { "\n" }
}

/// Where the line begins that a place is on.
pub(super) fn start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |found| found + 1)
}

/// Where the line ends that a place is on, before its line end.
pub(super) fn end(text: &str, at: usize) -> usize {
    match text[at..].find('\n') {
        Some(found) if text[at..at + found].ends_with('\r') => at + found - 1,
        Some(found) => at + found,
        None => text.len(),
    }
}

/// Where the next line begins.
pub(super) fn next(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |found| at + found + 1)
}

/// The line that a place is on, without the white space around it.
pub(super) fn trimmed(text: &str, at: usize) -> &str {
    text[start(text, at)..end(text, at)].trim()
}

/// The white space that the line begins with.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let line = &text[start(text, at)..end(text, at)];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether nothing but white space stands before a place on its line.
pub(super) fn is_first(text: &str, at: usize) -> bool {
    text[start(text, at)..at].trim().is_empty()
}

/// The first place at or after `at` that is neither a space nor a tab.
pub(super) fn skip_spaces(text: &str, at: usize) -> usize {
    at + (text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len())
}

/// Where the comments begin that stand right above the line at `at` and belong to what it begins.
/// `is_comment` says which lines are such.
pub(super) fn with_comments(text: &str, at: usize, is_comment: impl Fn(&str) -> bool) -> usize {
    let mut from = start(text, at);
    while from > 0 {
        let above = start(text, from - 1);
        let line = trimmed(text, above);
        if line.is_empty() || is_directive(line) {
            break;
        }
        if is_comment(&text[above..end(text, above)]) {
            from = above;
        } else if line.ends_with("*/")
            && let Some(opened) = block_comment(text, above)
        {
            from = opened;
        } else {
            break;
        }
    }
    from
}

/// Where the lines of a comment begin that ends on the line at `at`, if it begins a line itself.
fn block_comment(text: &str, at: usize) -> Option<usize> {
    let opened = text[..end(text, at)].rfind("/*")?;
    let closed = text[opened..].find("*/").map(|found| opened + found + 2)?;
    (is_first(text, opened) && closed == text[..end(text, at)].trim_end().len())
        .then(|| start(text, opened))
}

/// What tells an editor something about the whole file belongs to nothing in it.
fn is_directive(line: &str) -> bool {
    line.starts_with("#:schema") || line.contains("yaml-language-server:") || line.starts_with("#!")
}

/// Whole lines to be cut, with the blank ones that would be left over: of those before and after,
/// one group stays.
pub(super) fn cut(text: &str, lines: Range<usize>) -> Range<usize> {
    let (mut from, mut to) = (lines.start, lines.end);
    let (before, after) = (blank_before(text, from), blank_after(text, to));
    let above = text[..before].lines().next_back().unwrap_or_default().trim_end();
    let below = text[after..].trim_start();
    let depth = |line: &str| line.len() - line.trim_start().len();
    // In YAML, a line opens what is indented deeper below it.
    let deeper = depth(above) < depth(text[after..].lines().next().unwrap_or_default());
    let opens = above.is_empty() || above.ends_with(['{', '[']) || (above.ends_with(':') && deeper);
    let closes = below.is_empty() || below.starts_with(['}', ']']);
    if closes {
        from = before;
    } else if opens || before < from {
        to = after;
    }
    from..to
}

fn blank_before(text: &str, at: usize) -> usize {
    let mut from = at;
    while from > 0 && trimmed(text, from - 1).is_empty() {
        from = start(text, from - 1);
    }
    from
}

fn blank_after(text: &str, at: usize) -> usize {
    let mut to = at;
    while to < text.len() && trimmed(text, to).is_empty() {
        to = next(text, to);
    }
    to
}

/// Whether a blank line stands between two places.
pub(super) fn blank_between(text: &str, from: usize, to: usize) -> bool {
    let between: Vec<&str> = text.get(from..to).unwrap_or_default().split('\n').collect();
    // The first and the last are parts of lines with something on them.
    let whole = between.get(1..between.len() - 1).unwrap_or_default();
    whole.iter().any(|line| line.trim().is_empty())
}

/// What one level of nesting is indented by.
pub(super) fn unit(text: &str) -> String {
    let mut indented = text.lines().filter(|line| line.starts_with([' ', '\t'])).filter(|line| {
        let rest = line.trim();
        !rest.is_empty() && !rest.starts_with(['#', '/', '*', '-'])
    });
    match indented.next() {
        Some(line) if line.starts_with('\t') => "\t".to_owned(),
        Some(line) => " ".repeat((line.len() - line.trim_start().len()).min(8)),
        None => "  ".to_owned(),
    }
}
