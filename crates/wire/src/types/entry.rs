//! What a server offers, one thing at a time: raw as it came, plus what it is found by. Never
//! judges a schema, and drops nothing but what cannot be used.

use std::borrow::Cow;

use crate::header::{ParamHeader, param_headers};
use crate::json::{Json, JsonBuf, Key};
use crate::meta;
use crate::rewrite::Repeated;

/// Why an entry cannot be offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// It is no object.
    #[error("it is not an object")]
    NotObject,
    /// It has no such member.
    #[error("it has no `{0}`")]
    Missing(&'static str),
    /// The member is something else than it should be.
    #[error("its `{0}` is not {1}")]
    WrongType(&'static str, &'static str),
    /// The member is the empty string.
    #[error("its `{0}` is empty")]
    Empty(&'static str),
    /// A member by which it is known or judged is there twice.
    #[error(transparent)]
    Repeated(#[from] Repeated),
}

/// Something that is listed page by page.
pub trait Entry: Sized {
    /// The member of a page that holds them.
    const LIST: &'static str;
    /// The member that they are found by.
    const KEY: &'static str;

    /// Takes one entry.
    fn read(raw: JsonBuf) -> Result<Self, Flaw>;
}

/// The hints of a tool, as the server claims them; `None` is what it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Annotations {
    /// `readOnlyHint`
    pub read_only: Option<bool>,
    /// `destructiveHint`
    pub destructive: Option<bool>,
    /// `idempotentHint`
    pub idempotent: Option<bool>,
    /// `openWorldHint`
    pub open_world: Option<bool>,
}

/// A tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolEntry {
    raw: JsonBuf,
    input_schema: JsonBuf,
    mirrored: Box<[ParamHeader]>,
    /// What it is called by.
    pub name: String,
    /// The hints.
    pub annotations: Annotations,
    /// Whether it has to do with pages of the apps extension: shows one, or is there for one to call.
    pub has_page: bool,
    /// Whether it has an output schema that is not one of an object, which revisions before 2026-07-28 cannot say.
    pub is_wide: bool,
    /// Whether it runs only as a task (`execution.taskSupport`); revision 2025-11-25.
    pub needs_task: bool,
}

impl ToolEntry {
    /// The schema of its arguments.
    pub fn input_schema(&self) -> Json<'_> {
        self.input_schema.as_json()
    }

    /// The arguments that its schema wants mirrored into headers; none if it does so by breaking the rules.
    pub fn mirrored(&self) -> &[ParamHeader] {
        &self.mirrored
    }

    /// The schema of its structured result.
    pub fn output_schema(&self) -> Option<Json<'_>> {
        self.raw().get("outputSchema").filter(|schema| !schema.is_null())
    }

    /// Its name for people: its own title, or that of its annotations.
    pub fn title(&self) -> Option<Cow<'_, str>> {
        let own = shown(self.raw(), "title");
        own.or_else(|| shown(self.raw().get("annotations")?, "title"))
    }
}

impl Entry for ToolEntry {
    const LIST: &'static str = "tools";
    const KEY: &'static str = "name";

    fn read(raw: JsonBuf) -> Result<Self, Flaw> {
        let [name, schema, annotations, output] =
            object(&raw)?.pick(["name", "inputSchema", "annotations", "outputSchema"])?;
        let name = required(name, "name")?;
        let schema = schema.ok_or(Flaw::Missing("inputSchema"))?;
        if !schema.is_object() {
            return Err(Flaw::WrongType("inputSchema", "an object"));
        }
        let mirrored = param_headers(schema).unwrap_or_default().into();
        let input_schema = raw.part(schema);
        let annotations = annotations.map(Annotations::read).transpose()?.unwrap_or_default();
        let of_page = |key: Key<'_>| key.is(meta::UI) || key.is(meta::UI_RESOURCE_URI);
        let meta = raw.as_json().get(meta::META);
        let has_page = meta.is_some_and(|meta| meta.members().any(|member| of_page(member.key)));
        let of_object = |schema: Json<'_>| {
            schema.get("type").is_some_and(|kind| kind.string().as_deref() == Some("object"))
        };
        let is_wide = output.is_some_and(|schema| !of_object(schema));
        let support = raw.as_json().get("execution").and_then(|how| how.get("taskSupport"));
        let needs_task = support.is_some_and(|support| support.is_plainly("required"));
        Ok(Self { input_schema, mirrored, name, annotations, has_page, is_wide, needs_task, raw })
    }
}

impl Annotations {
    fn read(annotations: Json<'_>) -> Result<Self, Repeated> {
        let hints = annotations.pick([
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ])?;
        let [read_only, destructive, idempotent, open_world] =
            hints.map(|hint| hint.and_then(Json::boolean));
        Ok(Self { read_only, destructive, idempotent, open_world })
    }
}

macro_rules! named_by {
    ($(#[$doc:meta])* $type:ident { $(#[$field_doc:meta])* $field:ident: $key:literal } in $list:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $type {
            raw: JsonBuf,
            $(#[$field_doc])*
            pub $field: String,
        }

        impl $type {
            /// Its name for people.
            pub fn title(&self) -> Option<Cow<'_, str>> {
                shown(self.raw(), "title")
            }
        }

        impl Entry for $type {
            const LIST: &'static str = $list;
            const KEY: &'static str = $key;

            fn read(raw: JsonBuf) -> Result<Self, Flaw> {
                let [key] = object(&raw)?.pick([$key])?;
                Ok(Self { $field: required(key, $key)?, raw })
            }
        }
    };
}

named_by! {
    /// A resource.
    ResourceEntry {
        /// What it is read by.
        uri: "uri"
    } in "resources"
}

named_by! {
    /// A family of resources.
    TemplateEntry {
        /// The template of what they are read by (RFC 6570).
        uri_template: "uriTemplate"
    } in "resourceTemplates"
}

named_by! {
    /// A prompt.
    PromptEntry {
        /// What it is fetched by.
        name: "name"
    } in "prompts"
}

macro_rules! raw_and_description {
    ($($type:ident)*) => {
        $(impl $type {
            /// All of it, as it came.
            pub fn raw(&self) -> Json<'_> {
                self.raw.as_json()
            }

            /// What it says of itself.
            pub fn description(&self) -> Option<Cow<'_, str>> {
                shown(self.raw(), "description")
            }
        })*
    };
}

raw_and_description! { ToolEntry ResourceEntry TemplateEntry PromptEntry }

fn object(raw: &JsonBuf) -> Result<Json<'_>, Flaw> {
    let json = raw.as_json();
    if json.is_object() { Ok(json) } else { Err(Flaw::NotObject) }
}

fn required(value: Option<Json<'_>>, key: &'static str) -> Result<String, Flaw> {
    let value = value.ok_or(Flaw::Missing(key))?;
    let text = value.string().ok_or(Flaw::WrongType(key, "a string"))?;
    if text.is_empty() { Err(Flaw::Empty(key)) } else { Ok(text.into_owned()) }
}

fn shown<'a>(of: Json<'a>, key: &str) -> Option<Cow<'a, str>> {
    of.get(key)?.string_lossy()
}
