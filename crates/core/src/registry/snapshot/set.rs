//! The views of one set of servers, one for each surface in use, and which of them are worth being made
//! anew when the set changes. Never knows what is in a view.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::naming::Surface;
use crate::registry::view::View;

/// For how many changes in a row a view is made that nobody asks for: who is there now and then should not
/// wait for it, and who is gone should cost nothing for ever. Few, as changes come in bursts: where a thousand servers
/// connect at once, each would make everybody's views of all of them.
pub(super) const PATIENCE: u32 = 4;

/// The views of one set of servers.
#[derive(Default)]
pub(super) struct Set(RwLock<Vec<Made>>);

struct Made {
    surface: Surface,
    view: Arc<View>,
    /// Whether anybody asked for it since it was made.
    asked: AtomicBool,
    /// For how many changes before that nobody had.
    idle: u32,
}

impl Set {
    /// The view for that surface; made by whoever asks first, unless it was inherited.
    pub(super) fn view(&self, surface: &Surface, make: impl FnOnce() -> View) -> Arc<View> {
        if let Some(made) = find(&self.read(), surface) {
            return made.ask();
        }
        let mut views = self.write();
        if let Some(made) = find(&views, surface) {
            return made.ask();
        }
        let view = Arc::new(make());
        views.push(Made::new(surface, view.clone(), AtomicBool::new(true), 0));
        view
    }

    /// Makes the views that somebody asked for in the set before. Not while others are kept from looking, as
    /// this may be a set that is in use.
    pub(super) fn inherit(&self, before: &Self, make: impl Fn(&Surface) -> View) {
        if std::ptr::eq(self, before) {
            return;
        }
        for (surface, idle) in before.wanted() {
            if find(&self.read(), &surface).is_some() {
                continue;
            }
            let view = Arc::new(make(&surface));
            let mut views = self.write();
            if find(&views, &surface).is_none() {
                views.push(Made::new(&surface, view, AtomicBool::new(false), idle));
            }
        }
    }

    /// The view for that surface if it is there, without asking for it.
    #[cfg(test)]
    pub(super) fn peek(&self, surface: &Surface) -> Option<Arc<View>> {
        find(&self.read(), surface).map(|made| made.view.clone())
    }

    /// What is wanted of it, and for how many changes nobody has asked for that.
    fn wanted(&self) -> Vec<(Surface, u32)> {
        let views = self.read();
        let wanted = views.iter().map(|made| {
            let asked = made.asked.load(Ordering::Relaxed);
            (made.surface.clone(), if asked { 0 } else { made.idle + 1 })
        });
        wanted.filter(|(_, idle)| *idle < PATIENCE).collect()
    }

    fn read(&self) -> RwLockReadGuard<'_, Vec<Made>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Vec<Made>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn find<'m>(views: &'m [Made], surface: &Surface) -> Option<&'m Made> {
    views.iter().find(|made| made.surface == *surface)
}

impl Made {
    fn new(surface: &Surface, view: Arc<View>, asked: AtomicBool, idle: u32) -> Self {
        Self { surface: surface.clone(), view, asked, idle }
    }

    fn ask(&self) -> Arc<View> {
        // Written once: calls on all threads come by here.
        if !self.asked.load(Ordering::Relaxed) {
            self.asked.store(true, Ordering::Relaxed);
        }
        self.view.clone()
    }
}
