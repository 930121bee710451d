//! Names that say that what they hold is secret, however they are written: `api_key`, `X-Api-Key`, `apiKey`.
//! Only names; never looks at a value.

use std::borrow::Cow;

use switchboard_model::mask;
use switchboard_wire::Kind;
use switchboard_wire::json::Member;

use super::NAME;

/// Anywhere in a name, beside those that the configuration knows ([`mask::is_secret_key`]).
const MARKS: [&str; 35] = [
    "accountkey",
    "authkey",
    "authheader",
    "backupcode",
    "bearer",
    "clientkey",
    "connectionstring",
    "contrasena",
    "contraseña",
    "cookie",
    "encryptionkey",
    "identifiedby",
    "kennwort",
    "licensekey",
    "masterkey",
    "mnemonic",
    "motdepasse",
    "onetimecode",
    "passcode",
    "passphrase",
    "passw",
    "recoverycode",
    "securitycode",
    "seedphrase",
    "servicekey",
    "sessionid",
    "sessionkey",
    "sharedkey",
    "signingkey",
    "sshkey",
    "verificationcode",
    "пароль",
    "パスワード",
    "密码",
    "密碼",
];

/// As a word of their own in a name.
const WORDS: [&str; 15] = [
    "auth", "creds", "cvc", "cvv", "jwt", "otp", "pass", "passwd", "pin", "psk", "pwd", "senha",
    "sid", "ssn", "totp",
];

/// In the query of a URL, where they mean more than elsewhere.
const PARAMETERS: [&str; 6] = ["code", "key", "sig", "sign", "signature", "ticket"];

/// Longer ones are no names.
const LONGEST: usize = 128;

/// Whether a name says that what it holds is secret, however it is written.
pub fn says_secret(name: &str) -> bool {
    let letters = || name.chars().filter(|c| c.is_alphanumeric());
    let plain: String = letters().flat_map(char::to_lowercase).collect();
    mask::is_secret_key(&plain) || MARKS.iter().any(|mark| plain.contains(mark)) || has_word(name)
}

/// Whether a parameter's name in a URL says so.
pub(super) fn says_secret_in_url(name: &str) -> bool {
    let last = name.rsplit(['-', '_', '.']).next().unwrap_or_default();
    says_secret(name) || PARAMETERS.iter().any(|word| last.eq_ignore_ascii_case(word))
}

/// What names say of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    Secret,
    Nothing,
}

/// A member's name, unless it is no text, or endless.
pub(super) fn of(member: Member<'_>) -> Option<Cow<'_, str>> {
    if member.key.raw().len() <= NAME { member.key.text() } else { None }
}

/// What a member's name says of its value, after what the object says.
pub(super) fn said(name: Option<&str>, beside: Says) -> Says {
    match name {
        Some(name) if says_secret(name) => Says::Secret,
        Some(name) if is_value(name) => beside,
        Some(_) => Says::Nothing,
        // Nobody knows what such a name says.
        None => Says::Secret,
    }
}

/// Whether an object names a secret beside its value: `{"name": "password", "value": …}`, a header, a field
/// of a form, a variable, a path in a document.
pub(super) fn said_beside<'m>(members: impl Iterator<Item = Member<'m>>) -> Says {
    const NAMING: [&str; 16] = [
        "attribute",
        "element",
        "env",
        "field",
        "header",
        "id",
        "key",
        "kind",
        "label",
        "name",
        "option",
        "path",
        "placeholder",
        "property",
        "selector",
        "variable",
    ];
    let mut naming = members.filter(|member| {
        member.value.kind() == Kind::String
            && (NAMING.iter().any(|name| member.key.is(name)) || member.key.is("type"))
    });
    let says = naming.any(|member| {
        let short = member.value.as_bytes().len() <= LONGEST;
        short && member.value.string_lossy().is_some_and(|text| says_secret(&text))
    });
    if says { Says::Secret } else { Says::Nothing }
}

/// Whether it is where such an object has the value.
fn is_value(name: &str) -> bool {
    const VALUES: [&str; 12] = [
        "content",
        "contents",
        "data",
        "default",
        "input",
        "new_value",
        "newValue",
        "stringData",
        "text",
        "val",
        "value",
        "values",
    ];
    VALUES.contains(&name)
}

/// Looks at the words of a name one by one: `userAuth`, `user-auth` and `user auth` have two.
fn has_word(name: &str) -> bool {
    let mut word = String::new();
    let mut before = ' ';
    for c in name.chars().chain([' ']) {
        let begins = !c.is_alphanumeric() || (c.is_uppercase() && before.is_lowercase());
        if begins {
            if WORDS.contains(&word.as_str()) {
                return true;
            }
            word.clear();
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    false
}
