//! Calls whose answers began a task (revision 2025-11-25): under which token their clients hear of progress as
//! long as the task lasts. Bounded, keeps no call alive, and never tells anybody by itself.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use switchboard_wire::types::Task;
use switchboard_wire::{Json, JsonBuf, output};

/// Beyond so many the oldest are forgotten: nothing says that a server tells of the end.
const MOST: usize = 256;

/// The tasks of one connection that clients hear of, oldest first.
#[derive(Default)]
pub(super) struct Lasting(Mutex<VecDeque<Row>>);

struct Row {
    /// The number of the call, which is the token that the server was given.
    call: u64,
    /// The server's own id of the task.
    task: Arc<str>,
    /// The client's own token.
    token: JsonBuf,
}

impl Lasting {
    /// A call that might begin a task is answered; its client hears of progress under that token.
    pub(super) fn note(&self, call: u64, token: Option<JsonBuf>, result: Json<'_>) {
        let (Some(token), Some(task)) = (token, output::begun(result)) else { return };
        let mut rows = self.lock();
        if rows.len() >= MOST {
            rows.pop_front();
        }
        rows.push_back(Row { call, task: task.into(), token });
    }

    /// The task that a call began, and its client's token.
    pub(super) fn find(&self, call: u64) -> Option<(Arc<str>, JsonBuf)> {
        let rows = self.lock();
        let row = rows.iter().find(|row| row.call == call)?;
        Some((row.task.clone(), row.token.clone()))
    }

    /// A server says how a task stands: nothing comes of one that is over.
    pub(super) fn stands(&self, params: Json<'_>) {
        if let Ok(task) = Task::read(params)
            && task.status.is_some_and(|status| status.is_final())
        {
            self.forget(&task.id);
        }
    }

    /// The task is over.
    pub(super) fn forget(&self, task: &str) {
        self.lock().retain(|row| *row.task != *task);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Row>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
