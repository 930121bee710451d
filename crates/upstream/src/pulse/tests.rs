//! Limits, with time that stands still until it is turned.

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
