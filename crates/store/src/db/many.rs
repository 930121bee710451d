//! A statement that takes many rows, prepared for a few sizes: to read a long text takes longer than to carry
//! it out.

use super::{Engine, Sql, sql};

const SIZES: [usize; 5] = [64, 16, 4, 2, 1];

/// The texts of such a statement.
pub(crate) struct Many {
    sqlite: [String; 5],
    postgres: [String; 5],
}

impl Many {
    /// `INSERT INTO … VALUES`, how many values a row has, and what follows.
    pub(crate) fn new(before: &str, width: usize, after: &str) -> Self {
        let text = |rows: usize, place: &dyn Fn(usize) -> String| {
            let row = |at: usize| {
                let values: Vec<String> = (1..=width).map(|n| place(at * width + n)).collect();
                format!("({})", values.join(", "))
            };
            let rows: Vec<String> = (0..rows).map(row).collect();
            format!("{before} {} {after}", rows.join(", "))
        };
        Self {
            // Without numbers: SQLite takes those for names, and looks for each among all of them.
            sqlite: SIZES.map(|rows| text(rows, &|_| "?".to_owned())),
            postgres: SIZES.map(|rows| text(rows, &|n| format!("${n}"))),
        }
    }

    /// The statement for the next rows, and how many it takes of those that are left.
    pub(crate) fn next(&'static self, engine: Engine, left: usize) -> (Sql, usize) {
        let texts = match engine {
            Engine::Sqlite => &self.sqlite,
            Engine::Postgres => &self.postgres,
        };
        let fitting = SIZES.iter().zip(texts).find(|(size, _)| **size <= left);
        let (size, text) = fitting.unwrap_or((&1, &texts[SIZES.len() - 1]));
        (sql(text), *size)
    }
}
