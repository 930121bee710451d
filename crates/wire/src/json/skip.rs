//! Passing over JSON that is known to be valid. Never checks it; on other bytes it only stays in
//! range.

/// The index of the first quote, backslash or control character from `at` on, or the length.
#[inline(always)]
pub(super) fn special(bytes: &[u8], at: usize) -> usize {
    // Most strings are shorter than a word: those do not pay for a call.
    match bytes.get(at..).and_then(<[u8]>::first_chunk::<8>).and_then(|word| special_byte(*word)) {
        Some(more) => at + more,
        None => special_near(bytes, at),
    }
}

/// The index behind the value that starts at `at`.
#[inline]
pub(super) fn value(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'"') => string(bytes, at + 1),
        Some(b'{' | b'[') => container(bytes, at),
        _ => scalar(bytes, at),
    }
}

/// The index behind the closing quote of the string whose inside starts at `at`.
#[inline]
pub(super) fn string(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at = quote(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(_) => at += 2,
            None => return bytes.len(),
        }
    }
}

/// The index of the first quote or backslash from `at` on, or the length.
#[inline(always)]
fn quote(bytes: &[u8], at: usize) -> usize {
    let Some(rest) = bytes.get(at..) else { return bytes.len() };
    match rest.first_chunk::<8>().map(|word| quote_byte(*word)) {
        Some(Some(more)) => at + more,
        Some(None) => quote_near(bytes, at + 8),
        None => quote_far(bytes, at),
    }
}

/// Keys and values are short, but not that short: only what is long pays for a search with vectors.
#[inline(never)]
fn quote_near(bytes: &[u8], mut at: usize) -> usize {
    for _ in 0..8 {
        match bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
            Some(word) => match quote_byte(*word) {
                Some(more) => return at + more,
                None => at += 8,
            },
            None => break,
        }
    }
    quote_far(bytes, at)
}

fn quote_far(bytes: &[u8], at: usize) -> usize {
    let Some(rest) = bytes.get(at..) else { return bytes.len() };
    memchr::memchr2(b'"', b'\\', rest).map_or(bytes.len(), |more| at + more)
}

/// The index of the first byte from `at` on that is not white space.
#[inline]
pub(super) fn space(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b' ' | b'\n' | b'\r' | b'\t') => space_far(bytes, at + 1),
        _ => at,
    }
}

#[cold]
fn space_far(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

#[inline]
fn scalar(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Brackets are only counted: in valid JSON they match.
fn container(bytes: &[u8], mut at: usize) -> usize {
    let mut open = 0_usize;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => at = string(bytes, at),
            b'{' | b'[' => open += 1,
            b'}' | b']' => {
                open -= 1;
                if open == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    bytes.len()
}

fn special_near(bytes: &[u8], mut at: usize) -> usize {
    for _ in 0..4 {
        match bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
            Some(word) => match special_byte(*word) {
                Some(more) => return at + more,
                None => at += 8,
            },
            None => return special_tail(bytes, at),
        }
    }
    special_far(bytes, at)
}

/// Two passes with vector instructions are faster than one without.
#[inline(never)]
fn special_far(bytes: &[u8], at: usize) -> usize {
    let Some(rest) = bytes.get(at..) else { return bytes.len() };
    let end = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
    let lowest = rest[..end].iter().fold(u8::MAX, |lowest, &byte| lowest.min(byte));
    if lowest < 0x20 { special_tail(bytes, at) } else { at + end }
}

#[inline]
fn special_tail(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|&byte| !is_special(byte)) {
        at += 1;
    }
    at
}

#[inline]
const fn is_special(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

/// Eight bytes at once: the lowest bit set is in the first quote or backslash.
#[inline]
fn quote_byte(word: [u8; 8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    let word = u64::from_le_bytes(word);
    let quote = word ^ (ONES * b'"' as u64);
    let slash = word ^ (ONES * b'\\' as u64);
    let quote = quote.wrapping_sub(ONES) & !quote;
    let slash = slash.wrapping_sub(ONES) & !slash;
    let hits = (quote | slash) & HIGH;
    (hits != 0).then(|| (hits.trailing_zeros() / 8) as usize)
}

/// Eight bytes at once: the lowest bit set is in the first special one.
#[inline]
fn special_byte(word: [u8; 8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    let word = u64::from_le_bytes(word);
    let quote = word ^ (ONES * b'"' as u64);
    let slash = word ^ (ONES * b'\\' as u64);
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = quote.wrapping_sub(ONES) & !quote;
    let slash = slash.wrapping_sub(ONES) & !slash;
    let hits = (control | quote | slash) & HIGH;
    (hits != 0).then(|| (hits.trailing_zeros() / 8) as usize)
}
