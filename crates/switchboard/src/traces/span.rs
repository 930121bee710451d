//! One call as a span: whose trace it belongs to, and what is told of it. Never holds an argument or
//! anything of a result.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use switchboard_core::port::{Call, Done};
use switchboard_model::{CallOrigin, Decision, Outcome};
use switchboard_wire::method;

/// A span as a `traceparent` names it: the caller's, or the one that a call is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parent {
    trace: [u8; 16],
    span: [u8; 8],
    /// Whether whoever began the trace wants it kept.
    pub(super) is_sampled: bool,
}

impl Parent {
    /// By the W3C's rules: what is malformed counts as nothing at all.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let version = bytes::<1>(parts.next()?)?;
        let parent = Self {
            trace: bytes(parts.next()?).filter(|trace| *trace != [0; 16])?,
            span: bytes(parts.next()?).filter(|span| *span != [0; 8])?,
            is_sampled: bytes::<1>(parts.next()?)?[0] & 1 == 1,
        };
        // A later version may say more; this one does not.
        let is_whole = version != [0xff] && (version != [0] || parts.next().is_none());
        is_whole.then_some(parent)
    }

    /// A span below that one, or one with which a trace begins.
    pub(super) fn below(parent: Option<Self>) -> Self {
        let trace = parent.map_or_else(random, |parent| parent.trace);
        Self { trace, span: random(), is_sampled: true }
    }

    /// What names it to others.
    pub(super) fn traceparent(&self) -> String {
        format!("00-{}-{}-01", hexadecimal(&self.trace), hexadecimal(&self.span))
    }
}

/// One call.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) trace: [u8; 16],
    pub(super) id: [u8; 8],
    pub(super) parent: Option<[u8; 8]>,
    pub(super) began: SystemTime,
    pub(super) lasted: Duration,
    pub(super) method: String,
    /// The tool or prompt; URIs and ids are not told.
    pub(super) subject: Option<String>,
    pub(super) server: String,
    pub(super) agent: Option<String>,
    pub(super) user: Option<String>,
    pub(super) origin: CallOrigin,
    pub(super) decision: Option<Decision>,
    pub(super) outcome: Outcome,
    pub(super) sent: usize,
    pub(super) received: usize,
    pub(super) cut: usize,
}

impl Span {
    /// A call that is over, which had the span `own`.
    pub(super) fn of(
        call: &Call<'_>,
        done: &Done<'_>,
        own: Parent,
        parent: Option<Parent>,
        now: SystemTime,
    ) -> Self {
        let is_named = matches!(call.method, method::TOOLS_CALL | method::PROMPTS_GET);
        Self {
            trace: own.trace,
            id: own.span,
            parent: parent.map(|parent| parent.span),
            began: now.checked_sub(done.elapsed).unwrap_or(now),
            lasted: done.elapsed,
            method: call.method.to_owned(),
            subject: is_named.then(|| call.subject.to_owned()),
            server: call.server.to_string(),
            agent: call.who.agent.as_ref().map(ToString::to_string),
            user: call.who.user.as_ref().map(ToString::to_string),
            origin: call.origin,
            decision: done.decision,
            outcome: done.outcome,
            sent: done.sent,
            received: done.received,
            cut: done.cut,
        }
    }
}

/// As ids are written.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// An id must be unlike others, not secret.
fn random<const N: usize>() -> [u8; N] {
    let mut id = [0; N];
    while id == [0; N] {
        fastrand::fill(&mut id);
    }
    id
}

/// Lower-case hexadecimal of exactly this length.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_right = text.len() == N * 2 && !text.bytes().any(|byte| byte.is_ascii_uppercase());
    let mut found = [0; N];
    for (at, byte) in found.iter_mut().enumerate().filter(|_| is_right) {
        let digits = text.get(at * 2..at * 2 + 2).filter(|digits| !digits.starts_with('+'))?;
        *byte = u8::from_str_radix(digits, 16).ok()?;
    }
    is_right.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_read_by_the_rules_of_the_w3c() {
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let (zeros, zero) = ("0".repeat(32), "0".repeat(16));
        let cases = [
            (format!("00-{trace}-{span}-01"), Some(true)),
            (format!("00-{trace}-{span}-00"), Some(false)),
            (format!("00-{trace}-{span}-03"), Some(true)),
            (format!("cc-{trace}-{span}-01-what-comes"), Some(true)),
            (format!("00-{trace}-{span}-01-more"), None),
            (format!("ff-{trace}-{span}-01"), None),
            (format!("00-{zeros}-{span}-01"), None),
            (format!("00-{trace}-{zero}-01"), None),
            (format!("00-{}-{span}-01", trace.to_uppercase()), None),
            (format!("00-{trace}-{span}-+1"), None),
            (format!("00-{trace}-{span}"), None),
            (format!("00-{trace}x-{span}-01"), None),
            (format!("00-{}é-{span}-01", &trace[2..]), None),
            (String::new(), None),
        ];
        for (text, expected) in cases {
            let found = Parent::parse(&text);
            assert_eq!(found.map(|parent| parent.is_sampled), expected, "{text}");
            if let Some(parent) = found {
                assert_eq!(hexadecimal(&parent.trace), trace);
                assert_eq!(hexadecimal(&parent.span), span);
            }
        }
    }
}
