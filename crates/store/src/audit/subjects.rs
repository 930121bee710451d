//! The dictionary of the words that occur: numbers for words, words for numbers. Remembers what it has seen.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::memory::Memory;
use super::sheet::Sheet;
use super::words::{COLUMNS, Words};
use crate::db::{Sql, Tx, sql};
use crate::error::Result;

/// How many are looked up by one statement, each prepared once. A place that is left takes the last number again.
const SIZES: [usize; 3] = [64, 8, 1];

/// One text for each size, with so many numbers where it says `?`.
pub(super) struct Listed([String; 3]);

impl Listed {
    /// `from` is the number of the first value.
    pub(super) fn new(text: &str, from: usize) -> Self {
        Self(SIZES.map(|size| {
            let places: Vec<String> = (from..from + size).map(|n| format!("${n}")).collect();
            text.replace('?', &places.join(", "))
        }))
    }

    /// The statement for the next numbers, and the values that it wants last.
    pub(super) fn take(&'static self, numbers: &mut &[i64]) -> (Sql, Vec<i64>) {
        let sizes = SIZES.iter().zip(&self.0);
        // The smallest that takes all, or the largest.
        let fitting = sizes.clone().rev().find(|(size, _)| **size >= numbers.len());
        let (size, text) = fitting.or(sizes.clone().next()).unwrap_or((&1, &self.0[2]));
        let (some, more) = numbers.split_at(numbers.len().min(*size));
        *numbers = more;
        let mut values = some.to_vec();
        values.resize(*size, some.last().copied().unwrap_or_default());
        (sql(text), values)
    }
}

static BY_NUMBER: LazyLock<Listed> = LazyLock::new(|| {
    let columns = COLUMNS.join(", ");
    Listed::new(&format!("SELECT id, {columns} FROM audit_subjects WHERE id IN (?)"), 1)
});

/// The numbers of all words of a sheet; new ones are added. Whoever asks holds the lock of the log.
pub(super) async fn numbers(
    tx: &mut Tx,
    memory: &Memory,
    generation: i64,
    sheet: &Sheet<'_>,
) -> Result<Vec<i64>> {
    let mut known = memory.numbers(generation, sheet.words());
    let mut found = Vec::new();
    for (number, words) in known.iter_mut().zip(sheet.words()) {
        if number.is_some() {
            continue;
        }
        let query = sql("SELECT id FROM audit_subjects WHERE hash = $1").bind(&words.hash());
        *number = Some(match query.optional(tx).await? {
            Some(row) => {
                let id = row.int("id")?;
                // Only what was there before is remembered: what is new may yet be rolled back.
                found.push((words.clone(), id));
                id
            }
            None => add(tx, words).await?,
        });
    }
    memory.found(generation, found);
    Ok(known.into_iter().flatten().collect())
}

async fn add(tx: &mut Tx, words: &Words) -> Result<i64> {
    let query =
        sql("INSERT INTO audit_subjects (hash, action, source, user_id, agent, server, tool,
         origin, decision, outcome) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id");
    let query = words.split().into_iter().fold(query.bind(&words.hash()), Sql::bind);
    query.one(tx).await?.int("id")
}

/// The words of these numbers, added to those that are known. One that is not there stays unknown.
pub(super) async fn words(
    tx: &mut Tx,
    known: &mut HashMap<i64, Words>,
    numbers: impl IntoIterator<Item = i64>,
) -> Result<()> {
    let mut missing: Vec<i64> =
        numbers.into_iter().filter(|number| !known.contains_key(number)).collect();
    missing.sort_unstable();
    missing.dedup();
    let mut missing = &missing[..];
    while !missing.is_empty() {
        let (query, values) = BY_NUMBER.take(&mut missing);
        for row in values.into_iter().fold(query, Sql::bind).all(tx).await? {
            known.insert(row.int("id")?, Words::read(&row)?);
        }
    }
    Ok(())
}

/// Takes away what no block refers to any more, under the lock of the log; whoever remembers numbers learns it from
/// the generation.
pub(super) async fn prune(tx: &mut Tx) -> Result<()> {
    super::tail::lock(tx).await?;
    let gone = sql("DELETE FROM audit_subjects WHERE NOT EXISTS
         (SELECT 1 FROM audit_index WHERE audit_index.subject = audit_subjects.id)");
    if gone.run(tx).await? > 0 {
        sql("UPDATE audit_state SET generation = generation + 1").run(tx).await?;
    }
    Ok(())
}
