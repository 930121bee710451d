//! Headers that nobody should send: any bytes, under any name, as often as one likes.

use fastrand::Rng;

/// A header as it goes out.
pub type Field = (Vec<u8>, Vec<u8>);

/// What steers the endpoint, or how a message is read.
const NAMES: [&str; 19] = [
    "host",
    "authorization",
    "content-length",
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-param-region",
    "last-event-id",
    "accept",
    "content-type",
    "origin",
    "traceparent",
    "connection",
    "transfer-encoding",
    "expect",
    "upgrade",
    "te",
    "trailer",
];

/// What is no name.
const BROKEN: [&[u8]; 8] =
    [b"", b" host", b"host ", b"ho st", b"h\0st", b"h\xF6st", b"\xFF", b"(authorization)"];

/// Values that mean something to some of them, or nearly do.
const VALUES: [&[u8]; 12] = [
    b"",
    b"0",
    b"1",
    b"+5",
    b"-1",
    b"5, 5",
    b"99999999999999999999",
    b"chunked",
    b"gzip, chunked",
    b"close",
    b"keep-alive, Upgrade",
    b"null",
];

/// Makes one of them another one, or adds one.
pub fn bend(fields: &mut Vec<Field>, random: &mut Rng) {
    let known = NAMES[random.usize(..NAMES.len())];
    let name = match random.u8(..8) {
        0 => BROKEN[random.usize(..BROKEN.len())].to_vec(),
        1 => known.to_ascii_uppercase().into(),
        _ => known.into(),
    };
    let place = fields.iter().position(|field| field.0.eq_ignore_ascii_case(&name));
    let value = match (random.u8(..5), place) {
        (0, _) => VALUES[random.usize(..VALUES.len())].to_vec(),
        // What is there already, once more or with one byte more.
        (1, Some(place)) => fields[place].1.clone(),
        (2, Some(place)) => {
            let mut value = fields[place].1.clone();
            value.insert(random.usize(..=value.len()), byte(random));
            value
        }
        _ => (0..random.usize(1..60)).map(|_| byte(random)).collect(),
    };
    match place {
        Some(place) if random.bool() => fields[place].1 = value,
        _ => fields.insert(random.usize(..=fields.len()), (name, value)),
    }
}

/// A byte that may be in a value, letter or not, and now and then one that may not; but none that ends a line: what
/// follows that is another header.
fn byte(random: &mut Rng) -> u8 {
    match (random.u8(..), random.u8(..50)) {
        (b'\r' | b'\n', _) => b'\t',
        (0..0x20 | 0x7F, 1..) => random.u8(0x80..),
        (byte, _) => byte,
    }
}
