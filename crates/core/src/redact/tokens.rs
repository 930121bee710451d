//! Words that are secrets by their looks: those with a known beginning, and those that nobody would write by
//! hand. UUIDs are not among them: they name things.

use std::ops::Range;

/// How tokens begin that have a maker.
const PREFIXES: [&str; 57] = [
    "AGE-SECRET-KEY-",
    "AIza",
    "AKIA",
    "ASIA",
    "ATATT3",
    "ATCTT3",
    "GOCSPX-",
    "NRAK-",
    "PMAK-",
    "SG.",
    "dckr_pat_",
    "dop_v1_",
    "doo_v1_",
    "dp.pt.",
    "eyJ",
    "figd_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "gldt-",
    "glpat-",
    "glptt-",
    "glrt-",
    "glsa_",
    "gsk_",
    "hf_",
    "hvs.",
    "lin_api_",
    "lin_oauth_",
    "npm_",
    "ntn_",
    "phx_",
    "pk_live",
    "pplx-",
    "pypi-",
    "r8_",
    "rk_live",
    "rk_test",
    "sbp_",
    "secret_",
    "shpat_",
    "shpss_",
    "sk-",
    "sk_",
    "sntrys_",
    "sq0",
    "swb_",
    "swl_",
    "sws_",
    "tfp_",
    "whsec_",
    "xapp-",
    "xox",
    "ya29.",
];
/// Whole tokens are at least so long.
const TOKEN: usize = 12;
/// Words are looked at from this length on.
const RANDOM: usize = 16;
/// Those without a digit only from this one.
const LETTERS: usize = 24;

pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_run(bytes[at]) {
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().take_while(|byte| is_run(**byte)).count();
        prefixed(text, at..end, found);
        random(&text[at..end], at, found);
        at = end;
    }
}

/// Tokens with a known beginning, at the start of the run or behind something that is no letter.
fn prefixed(text: &str, run: Range<usize>, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    for start in run.clone() {
        if start > run.start && bytes[start - 1].is_ascii_alphanumeric() {
            continue;
        }
        let rest = &text[start..];
        if PREFIXES.iter().any(|prefix| rest.starts_with(prefix)) {
            let tail = |byte: &u8| is_run(*byte) || matches!(byte, b'.' | b'~' | b':');
            let length = bytes[start..].iter().take_while(|byte| tail(byte)).count();
            let length = rest[..length].trim_end_matches(['.', ':']).len();
            if length >= TOKEN {
                found.push(start..start + length);
            }
        }
    }
}

/// Words that look random. What `/` joins is a path, or one word in base64: so a part that looks random takes
/// along those beside it that are no plain words, and where no part does, the whole is looked at.
fn random(run: &str, from: usize, found: &mut Vec<Range<usize>>) {
    let mut parts: Vec<(Range<usize>, Look)> = Vec::new();
    let mut at = from;
    for part in run.split('/') {
        parts.push((at..at + part.len(), Look::at(part)));
        at += part.len() + 1;
    }
    let before = found.len();
    for (nth, (span, look)) in parts.iter().enumerate() {
        if !look.is_random() {
            continue;
        }
        let mixed = |part: &&(Range<usize>, Look)| part.1.changes > 0 && !part.1.is_uuid;
        let first = parts[..nth].iter().rev().take_while(mixed).last().unwrap_or(&parts[nth]);
        let last = parts[nth + 1..].iter().take_while(mixed).last().unwrap_or(&parts[nth]);
        found.push(first.0.start.min(span.start)..last.0.end.max(span.end));
    }
    if found.len() == before && parts.len() > 1 && Look::at(run).is_random() {
        found.push(from..from + run.len());
    }
}

/// What a word looks like.
#[derive(Default)]
struct Look {
    /// Letters and digits.
    size: usize,
    digits: usize,
    /// How often it goes from one kind of letter to another, not counting a capital that begins a word.
    changes: usize,
    is_uuid: bool,
}

impl Look {
    fn at(word: &str) -> Self {
        #[derive(PartialEq)]
        enum Class {
            Upper,
            Lower,
            Digit,
        }
        let class = |byte: u8| match byte {
            b'A'..=b'Z' => Some(Class::Upper),
            b'a'..=b'z' => Some(Class::Lower),
            b'0'..=b'9' => Some(Class::Digit),
            _ => None,
        };
        let mut look = Self { is_uuid: is_uuid(word), ..Self::default() };
        let mut before = None;
        for now in word.bytes().map(class) {
            look.size += usize::from(now.is_some());
            look.digits += usize::from(now == Some(Class::Digit));
            look.changes += match (&before, &now) {
                (Some(Class::Upper), Some(Class::Lower)) => 0,
                (Some(one), Some(other)) => usize::from(one != other),
                _ => 0,
            };
            before = now;
        }
        look
    }

    /// In words and names, kinds of letters change once in six or so; in what is random, every third or second
    /// time.
    fn is_random(&self) -> bool {
        let (least, often) = if self.digits > 0 { (RANDOM, 5) } else { (LETTERS, 4) };
        !self.is_uuid && self.size >= least && self.changes * often >= self.size
    }
}

fn is_uuid(word: &str) -> bool {
    word.len() == 36
        && word.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn is_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=')
}
