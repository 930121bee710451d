//! What is held of each caller, and of all of them together. Whoever has nothing here any more is forgotten. Only counts:
//! whoever holds something asks whether there is room.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use switchboard_core::port::Who;

use crate::outbox::Account;
use crate::session::Owner;

/// The accounts of all callers that have something.
pub(crate) struct Ledger {
    all: Arc<Account>,
    most_each: usize,
    each: Mutex<HashMap<Owner, Arc<Account>>>,
}

/// Bytes that are counted until this is gone.
#[derive(Debug)]
pub(crate) struct Share {
    account: Arc<Account>,
    bytes: usize,
}

impl Ledger {
    /// For so many bytes in all, and of one caller.
    pub(crate) fn new(most: usize, most_each: usize) -> Self {
        Self { all: Account::of_all(most), most_each, each: Mutex::default() }
    }

    /// Nothing yet, of this caller's.
    pub(crate) fn begin(&self, who: &Who) -> Share {
        let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
        each.retain(|_, account| Arc::strong_count(account) > 1);
        let make = || Account::of_one(&self.all, self.most_each);
        let account = each.entry(Owner::of(who)).or_insert_with(make).clone();
        Share { account, bytes: 0 }
    }

    /// Bytes of everybody together.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.all.kept()
    }

    /// How many callers have something, or had when it was looked last.
    #[cfg(test)]
    pub(crate) fn callers(&self) -> usize {
        self.each.lock().unwrap().len()
    }
}

impl Share {
    /// So many bytes in all by now, which are never fewer; whether there is room for them.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        if bytes <= self.bytes {
            return true;
        }
        self.account.add(bytes - self.bytes);
        self.bytes = bytes;
        !self.account.is_full()
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.account.subtract(self.bytes);
    }
}
