//! Files in many styles, every line with a remark on whose it is.

use serde_json::{Map, Value as Json};
use switchboard_model::ServerName;

use super::{Made, Style};
use crate::shape::server_entry;

impl Made {
    pub(super) fn text(&self) -> String {
        let text = match self.file {
            "f.toml" => self.toml(),
            "f.yaml" => self.yaml(),
            _ => self.json(),
        };
        text.replace('\n', self.newline)
    }

    fn toml(&self) -> String {
        let mut text = "# file\n\n[hub]\nlisten = \"127.0.0.1:1\" # file\n\n[servers]\n".to_owned();
        let (flat, tall): (Vec<_>, Vec<_>) =
            self.servers.iter().partition(|(_, style)| matches!(style, Style::Flat));
        for (spec, _) in flat {
            let entry = line(&server_entry(spec), " = ", "{ ", " }");
            text += &format!("{} = {entry} # {}\n", quoted(&spec.name), tag(&spec.name));
        }
        for (spec, style) in tall {
            let (name, tag) = (quoted(&spec.name), tag(&spec.name));
            text += &format!("\n# file: apart\n\n# {tag}\n[servers.{name}] # {tag}\n");
            let (mut inner, mut below) = (String::new(), String::new());
            for (key, value) in server_entry(spec) {
                match (value, style) {
                    (Json::Object(map), Style::Taller) => {
                        below += &format!("\n[servers.{name}.{key}] # {tag}\n");
                        for (key, value) in map {
                            below += &format!("# {tag}\n\"{key}\" = {value} # {tag}\n");
                        }
                    }
                    (Json::Object(map), _) => {
                        inner += &format!("{key} = {} # {tag}\n", line(&map, " = ", "{ ", " }"));
                    }
                    (Json::Array(items), Style::Taller) => {
                        let items: String =
                            items.iter().map(|item| format!("  {item}, # {tag}\n")).collect();
                        inner += &format!("{key} = [ # {tag}\n{items}] # {tag}\n");
                    }
                    (value, _) => inner += &format!("{key} = {value} # {tag}\n"),
                }
            }
            text += &(inner + &below);
        }
        for (id, names, style) in &self.agents {
            text +=
                &format!("\n[agents.{id}] # file\nservers = {}\n", list(names, *style, "", ","));
        }
        text + "\n[[policy]]\naction = \"ask\" # file\n"
    }

    fn yaml(&self) -> String {
        let (one, two, three) = (self.unit, self.unit.repeat(2), self.unit.repeat(3));
        let mut text = "# file\nservers: # file\n".to_owned();
        for (spec, style) in &self.servers {
            let (name, tag) = (quoted(&spec.name), tag(&spec.name));
            let entry = server_entry(spec);
            if let Style::Flat = style {
                text += &format!(
                    "{one}# {tag}\n{one}{name}: {} # {tag}\n",
                    line(&entry, ": ", "{", "}")
                );
                continue;
            }
            text += &format!("\n{one}# file: apart\n\n{one}# {tag}\n{one}{name}: # {tag}\n");
            for (key, value) in entry {
                text += &match (value, style) {
                    (Json::Object(map), Style::Taller) => {
                        let pair = |(key, value)| format!("{three}\"{key}\": {value} # {tag}\n");
                        format!("{two}{key}: # {tag}\n{}", map.iter().map(pair).collect::<String>())
                    }
                    (Json::Array(items), Style::Taller) => {
                        let item = |item: &Json| format!("{two}- {item} # {tag}\n");
                        format!(
                            "{two}{key}: # {tag}\n{}",
                            items.iter().map(item).collect::<String>()
                        )
                    }
                    (Json::Object(map), _) => {
                        format!("{two}{key}: {} # {tag}\n", line(&map, ": ", "{", "}"))
                    }
                    (value, _) => format!("{two}{key}: {value} # {tag}\n"),
                };
            }
            text += &format!("{two}# {tag}\n");
        }
        text += "\nagents: # file\n";
        for (id, names, style) in &self.agents {
            let items: String = names.iter().map(|n| format!("{three}- {n:?} # list\n")).collect();
            let list = match (style, names.is_empty()) {
                (Style::Tall | Style::Taller, false) => format!(" # list\n{items}"),
                (..) => format!(" {}\n", list(names, Style::Flat, "", "")),
            };
            text += &format!("{one}{id}: # file\n{two}servers:{list}");
        }
        text + "\npolicy:\n- action: ask # file\n"
    }

    fn json(&self) -> String {
        let [one, two, three] = [1, 2, 3].map(|n| self.unit.repeat(n));
        let mut text = format!("// file\n{{\n{one}\"servers\": {{ // file\n");
        for (at, (spec, style)) in self.servers.iter().enumerate() {
            let (name, tag) = (quoted(&spec.name), tag(&spec.name));
            let comma = if at + 1 < self.servers.len() { "," } else { "" };
            let entry = server_entry(spec);
            let pairs: Vec<String> = entry.iter().map(|(k, v)| format!("\"{k}\": {v}")).collect();
            text += &match style {
                Style::Flat => format!("{two}{name}: {}{comma} // {tag}\n", Json::Object(entry)),
                Style::Tall | Style::Taller => format!(
                    "\n{two}/* file: apart */\n\n{two}// {tag}\n{two}/* {tag} */\n{two}{name}: {{ // \
                     {tag}\n{three}{}\n{three}// {tag}\n{two}}}{comma} // {tag}\n",
                    pairs.join(&format!(", // {tag}\n{three}"))
                ),
            };
        }
        text += &format!("{one}}},\n{one}\"agents\": {{\n");
        for (at, (id, names, style)) in self.agents.iter().enumerate() {
            let comma = if at + 1 < self.agents.len() { "," } else { "" };
            let list = list(names, *style, &three, "");
            text +=
                &format!("{two}\"{id}\": {{ // file\n{three}\"servers\": {list}\n{two}}}{comma}\n");
        }
        text + &format!("{one}}},\n{one}\"policy\": [{{\"action\": \"ask\"}}] // file\n}}\n")
    }
}

fn quoted(name: &ServerName) -> String {
    format!("\"{name}\"")
}

/// What every line of a server's entry carries.
pub(super) fn tag(name: &ServerName) -> String {
    format!("of <{name}>")
}

fn line(map: &Map<String, Json>, between: &str, open: &str, close: &str) -> String {
    let pair = |(key, value): (&String, &Json)| match value {
        Json::Object(map) => format!("\"{key}\"{between}{}", line(map, between, open, close)),
        value => format!("\"{key}\"{between}{value}"),
    };
    format!("{open}{}{close}", map.iter().map(pair).collect::<Vec<_>>().join(", "))
}

fn list(names: &[String], style: Style, indent: &str, last: &str) -> String {
    let items: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    match (style, items.is_empty()) {
        (Style::Taller, false) => {
            format!("[\n{indent}  {}{last}\n{indent}]", items.join(&format!(",\n{indent}  ")))
        }
        (..) => format!("[{}]", items.join(", ")),
    }
}
