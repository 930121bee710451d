//! Tools: what a caller sees of them.

mod call;
mod list;

use std::sync::Arc;

use switchboard_core::registry::Listed;
use switchboard_core::{Surface, View};
use switchboard_wire::types::ToolEntry;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::{Api, Routes};
use crate::error::Result;
use crate::input::{Page, Paging};
use crate::view::tool::ToolView;
use crate::who::Caller;

pub(super) fn routes() -> Routes {
    OpenApiRouter::new().routes(routes!(list::list)).routes(routes!(call::call))
}

/// What a caller sees, under these names. An administrator without a view of their own sees all.
pub(crate) fn view(api: &Api, caller: &Caller, surface: &Surface) -> Option<Arc<View>> {
    let now = api.registry().load();
    match &caller.agent {
        Some(agent) => now.agent(agent, surface),
        None => now
            .user(&caller.user, surface)
            .or_else(|| caller.is_administrator().then(|| now.everything(surface))),
    }
}

/// A page of the tools of a view that are wanted.
pub(super) fn page(
    paging: &Paging,
    view: Option<&View>,
    wanted: impl Fn(&Listed<'_, ToolEntry>) -> bool,
) -> Result<Page<ToolView>> {
    let tools = view.into_iter().flat_map(View::tools).filter(wanted);
    let mut tools: Vec<Listed<'_, ToolEntry>> = tools.collect();
    tools.sort_by(|a, b| a.name.cmp(b.name));
    let page = paging.cut(tools, |tool| tool.name.to_owned())?;
    Ok(Page { items: page.items.into_iter().map(ToolView::from).collect(), next: page.next })
}
