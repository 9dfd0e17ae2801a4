//! Copies in transactions with the offsets that were read; of two producers with one id the younger goes on.

use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};
use rdkafka::{Message, Offset, TopicPartitionList};

use crate::{config, key_of, whole, LIMIT};

const PER_TRANSACTION: usize = 100;

type Transactional = ThreadedProducer<DefaultProducerContext>;

fn transactional(id: &str) -> Transactional {
    let made: Transactional = config()
        .set("transactional.id", id)
        .create()
        .expect("transactional producer");
    made.init_transactions(LIMIT).expect("init");
    made
}

fn send(producer: &Transactional, topic: &str, key: &str) {
    producer
        .send(BaseRecord::<_, str>::to(topic).key(key))
        .expect("produce in a transaction");
}

fn reader(group: &str) -> BaseConsumer {
    config()
        .set("group.id", group)
        .set("enable.auto.commit", "false")
        .set("isolation.level", "read_committed")
        .create()
        .expect("reader")
}

/// Reads until there are `count` messages: their keys, and the offset behind the last one.
fn read(consumer: &BaseConsumer, count: usize) -> (Vec<String>, i64) {
    let began = Instant::now();
    let mut keys = Vec::new();
    let mut next = 0;
    while keys.len() < count {
        assert!(
            began.elapsed() < LIMIT,
            "{} of {count} messages read",
            keys.len()
        );
        if let Some(message) = consumer.poll(Duration::from_millis(500)) {
            let message = message.expect("a message");
            next = message.offset() + 1;
            keys.push(key_of(&message));
        }
    }
    (keys, next)
}

fn position(topic: &str, offset: Offset) -> TopicPartitionList {
    let mut one = TopicPartitionList::new();
    one.add_partition_offset(topic, 0, offset)
        .expect("an offset");
    one
}

pub fn copy(topic: &str, copies: &str) {
    let id = format!("copier-of-{topic}");
    let source = reader(&format!("copiers-of-{topic}"));
    source
        .assign(&position(topic, Offset::Beginning))
        .expect("assign");
    let metadata = source.group_metadata().expect("group metadata");
    let old = transactional(&id);
    let mut expected = Vec::new();
    let mut committed = 0;
    for round in 0..3 {
        let (keys, next) = read(&source, PER_TRANSACTION);
        old.begin_transaction().expect("begin");
        for key in &keys {
            send(&old, copies, key);
        }
        old.send_offsets_to_transaction(&position(topic, Offset::Offset(next)), &metadata, LIMIT)
            .expect("offsets");
        if round == 1 {
            old.abort_transaction(LIMIT).expect("abort");
        } else {
            old.commit_transaction(LIMIT).expect("commit");
            expected.extend(keys);
            committed = next;
        }
    }

    old.begin_transaction().expect("begin");
    send(&old, copies, "of a fenced producer");
    old.flush(LIMIT).expect("flush");
    let young = transactional(&id);
    young.begin_transaction().expect("begin");
    send(&young, copies, "last");
    young.commit_transaction(LIMIT).expect("commit");
    old.commit_transaction(LIMIT)
        .expect_err("a fenced producer committed");
    expected.push("last".to_string());

    let checker = reader("not-used");
    checker.assign(&whole(copies)).expect("assign");
    let (mut seen, _) = read(&checker, expected.len());
    assert!(
        checker.poll(Duration::from_secs(1)).is_none(),
        "more than was committed"
    );
    seen.sort();
    expected.sort();
    assert_eq!(seen, expected);
    let offsets = source
        .committed_offsets(position(topic, Offset::Invalid), LIMIT)
        .expect("committed offset");
    assert_eq!(offsets.elements()[0].offset(), Offset::Offset(committed));
}
