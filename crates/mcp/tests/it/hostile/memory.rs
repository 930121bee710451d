//! What is in use of memory, to the byte. Counts what all of the test's process holds: each test has its own.

use std::time::Duration;

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// What may be left: room for what happens to be in use.
const LEFT: usize = 16 << 10;
/// What is sent at least, so that one byte left of forty is seen.
const SENT: usize = 40 * LEFT;
/// Does something, which says how many bytes it sent; then again until that is enough to tell: after the first time
/// nothing may be left behind.
pub(super) async fn leaves_nothing(what: &str, act: impl AsyncFn() -> usize) {
    act().await;
    let before = settled().await;
    let mut sent = 0;
    while sent < SENT {
        sent += act().await;
    }
    let left = settled().await.saturating_sub(before);
    assert!(left < LEFT, "{what}: {left} bytes are left of {sent} that were sent");
}

/// What is in use as soon as it does not get any less: what is over may hold something for a moment.
async fn settled() -> usize {
    let (mut least, mut rounds) = (MEMORY.current_usage(), 0);
    while rounds < 20 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let now = MEMORY.current_usage();
        rounds = if now < least { 0 } else { rounds + 1 };
        least = least.min(now);
    }
    least
}
