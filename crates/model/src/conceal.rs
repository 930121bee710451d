//! What a connection was made with and a server may repeat: each value is found in a text wherever it
//! stands, whether it looks like a secret or not. Never shown, and gone when the connection is forgotten.

use std::borrow::Cow;

use crate::mask;
use crate::secret::Secret;

/// Shorter values stand in every other text, and are no secret worth the name.
const SHORTEST: usize = 6;
/// Unless their name says that they are one.
const SHORTEST_BY_NAME: usize = 4;
/// Words that settings are made of. To hide them would hide what a log is read for.
const PLAIN: [&str; 10] = [
    "production",
    "development",
    "localhost",
    "127.0.0.1",
    "warning",
    "verbose",
    "enabled",
    "disabled",
    "default",
    "stdout",
];

/// Values that must not be told.
#[derive(Clone, Default)]
pub struct Concealed {
    /// The longest first: one may stand within another.
    values: Vec<Secret>,
}

impl Concealed {
    /// These values, each with the name of the variable, header or option that has it.
    pub fn of<'a>(named: impl IntoIterator<Item = (&'a str, &'a Secret)>) -> Self {
        let mut values: Vec<&str> = Vec::new();
        for (name, value) in named {
            values.extend(pieces(value.expose()).filter(|piece| counts(name, piece)));
        }
        values.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        values.dedup();
        Self { values: values.into_iter().map(Secret::new).collect() }
    }

    /// Whether there is nothing to hide.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The text, with a mask in the place of every value.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut shown = Cow::Borrowed(text);
        for value in self.values.iter().map(Secret::expose) {
            if shown.contains(value) {
                shown = Cow::Owned(shown.replace(value, mask::MASK));
            }
        }
        shown
    }

    /// The same for a text that is cut off at its end, perhaps in the middle of a value.
    pub fn hide_cut<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let begun = |value: &str| {
            let lengths = (SHORTEST_BY_NAME..=value.len()).rev();
            let mut begun = lengths.filter(|at| value.is_char_boundary(*at));
            begun.find(|at| text.ends_with(&value[..*at]))
        };
        // Before anything is hidden: what is begun may itself begin with a value.
        match self.values.iter().filter_map(|value| begun(value.expose())).max() {
            Some(length) => {
                let rest = self.hide(&text[..text.len() - length]);
                Cow::Owned(format!("{rest}{}", mask::MASK))
            }
            None => self.hide(text),
        }
    }
}

impl PartialEq for Concealed {
    fn eq(&self, other: &Self) -> bool {
        let texts =
            |one: &Self| one.values.iter().map(|v| v.expose().to_owned()).collect::<Vec<_>>();
        texts(self) == texts(other)
    }
}

impl std::fmt::Debug for Concealed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Concealed").field("values", &self.values.len()).finish()
    }
}

/// A value, and what in it may be repeated by itself: a token behind its scheme, the lines of a key, the
/// texts of a JSON object, the password of a URL.
fn pieces(value: &str) -> impl Iterator<Item = &str> {
    let several = value.contains('\n');
    let lines = value.lines().map(str::trim).filter(move |line| several && line.len() > SHORTEST);
    let quoted: Vec<&str> = value.split('"').collect();
    let texts: Vec<&str> = quoted
        .windows(2)
        .enumerate()
        .filter(|(at, pair)| at % 2 == 0 && pair[0].trim_end().ends_with(':'))
        .map(|(_, pair)| pair[1])
        .collect();
    let tokens: Vec<&str> = texts.iter().copied().chain([value]).filter_map(token).collect();
    let password = value.split_once("://").and_then(|(_, rest)| {
        let (user, _) = rest.split(['/', '?', '#']).next()?.rsplit_once('@')?;
        user.split_once(':').map(|(_, password)| password)
    });
    [value.trim()].into_iter().chain(lines).chain(texts).chain(tokens).chain(password)
}

/// What stands behind `Bearer ` and its like.
fn token(text: &str) -> Option<&str> {
    let (scheme, token) = text.trim().split_once(' ')?;
    mask::is_scheme(&format!("{scheme} ")).then_some(token.trim())
}

fn counts(name: &str, piece: &str) -> bool {
    let length = piece.chars().count();
    let plain = || PLAIN.iter().any(|word| piece.eq_ignore_ascii_case(word));
    match mask::is_secret_key(name) {
        true => length >= SHORTEST_BY_NAME,
        false => length >= SHORTEST && !plain(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: &str, given: &str, shown: &str) {
        let value = Secret::new(value);
        assert_eq!(Concealed::of([(name, &value)]).hide(given), shown, "{name}: {given}");
    }

    #[test]
    fn what_is_hidden_and_what_stays() {
        check("KEY", "correct horse", "it is correct horse.", "it is ***.");
        check("authorization", "Bearer hunter22", "hunter22, Bearer hunter22", "***, ***");
        check("PEM", "-----BEGIN\nabcdefgh\n-----END", "abcdefgh", "***");
        check(
            "H",
            r#"{"Authorization": "Bearer ntn_1"}"#,
            "Authorization ntn_1",
            "Authorization ntn_1",
        );
        check(
            "H",
            r#"{"Authorization": "Bearer ntn_123"}"#,
            "Authorization ntn_123",
            "Authorization ***",
        );
        check("DATABASE", "postgres://u:hunter22@h/d", "no hunter22 for u", "no *** for u");
        check("PORT", "8080", "port 8080", "port 8080");
        check("PASSWORD", "8080", "password 8080", "password ***");
        check("NODE_ENV", "production", "in production", "in production");
        check("API_TOKEN", "production", "in production", "in ***");
        check("EMPTY_TOKEN", "", "as it is", "as it is");
    }

    #[test]
    fn one_may_stand_within_another_and_at_a_cut() {
        let (long, short) = (Secret::new("correct horse"), Secret::new("correct"));
        let both = Concealed::of([("A", &short), ("B", &long)]);
        assert_eq!(both.hide("correct horse, correct"), "***, ***");
        assert_eq!(both.hide_cut("it is correct hor"), "it is ***");
        assert_eq!(both.hide_cut("it is corr"), "it is ***");
        assert_eq!(both.hide_cut("it is cor"), "it is cor");
        assert_eq!(format!("{both:?}"), "Concealed { values: 2 }");
        let alike = Secret::new("abcd-x-abcd");
        assert_eq!(Concealed::of([("A", &alike)]).hide_cut("it is abcd-x-abcd"), "it is ***");
    }
}
