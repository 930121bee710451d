//! A fault together with when it happens, as a document and as one line of text.
//! Never counts and never acts.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fault::{Fault, Natural};
use super::names::{TABLE, names};

/// A fault, and when it happens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>", into = "Map<String, Value>")]
pub struct Rule {
    /// What goes wrong.
    pub fault: Fault,
    /// When.
    pub when: When,
}

/// When a fault happens. With neither method nor tool, each fault has a place of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// At this method; `GET` and `DELETE` are those of HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// At calls of this tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// At messages in whose params this text is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Not at the first so many of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u32>,
    /// At so many of them, then no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
}

const WHEN: [&str; 5] = ["method", "tool", "about", "after", "times"];

impl Rule {
    /// From `NAME`, or `NAME:KEY=VALUE,KEY=VALUE`, or a JSON object.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.starts_with('{') {
            return serde_json::from_str(text).map_err(|error| error.to_string());
        }
        let (name, pairs) = text.split_once(':').unwrap_or((text, ""));
        let mut document = Map::from_iter([("do".to_owned(), name.into())]);
        for pair in pairs.split(',').filter(|pair| !pair.is_empty()) {
            let (key, value) =
                pair.split_once('=').ok_or_else(|| format!("`{pair}` is not KEY=VALUE"))?;
            let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
            document.insert(key.to_owned(), value);
        }
        Self::try_from(document)
    }

    /// At this method.
    pub fn at(mut self, method: &str) -> Self {
        self.when.method = Some(method.to_owned());
        self
    }

    /// At calls of this tool.
    pub fn tool(mut self, tool: &str) -> Self {
        self.when.tool = Some(tool.to_owned());
        self
    }

    /// Not at the first so many.
    pub fn after(mut self, count: u32) -> Self {
        self.when.after = Some(count);
        self
    }

    /// At so many, then no more.
    pub fn times(mut self, count: u32) -> Self {
        self.when.times = Some(count);
        self
    }

    /// Whether it happens once, when the server starts.
    pub(super) fn is_at_start(&self) -> bool {
        !self.is_placed() && self.fault.natural() == Natural::Start
    }

    /// Whether it concerns this method with these params, or the call of this tool.
    pub(super) fn concerns(
        &self,
        method: Option<&str>,
        tool: Option<&str>,
        params: &Value,
    ) -> bool {
        let When { method: at, tool: of, about, .. } = &self.when;
        if about.as_ref().is_some_and(|text| !params.to_string().contains(text.as_str())) {
            return false;
        }
        if self.is_placed() {
            return (at.is_none() || at.as_deref() == method)
                && (of.is_none() || of.as_deref() == tool);
        }
        match self.fault.natural() {
            Natural::Start => false,
            Natural::Always => true,
            Natural::At(methods) => method.is_some_and(|method| methods.contains(&method)),
        }
    }

    fn is_placed(&self) -> bool {
        self.when.method.is_some() || self.when.tool.is_some()
    }
}

impl From<Fault> for Rule {
    fn from(fault: Fault) -> Self {
        Self { fault, when: When::default() }
    }
}

impl From<&str> for Rule {
    fn from(text: &str) -> Self {
        Self::parse(text).expect("a fault that exists")
    }
}

impl TryFrom<Map<String, Value>> for Rule {
    type Error = String;

    fn try_from(mut given: Map<String, Value>) -> Result<Self, String> {
        let name = given.remove("do").unwrap_or_default();
        let row = TABLE.iter().find(|(known, _)| name == *known);
        let Some((_, defaults)) = row else {
            return Err(format!(
                "no fault `{name}`; there are {}",
                Vec::from_iter(names()).join(", ")
            ));
        };
        let mut fault: Map<String, Value> =
            serde_json::from_str(defaults).expect("the table is JSON");
        fault.extend(given);
        let when = WHEN.into_iter().filter_map(|key| Some((key.to_owned(), fault.remove(key)?)));
        let when = Value::Object(when.collect());
        Ok(Self {
            when: serde_json::from_value(when).map_err(|error| format!("{name}: {error}"))?,
            fault: serde_json::from_value(fault.into())
                .map_err(|error| format!("{name}: {error}"))?,
        })
    }
}

impl From<Rule> for Map<String, Value> {
    fn from(rule: Rule) -> Self {
        let mut document = object(serde_json::to_value(&rule.fault));
        document.extend(object(serde_json::to_value(&rule.when)));
        document
    }
}

fn object(value: serde_json::Result<Value>) -> Map<String, Value> {
    match value {
        Ok(Value::Object(map)) => map,
        other => panic!("{other:?} is no object"),
    }
}
