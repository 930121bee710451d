//! The rule that links from Markdown files to files and headings of the repository lead somewhere.
//! Never follows a link out of the repository.

use std::collections::BTreeMap;

use super::Violation;
use super::tree::{Tree, extension};

/// All links that lead nowhere.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let pages = tree.texts().filter(|(path, _)| extension(path) == Some("md"));
    let links = pages.flat_map(|(path, text)| {
        let lines = prose(text);
        lines.flat_map(move |(line, text)| {
            targets(&text).into_iter().map(move |target| (path, line, target))
        })
    });
    links
        .filter_map(|(path, line, target)| {
            let what = objection(tree, path, &target)?;
            let remedy = "correct the link, or restore what it led to".to_owned();
            Some(Violation { file: path.to_owned(), line, rule: "links", what, remedy })
        })
        .collect()
}

fn objection(tree: &Tree, page: &str, target: &str) -> Option<String> {
    if is_elsewhere(target) {
        return None;
    }
    let (file, anchor) =
        target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let place = if file.is_empty() { Some(page.to_owned()) } else { resolve(page, file) };
    let Some(place) = place.filter(|place| tree.holds(place)) else {
        return Some(format!("`{target}` leads to no file of the repository"));
    };
    let anchor = anchor.filter(|anchor| !anchor.is_empty())?;
    let text = tree.text(&place).filter(|_| extension(&place) == Some("md"))?;
    let missing = !anchors(text).iter().any(|known| known == anchor);
    missing.then(|| format!("`{target}` leads to no heading of {place}"))
}

/// Whether the target has a scheme, such as `https:` or `mailto:`.
fn is_elsewhere(target: &str) -> bool {
    target.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
    })
}

/// The path from the root of the repository, or nothing when the link climbs out of it.
fn resolve(page: &str, file: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    if file.starts_with('/') {
        parts.clear();
    }
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The lines outside fenced code, numbered from one, with code spans blanked.
fn prose(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut fence: Option<&str> = None;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(close)) if open == close => fence = None,
            (None, None) => return Some((index + 1, without_code(line))),
            (Some(_), _) => {}
        }
        None
    })
}

fn without_code(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    let last = parts.len() - 1;
    // Every second part stands between backticks; an unpaired one opens nothing.
    let kept = parts.iter().enumerate().filter(|(index, _)| index % 2 == 0 || *index == last);
    kept.map(|(_, part)| *part).collect()
}

/// The targets of `[text](target "title")` and of `[name]: target`.
fn targets(line: &str) -> Vec<String> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let defined = line.trim_start().strip_prefix('[').filter(|rest| !rest.starts_with('^'));
    let reference = defined.and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
    let words = inline.chain(reference).filter_map(|target| target.split_whitespace().next());
    words.map(|target| target.trim_matches(['<', '>']).to_owned()).collect()
}

/// The anchors that the headings of a page get on code hosts.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        if fenced || !(1..=6).contains(&level) || !title.starts_with(' ') {
            continue;
        }
        let plain = anchor(title.trim());
        let repeated = seen.entry(plain.clone()).or_default();
        anchors.push(if *repeated == 0 { plain } else { format!("{plain}-{repeated}") });
        *repeated += 1;
    }
    anchors
}

fn anchor(title: &str) -> String {
    let letters = title.chars().flat_map(char::to_lowercase);
    let kept =
        letters.filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}
