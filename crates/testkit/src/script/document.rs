//! The script as a document: what the server is, and the rules by which it goes wrong.
//! Never acts on it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use switchboard_wire::{Era, Revision};

use super::rule::Rule;

/// What a scripted server is and does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// The name it gives itself.
    pub name: String,
    /// The revisions it speaks.
    pub speaks: Speaks,
    /// How many tools it has beside its own, each of which echoes.
    pub tools: usize,
    /// Whether it has tools whose work outlasts the call: tasks, and pages to be opened.
    pub lasting: bool,
    /// What it agrees to tell of, by the names of `subscriptions/listen`; all that it is asked for
    /// without it.
    pub tells: Option<Vec<String>>,
    /// How many streams of `subscriptions/listen` it bears at once; any number without it.
    pub listeners: Option<usize>,
    /// Whether it says nothing to one more until another has ended, rather than refuse it.
    pub queues: bool,
    /// How many entries a page of a list has; all of them without it.
    pub page: Option<usize>,
    /// For how many milliseconds it says that its lists hold, in the stateless era.
    pub holds_ms: u64,
    /// How it answers over Streamable HTTP.
    pub answers: Answers,
    /// Whether its HTTP sessions have an id; without, all callers share one session.
    pub session_ids: bool,
    /// The pause between keep-alive comments on its event streams.
    pub keep_alive_ms: Option<u64>,
    /// The `retry:` hint on its event streams.
    pub retry_ms: Option<u64>,
    /// The last start at which the faults happen; needs `counter`.
    pub until_start: Option<u64>,
    /// The file in which the starts are counted.
    pub counter: Option<PathBuf>,
    /// The faults happen only while this file exists.
    pub while_file: Option<PathBuf>,
    /// The file to which everything received is appended, a line of JSON each.
    pub record: Option<PathBuf>,
    /// What goes wrong.
    pub faults: Vec<Rule>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            name: "scripted".to_owned(),
            speaks: Speaks::Dual,
            tools: 0,
            lasting: false,
            tells: None,
            listeners: None,
            queues: false,
            page: None,
            holds_ms: 0,
            answers: Answers::Json,
            session_ids: true,
            keep_alive_ms: None,
            retry_ms: None,
            until_start: None,
            counter: None,
            while_file: None,
            record: None,
            faults: Vec::new(),
        }
    }
}

impl Script {
    /// A server with which nothing is wrong.
    pub fn new() -> Self {
        Self::default()
    }

    /// It speaks only that revision.
    pub fn only(self, revision: &str) -> Self {
        self.speaks(Speaks::parse(revision).expect("a revision"))
    }

    /// It speaks those revisions.
    pub fn speaks(self, speaks: Speaks) -> Self {
        Self { speaks, ..self }
    }

    /// It calls itself so.
    pub fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// It says that its lists hold for so long.
    pub fn holds(self, holds_ms: u64) -> Self {
        Self { holds_ms, ..self }
    }

    /// It has that many more tools.
    pub fn tools(self, tools: usize) -> Self {
        Self { tools, ..self }
    }

    /// It has tools whose work outlasts the call.
    pub fn lasting(self) -> Self {
        Self { lasting: true, ..self }
    }

    /// Of what it is asked for, it agrees to tell only of these.
    pub fn tells(self, names: &[&str]) -> Self {
        Self { tells: Some(names.iter().map(|name| (*name).to_owned()).collect()), ..self }
    }

    /// It bears no more than that many streams of `subscriptions/listen` at once.
    pub fn listeners(self, most: usize) -> Self {
        Self { listeners: Some(most), ..self }
    }

    /// One stream of `subscriptions/listen` more than it bears waits for the end of another.
    pub fn queues(self) -> Self {
        Self { queues: true, ..self }
    }

    /// Its lists come in pages of that many entries.
    pub fn page(self, entries: usize) -> Self {
        Self { page: Some(entries), ..self }
    }

    /// It answers so over Streamable HTTP.
    pub fn answers(self, answers: Answers) -> Self {
        Self { answers, ..self }
    }

    /// It writes what it receives into that file.
    pub fn record(self, file: &Path) -> Self {
        Self { record: Some(file.to_owned()), ..self }
    }

    /// Its faults end after that many starts, counted in that file.
    pub fn until_start(self, starts: u64, counter: &Path) -> Self {
        Self { until_start: Some(starts), counter: Some(counter.to_owned()), ..self }
    }

    /// Its faults end when that file is removed.
    pub fn while_file(self, file: &Path) -> Self {
        Self { while_file: Some(file.to_owned()), ..self }
    }

    /// One more thing goes wrong: a [`super::Fault`], a [`Rule`], or text such as
    /// `"crash:tool=echo,after=2"`.
    pub fn fault(mut self, rule: impl Into<Rule>) -> Self {
        self.faults.push(rule.into());
        self
    }

    /// The document as text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a script is JSON")
    }
}

/// The revisions that a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Speaks {
    /// Both eras.
    Dual,
    /// Both, but each process keeps to the era of its first message.
    DualLocked,
    /// All revisions of one era.
    Era(Era),
    /// One revision.
    Only(Revision),
}

impl Speaks {
    /// From `dual`, `dual_locked`, `session`, `stateless`, or a revision.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "dual" => Self::Dual,
            "dual_locked" => Self::DualLocked,
            "session" => Self::Era(Era::Session),
            "stateless" => Self::Era(Era::Stateless),
            revision => Self::Only(Revision::parse(revision)?),
        })
    }

    /// The revisions, newest first.
    pub fn revisions(self) -> impl Iterator<Item = Revision> {
        Revision::SUPPORTED.into_iter().filter(move |revision| match self {
            Self::Dual | Self::DualLocked => true,
            Self::Era(era) => revision.era() == era,
            Self::Only(only) => *revision == only,
        })
    }
}

impl TryFrom<String> for Speaks {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is no era and no revision"))
    }
}

impl From<Speaks> for String {
    fn from(speaks: Speaks) -> Self {
        match speaks {
            Speaks::Dual => "dual",
            Speaks::DualLocked => "dual_locked",
            Speaks::Era(Era::Session) => "session",
            Speaks::Era(Era::Stateless) => "stateless",
            Speaks::Only(revision) => revision.as_str(),
        }
        .to_owned()
    }
}

/// How a server answers over Streamable HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    /// As JSON, unless something comes before the answer.
    Json,
    /// Always as a stream of events.
    Sse,
}
