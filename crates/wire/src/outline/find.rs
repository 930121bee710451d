//! Noting the members while the bytes are checked. Never looks at a byte twice.

use super::{IN_META, IN_PARAMS, META, Outline, Span, seen};
use crate::json::{Checker, Key, Pass, Step};

/// Passes the members of params, which begin at `base`.
pub(crate) struct Finder<'o> {
    pub(crate) base: usize,
    pub(crate) outline: &'o mut Outline,
}

/// Passes the members of `_meta`.
pub(super) struct Inner<'o> {
    pub(super) base: usize,
    pub(super) outline: &'o mut Outline,
}

impl<'a> Pass<'a> for Finder<'_> {
    fn member(&mut self, checker: &mut Checker<'a>, key: Key<'a>, at: usize) -> Step {
        let place = key.position(IN_PARAMS);
        let end = match place {
            Some(META) if checker.is_object(at) => {
                let inner = Inner { base: self.base, outline: &mut *self.outline };
                seen::pass(checker, at, inner)?
            }
            _ => checker.pass_value(at)?,
        };
        if let Some(place) = place {
            let span = Span::new(at - self.base, end - self.base);
            self.outline.note_param(place, span);
        }
        Ok(end)
    }
}

impl<'a> Pass<'a> for Inner<'_> {
    fn member(&mut self, checker: &mut Checker<'a>, key: Key<'a>, at: usize) -> Step {
        let place = key.position(IN_META);
        let end = checker.pass_value(at)?;
        if let Some(place) = place {
            let span = Span::new(at - self.base, end - self.base);
            self.outline.note_meta(place, span);
        }
        Ok(end)
    }
}
