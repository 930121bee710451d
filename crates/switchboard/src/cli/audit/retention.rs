//! `switchboard audit retention`: how much of the log is kept.

use std::process::ExitCode;
use std::str::FromStr;

use anyhow::Result;
use clap::Args;
use hyper::Method;
use serde_json::{Value, json};

use super::super::api;
use super::super::out::{GOOD, Out};

const PATH: &str = "/api/v1/audit/retention";

/// Show how much of the log is kept, or say how much.
///
/// What is not given stays as it is. Whichever limit is reached first counts; what is beyond it goes soon
/// after, or, where no hub runs, once one does.
#[derive(Debug, Args)]
pub(super) struct Retention {
    /// Rows that are older than so many days go; `all` keeps them however old.
    #[arg(long, value_name = "N")]
    days: Option<Bound>,
    /// The oldest beyond so many go; `all` keeps them however many.
    #[arg(long, value_name = "N")]
    rows: Option<Bound>,
    /// The oldest go until the rows take so many million bytes; `all` keeps them however large.
    #[arg(long, value_name = "N")]
    megabytes: Option<Bound>,
}

#[derive(Clone, Copy, Debug)]
enum Bound {
    All,
    These(u64),
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("all", _) => Ok(Self::All),
            (_, Ok(0)) | (_, Err(_)) => Err("give a number above 0, or `all`".to_owned()),
            (_, Ok(number)) => Ok(Self::These(number)),
        }
    }
}

impl Bound {
    fn value(self) -> Value {
        match self {
            Self::All => Value::Null,
            Self::These(number) => json!(number),
        }
    }
}

impl Retention {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        let mut kept = api::get(PATH)?;
        if [self.days, self.rows, self.megabytes].iter().any(Option::is_some) {
            let or = |given: Option<Bound>, name: &str| match given {
                Some(bound) => bound.value(),
                None => kept.get(name).cloned().unwrap_or_default(),
            };
            let body = json!({"days": or(self.days, "days"), "rows": or(self.rows, "rows"),
                "megabytes": or(self.megabytes, "megabytes")});
            let revision = kept.get("revision").and_then(Value::as_i64);
            kept = api::request_held(&Method::PUT, PATH, Some(&body), revision)?;
            out.line(format!("{GOOD}Changed.{GOOD:#}"));
        }
        out.json(&kept);
        out.line(sentence(&kept));
        Ok(ExitCode::SUCCESS)
    }
}

fn sentence(kept: &Value) -> String {
    let number = |name: &str| kept.get(name).and_then(Value::as_u64);
    let rows = number("rows").map(|rows| format!("the newest {rows}"));
    let size = number("megabytes").map(|size| format!("what fits into {size} megabytes"));
    let most: Vec<String> = rows.into_iter().chain(size).collect();
    match (number("days"), most.join(" or ").as_str()) {
        (None, "") => "Every row of the log is kept.".to_owned(),
        (Some(days), "") => format!("Rows are kept for {days} days."),
        (None, most) => format!("No more rows are kept than {most}."),
        (Some(days), most) => format!("Rows are kept for {days} days, and no more than {most}."),
    }
}
