//! Limits, with time that stands still until it is turned.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;

use switchboard_wire::Json;

use super::*;

const PATIENCE: Patience =
    Patience { quiet: Duration::from_secs(10), total: Duration::from_secs(25) };

async fn outcome(beats: &[u64], held: Option<(u64, u64)>) -> (u64, Answer) {
    let pulse = Pulse::default();
    let start = Instant::now();
    let wait = wait(&pulse, PATIENCE);
    let beat = async {
        for at in beats {
            sleep_until(start + Duration::from_secs(*at)).await;
            pulse.beat();
        }
        if let Some((from, to)) = held {
            sleep_until(start + Duration::from_secs(from)).await;
            assert_eq!(pulse.hold(1), Some(0));
            assert_eq!(pulse.hold(1), None);
            sleep_until(start + Duration::from_secs(to)).await;
            assert_eq!(pulse.release(), 0);
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        result = wait => (start.elapsed().as_secs(), result),
        () = beat => unreachable!(),
    }
}

#[tokio::test(start_paused = true)]
async fn limits() {
    let timed_out = |after| Err(CallError::TimedOut { after: Duration::from_secs(after) });
    assert_eq!(outcome(&[], None).await, (10, timed_out(10)));
    assert_eq!(outcome(&[5], None).await, (15, timed_out(10)));
    assert_eq!(outcome(&[8, 16, 24], None).await, (25, timed_out(25)));
    assert_eq!(outcome(&[], Some((5, 105))).await, (115, timed_out(10)));
}

/// Counts how often somebody is woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// An exchange that lasts for one look and then does and ends with this.
fn after_a_look(
    then: impl FnOnce() -> Result<(), CallError>,
) -> impl Future<Output = Result<(), CallError>> {
    let (mut looked, mut then) = (false, Some(then));
    poll_fn(move |_| match std::mem::replace(&mut looked, true) {
        false => Poll::Pending,
        true => Poll::Ready(then.take().unwrap()()),
    })
}

/// What comes of an exchange at the second look, and how often that woke whoever looks.
fn second_look(
    pulse: &Pulse,
    then: impl FnOnce() -> Result<(), CallError>,
) -> (Poll<Answer>, usize) {
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    let exchange = pin!(after_a_look(then));
    let mut waiting = pin!(wait_while(pulse, PATIENCE, exchange));
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    let second = waiting.as_mut().poll(&mut context);
    (second, woken.0.load(Ordering::Relaxed))
}

#[tokio::test(start_paused = true)]
async fn who_brings_an_answer_is_not_woken_for_it() {
    let (lost, good) = (|| CallError::lost("x", Delivery::No), || Ok(JsonBuf::from(Json::EMPTY)));
    for (tell, woken) in [(Tell::Nobody, 0), (Tell::Wake, 1)] {
        let pulse = Pulse::default();
        let found = second_look(&pulse, || {
            pulse.answer(good(), tell);
            pulse.close();
            Ok(())
        });
        assert_eq!(found, (Poll::Ready(good()), woken));
    }
    // An answer that came another way counts, however the exchange ended; the first one does.
    let pulse = Pulse::default();
    let found = second_look(&pulse, || {
        pulse.answer(good(), Tell::Wake);
        pulse.answer(Err(lost()), Tell::Wake);
        Err(lost())
    });
    assert_eq!(found, (Poll::Ready(good()), 1));
    assert_eq!(second_look(&Pulse::default(), || Err(lost())), (Poll::Ready(Err(lost())), 0));
    // Where the exchange ends without one, it is waited for.
    assert_eq!(second_look(&Pulse::default(), || Ok(())), (Poll::Pending, 0));
    let pulse = Pulse::default();
    pulse.close();
    let closed = CallError::lost("it was closed", Delivery::Perhaps);
    assert_eq!(wait(&pulse, PATIENCE).await, Err(closed));
}
