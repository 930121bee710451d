//! The handle of a task in the result of the call that began it. Never follows one.

use std::borrow::Cow;

use crate::json::Json;

/// The member that names a task.
pub const TASK_ID: &str = "taskId";

/// The id of the task that a call of revision 2025-11-25 has begun, if it has.
pub fn begun(result: Json<'_>) -> Option<Cow<'_, str>> {
    result.get("task")?.get(TASK_ID)?.string()
}
