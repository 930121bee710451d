//! What a server is asked for of all that is wanted: all of it, or what it told before, alone or with one more beside
//! it. Never decides when.

use std::collections::{BTreeSet, VecDeque};
use std::mem::take;

use switchboard_wire::types::Filter;

/// What it tells, and what it is asked for beside that.
#[derive(Debug)]
pub(super) struct Share {
    /// Resources of which it agreed to tell, by what it acknowledged last.
    pub(super) told: BTreeSet<String>,
    /// It has refused more while nothing stood: it is asked for what it told before, and for nothing new until it has
    /// answered that.
    is_plain: bool,
    /// New resources that it has refused all together: each is asked for alone, until it agrees to one.
    singly: VecDeque<String>,
}

impl Share {
    pub(super) fn new(before: Vec<String>) -> Self {
        Self { told: BTreeSet::from_iter(before), is_plain: false, singly: VecDeque::new() }
    }

    /// What is asked for now.
    pub(super) fn of(&mut self, wanted: &Filter) -> Filter {
        // What nobody wants is lost to nobody.
        self.told.retain(|uri| wanted.uris.contains(uri));
        self.singly.retain(|uri| wanted.uris.contains(uri) && !self.told.contains(uri));
        let before = self.before(wanted);
        self.is_plain &= before != Filter::default();
        match self.singly.front() {
            _ if self.is_plain => before,
            Some(alone) => {
                let uris = before.uris.into_iter().chain([alone.clone()]);
                Filter { uris: BTreeSet::from_iter(uris).into_iter().collect(), ..before }
            }
            None => wanted.clone(),
        }
    }

    /// What it told before, and its lists.
    fn before(&self, wanted: &Filter) -> Filter {
        Filter { uris: self.told.iter().cloned().collect(), ..wanted.clone() }
    }

    /// Whether it is asked for nothing new now.
    pub(super) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether some are asked for one by one.
    pub(super) fn is_divided(&self) -> bool {
        !self.singly.is_empty()
    }

    /// It has acknowledged this: what was left out is asked for together.
    pub(super) fn acknowledged(&mut self, asked: &[String]) {
        self.is_plain = false;
        if self.singly.front().is_some_and(|alone| asked.contains(alone)) {
            self.singly.clear();
        }
    }

    /// It refuses these new ones: the one that it refuses, if it is known which.
    pub(super) fn refused(&mut self, new: Vec<String>) -> Option<String> {
        match <[String; 1]>::try_from(new) {
            Ok([alone]) => {
                self.singly.retain(|uri| *uri != alone);
                Some(alone)
            }
            Err(several) => {
                self.singly = several.into();
                None
            }
        }
    }

    /// It is not heard any more: what it told before comes first, if it told anything.
    pub(super) fn restore(&mut self, wanted: &Filter) {
        self.is_plain = self.before(wanted) != Filter::default();
    }

    /// All is asked for together from now on; what was to be asked for alone.
    pub(super) fn undivided(&mut self) -> Vec<String> {
        self.is_plain = false;
        take(&mut self.singly).into()
    }
}
