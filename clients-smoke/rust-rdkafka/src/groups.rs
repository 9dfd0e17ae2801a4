//! Two members share a topic's partitions; one goes and comes again, and nothing comes twice.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};

use crate::{config, key_of, LIMIT, PARTITIONS};

fn member(topic: &str, group: &str, protocol: &str) -> BaseConsumer {
    let made: BaseConsumer = config()
        .set("group.id", group)
        .set("group.protocol", protocol)
        .set("enable.auto.commit", "false")
        .set("auto.offset.reset", "earliest")
        .create()
        .expect("member");
    made.subscribe(&[topic]).expect("subscribe");
    made
}

/// Polls members, committing what they read, until each owns the same number of partitions and `count` messages came.
fn poll(members: &[&BaseConsumer], seen: &mut HashSet<String>, count: usize) {
    let began = Instant::now();
    let share = PARTITIONS as usize / members.len();
    let owned = |one: &&BaseConsumer| one.assignment().expect("assignment").count();
    while seen.len() < count || members.iter().any(|one| owned(one) != share) {
        assert!(
            began.elapsed() < LIMIT,
            "{} of {count} messages; {:?}",
            seen.len(),
            members.iter().map(owned).collect::<Vec<_>>()
        );
        for one in members {
            let mut wait = Duration::from_millis(50);
            let mut came = false;
            while let Some(message) = one.poll(wait) {
                let message = message.expect("a message");
                assert!(
                    seen.insert(key_of(&message)),
                    "{} came to the group twice",
                    key_of(&message)
                );
                came = true;
                wait = Duration::ZERO;
            }
            if came {
                one.commit_consumer_state(CommitMode::Sync).expect("commit");
            }
        }
    }
}

pub fn consume(topic: &str, count: usize, protocol: &str) -> String {
    let group = format!("{protocol}-group-of-{topic}");
    let mut seen = HashSet::new();
    let first = member(topic, &group, protocol);
    poll(&[&first], &mut seen, count);
    let second = member(topic, &group, protocol);
    poll(&[&first, &second], &mut seen, count);
    drop(second);
    poll(&[&first], &mut seen, count);
    let again = member(topic, &group, protocol);
    poll(&[&first, &again], &mut seen, count);
    drop(first);
    poll(&[&again], &mut seen, count);
    let committed = again.committed(LIMIT).expect("committed offsets");
    let sum: i64 = committed
        .elements()
        .iter()
        .filter_map(|one| one.offset().to_raw())
        .sum();
    assert_eq!(sum, count as i64, "committed: {committed:?}");
    assert_eq!(seen.len(), count);
    group
}
