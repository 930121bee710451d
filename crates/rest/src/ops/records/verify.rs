//! Whether the audit log is as it was written.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use switchboard_store::{Verdict, Violation};
use utoipa::ToSchema;

use crate::answers::Guarded;
use crate::api::Api;
use crate::error::Result;
use crate::view::server::hex;

/// What the audit log is worth.
#[derive(Serialize, ToSchema)]
pub(crate) struct VerdictView {
    /// Whether every row is as it was written.
    whole: bool,
    /// How many rows there are, if it is whole.
    rows: Option<u64>,
    /// The hash of the last row, if it is whole: whoever keeps it elsewhere can tell later whether
    /// the log was put back.
    head: Option<String>,
    /// What is wrong, for a program: `missing`, `edited`, `hidden`, `forged`, `cut` or
    /// `unvouched`.
    violation: Option<String>,
    /// At which row.
    seq: Option<i64>,
    /// Up to which row, where it is known only to be one of several.
    to: Option<i64>,
}

/// Checks the audit log
///
/// Reads all of it, and finds what was removed, edited, reordered or cut off.
#[utoipa::path(
    get,
    path = "/api/v1/audit/verify",
    tag = "records",
    responses((status = 200, body = VerdictView), Guarded)
)]
pub(super) async fn verify(State(api): State<Api>) -> Result<Json<VerdictView>> {
    let (violation, seq, to) = match api.store().audit().verify().await? {
        Verdict::Whole { rows, head } => {
            return Ok(Json(VerdictView {
                whole: true,
                rows: Some(rows),
                head: Some(hex(&head.hash)),
                violation: None,
                seq: Some(head.seq),
                to: None,
            }));
        }
        Verdict::Broken(Violation::Missing { seq }) => ("missing", seq, None),
        Verdict::Broken(Violation::Edited { from, to }) => ("edited", from, Some(to)),
        Verdict::Broken(Violation::Hidden { from, to }) => ("hidden", from, Some(to)),
        Verdict::Broken(Violation::Forged { seq }) => ("forged", seq, None),
        Verdict::Broken(Violation::Cut { seq, .. }) => ("cut", seq, None),
        Verdict::Broken(Violation::Unvouched { seq }) => ("unvouched", seq, None),
    };
    let violation = Some(violation.to_owned());
    Ok(Json(VerdictView { whole: false, rows: None, head: None, violation, seq: Some(seq), to }))
}
