//! Several instances on one database: one chain, one state, news for all.

use switchboard_model::AgentSpec;
use switchboard_store::{Filter, Recorder, RecorderOptions, Subject, Topic, Verdict};

use crate::kit::{World, ada, agent, call, global, remote, until, user};

suite! {
    what_one_changes_the_others_know,
    all_write_one_chain,
}

async fn what_one_changes_the_others_know(world: World) {
    let (here, there) = (world.peopled().await, world.open().await);
    let news = there.watch(Topic::Servers);
    let before = *news.borrow();
    let key = global("x");
    here.servers().create(&key, &remote(&key), &ada()).await.unwrap();
    until("the other hears of the server", async || *news.borrow() > before).await;
    assert_eq!(there.servers().list().await.unwrap().len(), 1);

    here.agents().create(&agent("cto"), &user("bob"), &AgentSpec::default(), &ada()).await.unwrap();
    let token = Subject::Agent(agent("cto"));
    let token = here.tokens().create(&token, "", None, &ada()).await.unwrap();
    assert!(here.access().identify(&token.secret).is_some(), "at once");
    until("the other knows the token", async || there.access().identify(&token.secret).is_some())
        .await;
    there.tokens().revoke(&token.token.id, &ada()).await.unwrap();
    until("and that it is revoked", async || here.access().identify(&token.secret).is_none()).await;
    here.close().await.unwrap();
    there.close().await.unwrap();
}

async fn all_write_one_chain(world: World) {
    let stores = [world.peopled().await, world.open().await, world.open().await];
    let recorders =
        stores.each_ref().map(|store| Recorder::start(store, RecorderOptions::default()).unwrap());
    let writing = stores.iter().zip(&recorders).enumerate().map(|(n, (store, recorder))| {
        let world = &world;
        async move {
            for m in 0..20_u32 {
                for _ in 0..50 {
                    recorder.record(call(world, m));
                }
                let id = user(&format!("u{n}-{m}"));
                let role = switchboard_store::Role::Member;
                store.users().create(&id, "U", role, &ada()).await.unwrap();
                tokio::task::yield_now().await;
            }
        }
    });
    let mut writing = writing;
    let mut next = || writing.next().unwrap();
    tokio::join!(next(), next(), next());
    for recorder in &recorders {
        let counters = recorder.close(std::time::Duration::from_secs(60)).await;
        assert_eq!((counters.written, counters.dropped), (1_000, 0));
    }
    let whole = stores[1].audit().verify().await.unwrap();
    assert!(matches!(whole, Verdict::Whole { rows: 3_062, .. }), "{whole:?}");
    let created = Filter { action: Some("user.create".to_owned()), ..Filter::default() };
    assert_eq!(stores[2].audit().page(&created, None, 1_000).await.unwrap().rows.len(), 62);
    let used = stores[0].servers().stats(&global("github")).await.unwrap().use_count;
    assert_eq!(used, 3_000);
    for store in stores {
        store.close().await.unwrap();
    }
}
