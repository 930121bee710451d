//! How tools are named, by what is declared. Counts from the next start: names that change under an
//! agent at work would be names that do not work.

use switchboard_core::Surface;
use switchboard_core::naming::Template;
use switchboard_model::{HubSpec, Names};

/// The names at the MCP endpoint. Clients add a prefix of their own, so they are shorter.
pub(super) fn mcp(spec: &HubSpec) -> Surface {
    chosen(spec.mcp_names.as_ref(), Template::MCP_LIMIT).unwrap_or_else(Surface::mcp)
}

/// The names towards models in REST and the library.
pub(super) fn models(spec: &HubSpec) -> Surface {
    chosen(spec.model_names.as_ref(), Template::MODEL_LIMIT).unwrap_or_else(Surface::model)
}

fn chosen(names: Option<&Names>, limit: usize) -> Option<Surface> {
    match names? {
        Names::Bare => Some(Surface::Short(limit)),
        // What the configuration lets pass is a template.
        Names::By(template) => Surface::parse(template, limit).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_is_what_tools_are_called() {
        let check = |text: Option<&str>, at_mcp: &str, in_rest: &str| {
            let names = text.map(|text| Names::parse(text).unwrap());
            let spec =
                HubSpec { mcp_names: names.clone(), model_names: names, ..HubSpec::default() };
            let name = |surface: Surface| surface.name("files", "read");
            assert_eq!(name(mcp(&spec)), at_mcp);
            assert_eq!(name(models(&spec)), in_rest);
        };
        check(None, "files__read", "mcp__files__read");
        check(Some("{server}_{tool}"), "files_read", "files_read");
        check(Some("bare"), "read", "read");
        let bare = HubSpec { mcp_names: Some(Names::Bare), ..HubSpec::default() };
        assert_eq!(mcp(&bare).name("files", &"x".repeat(99)).len(), Template::MCP_LIMIT);
        // The longest that the configuration lets pass leaves room everywhere.
        let longest = format!("{}{{server}}_{{tool}}", "x".repeat(Names::MOST - 1));
        let named = format!("{}files_read", "x".repeat(Names::MOST - 1));
        check(Some(&longest), &named, &named);
    }
}
