//! What is wrong with a configuration: what happened, where, and what to do next. Shown in the log,
//! at the command line, over the API and on the page alike; each of them renders it its own way.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::name::ServerName;
use crate::source::Source;

/// Whether a problem keeps something from working.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It works, but probably not as meant.
    Warning,
    /// What it points at is left out.
    Error,
}

impl Severity {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $variant:ident = $text:literal,)*) => {
        /// The kind of a problem, stable across versions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[doc = $doc])* $variant,)* }

        impl Code {
            /// Every code there is.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The code as it is shown and searched for.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// What it means, for the documentation.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),*).trim_ascii(),)* }
            }
        }
    };
}

codes! {
    /// The file cannot be opened or read.
    UnreadableFile = "unreadable-file",
    /// The file is larger than a configuration can sensibly be.
    FileTooLarge = "file-too-large",
    /// The file is not UTF-8 text.
    NotUtf8 = "not-utf8",
    /// The text is not valid TOML, JSON or YAML.
    Syntax = "syntax",
    /// Tables, lists or aliases are nested too deeply or expand too far.
    TooDeep = "too-deep",
    /// There are more problems in the file than are shown.
    TooManyProblems = "too-many-problems",
    /// The file is of no known dialect.
    UnknownDialect = "unknown-dialect",
    /// The file was there and is gone.
    VanishedFile = "vanished-file",
    /// Other people on this machine can change the file, or own it, and so start commands.
    WritableByOthers = "writable-by-others",
    /// A key that means nothing here.
    UnknownKey = "unknown-key",
    /// A key that is known but has no effect here.
    IgnoredKey = "ignored-key",
    /// A value of the wrong type.
    WrongType = "wrong-type",
    /// A value of the right type that is not allowed.
    BadValue = "bad-value",
    /// A key that must be there is not.
    MissingKey = "missing-key",
    /// The same key or name twice in one file.
    DuplicateName = "duplicate-name",
    /// A name that is not allowed.
    BadName = "bad-name",
    /// A name that belongs to an internal server.
    ReservedName = "reserved-name",
    /// A reference to a server that neither the files nor the catalog know.
    UnknownServer = "unknown-server",
    /// Both a command and a URL.
    CommandAndUrl = "command-and-url",
    /// Neither a command nor a URL.
    NoTransport = "no-transport",
    /// A URL that cannot be connected to.
    BadUrl = "bad-url",
    /// A glob that does not compile.
    BadGlob = "bad-glob",
    /// A `${…}` that names no variable.
    BadInterpolation = "bad-interpolation",
    /// A variable that is not set.
    MissingVariable = "missing-variable",
    /// Two sources declare the same server, agent or setting.
    Conflict = "conflict",
    /// Switchboard's own endpoint, found in another program's file.
    OwnEndpoint = "own-endpoint",
    /// A server that no enabled agent uses, in a dialect that starts only used ones.
    UnusedServer = "unused-server",
    /// Something another program does that has no counterpart here.
    Unsupported = "unsupported",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, masked.
    pub source: Arc<Source>,
    /// Which bytes of it.
    pub span: Range<usize>,
}

impl Place {
    /// Line and column, both from 1.
    pub fn line_column(&self) -> (usize, usize) {
        self.source.line_column(self.span.start)
    }

    /// The first line of the place, masked, and which of its bytes are meant. Nothing is pointed at
    /// by at least one byte where the line has one.
    pub fn excerpt(&self) -> (&str, Range<usize>) {
        let (line, _) = self.line_column();
        let text = self.source.line(line);
        let line_start = self.source.line_start(line);
        let start = self.span.start.saturating_sub(line_start).min(text.len());
        let end = self.span.end.saturating_sub(line_start).clamp(start, text.len());
        let next = text[start..].chars().next().map_or(0, char::len_utf8);
        (text, start..end.max(start + next))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.line_column();
        write!(f, "{}:{line}:{column}", self.source.path().display())
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Which kind.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// What happened, in one sentence without a full stop.
    pub message: String,
    /// Where, if it is in a text.
    pub place: Option<Place>,
    /// Another place that has to do with it, with a word on it.
    pub related: Option<(Place, String)>,
    /// What to do next.
    pub remedy: String,
    /// The server it concerns.
    pub server: Option<ServerName>,
}

impl Problem {
    /// Whether what it points at was left out.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// One line for logs.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{} [{}]; {}", self.message, self.code, self.remedy)
    }
}
