//! What whoever writes remembers between two batches: the numbers of words, and the block at the end. Never relied
//! on before the database has confirmed it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::block::Block;
use super::chain::Link;
use super::words::Words;

/// More are not remembered: then it begins anew.
const MOST: usize = 10_000;

#[derive(Default)]
pub(crate) struct Memory(Mutex<Remembered>);

#[derive(Default)]
struct Remembered {
    generation: i64,
    numbers: HashMap<Words, i64>,
    block: Option<Block>,
}

impl Memory {
    /// The numbers that are known of these words. Those of another generation may be gone.
    pub(super) fn numbers(&self, generation: i64, words: &[Words]) -> Vec<Option<i64>> {
        let mut memory = self.lock();
        if memory.generation != generation {
            memory.numbers.clear();
            memory.generation = generation;
        }
        words.iter().map(|words| memory.numbers.get(words).copied()).collect()
    }

    pub(super) fn found(&self, generation: i64, found: Vec<(Words, i64)>) {
        let mut memory = self.lock();
        if found.is_empty() || memory.generation != generation {
            return;
        }
        if memory.numbers.len() + found.len() > MOST {
            memory.numbers.clear();
        }
        memory.numbers.extend(found);
    }

    /// The last block, if the log still ends there.
    pub(super) fn block(&self, end: Link) -> Option<Block> {
        self.lock().block.take().filter(|block| block.link() == end)
    }

    pub(super) fn keep(&self, block: Block) {
        self.lock().block = Some(block);
    }

    /// What is in it is true at any moment: a panic elsewhere is no reason to do without.
    fn lock(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
