//! Topic administration, produce, consume, groups of both protocols and transactions with rdkafka against
//! $JOURNALQ_BOOTSTRAP. A panic is a failed check.

mod groups;
mod transactions;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use futures_executor::block_on;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, ResourceSpecifier, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::{Header, Headers, Message, OwnedHeaders};
use rdkafka::producer::{BaseRecord, DeliveryResult, Producer, ProducerContext, ThreadedProducer};
use rdkafka::{ClientContext, Offset, TopicPartitionList};

pub const PARTITIONS: i32 = 4;
pub const LIMIT: Duration = Duration::from_secs(60);
const PER_CODEC: usize = 500;
const CODECS: [&str; 5] = ["none", "gzip", "snappy", "lz4", "zstd"];

/// Settings that every client of this program starts from.
pub fn config() -> ClientConfig {
    let mut made = ClientConfig::new();
    made.set(
        "bootstrap.servers",
        std::env::var("JOURNALQ_BOOTSTRAP").expect("JOURNALQ_BOOTSTRAP"),
    );
    made
}

pub fn key_of(message: &impl Message) -> String {
    String::from_utf8(message.key().expect("a key").to_vec()).expect("a key of this program")
}

/// All partitions of a topic, from their beginning.
pub fn whole(topic: &str) -> TopicPartitionList {
    let mut all = TopicPartitionList::new();
    for partition in 0..PARTITIONS {
        all.add_partition_offset(topic, partition, Offset::Beginning)
            .expect("a partition");
    }
    all
}

/// Where each message was acknowledged.
#[derive(Clone, Default)]
struct Acknowledged(Arc<Mutex<HashMap<String, (i32, i64)>>>);

impl ClientContext for Acknowledged {}

impl ProducerContext for Acknowledged {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, _: ()) {
        let message = result.as_ref().expect("a delivery");
        let place = (message.partition(), message.offset());
        self.0.lock().unwrap().insert(key_of(message), place);
    }
}

fn administer(admin: &AdminClient<DefaultClientContext>, topics: &[&str]) {
    let made: Vec<_> = topics
        .iter()
        .map(|name| {
            NewTopic::new(name, PARTITIONS, TopicReplication::Fixed(1))
                .set("retention.ms", "123456789")
        })
        .collect();
    for result in block_on(admin.create_topics(&made, &AdminOptions::new())).expect("create") {
        result.expect("create");
    }
    let metadata = admin
        .inner()
        .fetch_metadata(Some(topics[0]), LIMIT)
        .expect("metadata");
    assert_eq!(metadata.topics()[0].partitions().len(), PARTITIONS as usize);
    let resource = [ResourceSpecifier::Topic(topics[0])];
    let described = block_on(admin.describe_configs(&resource, &AdminOptions::new()))
        .expect("describe settings");
    let settings = described[0].as_ref().expect("settings");
    assert_eq!(
        settings
            .get("retention.ms")
            .expect("retention.ms")
            .value
            .as_deref(),
        Some("123456789")
    );
}

fn produce(topic: &str) -> HashMap<String, (i32, i64)> {
    let acknowledged = Acknowledged::default();
    for codec in CODECS {
        for idempotent in ["false", "true"] {
            let producer: ThreadedProducer<_> = config()
                .set("compression.type", codec)
                .set("enable.idempotence", idempotent)
                .create_with_context(acknowledged.clone())
                .expect("producer");
            for number in 0..PER_CODEC {
                let key = format!("{codec}-{idempotent}-{number}");
                let value = format!("value of {key}");
                let headers = OwnedHeaders::new().insert(Header {
                    key: "header",
                    value: Some(&key),
                });
                producer
                    .send(
                        BaseRecord::to(topic)
                            .key(&key)
                            .payload(&value)
                            .headers(headers),
                    )
                    .expect("produce");
            }
            producer.flush(LIMIT).expect("flush");
        }
    }
    let all = acknowledged.0.lock().unwrap().clone();
    assert_eq!(all.len(), 2 * PER_CODEC * CODECS.len());
    assert_eq!(
        all.values().collect::<HashSet<_>>().len(),
        all.len(),
        "an offset was given twice"
    );
    all
}

fn consume(topic: &str, acknowledged: &HashMap<String, (i32, i64)>) {
    let consumer: BaseConsumer = config()
        .set("group.id", "not-used")
        .set("check.crcs", "true")
        .create()
        .expect("consumer");
    consumer.assign(&whole(topic)).expect("assign");
    let mut seen = HashMap::new();
    let began = Instant::now();
    while seen.len() < acknowledged.len() {
        assert!(
            began.elapsed() < LIMIT,
            "{} of {} read",
            seen.len(),
            acknowledged.len()
        );
        if let Some(message) = consumer.poll(Duration::from_millis(500)) {
            let message = message.expect("a message");
            let key = key_of(&message);
            assert_eq!(
                message.payload(),
                Some(format!("value of {key}").as_bytes())
            );
            assert_eq!(
                message.headers().expect("headers").get(0).value,
                Some(key.as_bytes())
            );
            seen.insert(key, (message.partition(), message.offset()));
        }
    }
    assert_eq!(&seen, acknowledged);
    let (low, high) = consumer
        .fetch_watermarks(topic, 0, LIMIT)
        .expect("watermarks");
    let expected = acknowledged
        .values()
        .filter(|(partition, _)| *partition == 0)
        .count();
    assert_eq!((low, high), (0, expected as i64));
}

fn main() {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("a clock")
        .as_millis();
    let topic = format!("rdkafka-{now}");
    let copies = format!("{topic}-copies");
    let admin: AdminClient<DefaultClientContext> = config().create().expect("admin");
    administer(&admin, &[&topic, &copies]);
    let acknowledged = produce(&topic);
    consume(&topic, &acknowledged);
    for protocol in ["classic", "consumer"] {
        let group = groups::consume(&topic, acknowledged.len(), protocol);
        let deleted =
            block_on(admin.delete_groups(&[&group], &AdminOptions::new())).expect("delete group");
        deleted[0].as_ref().expect("delete group");
    }
    transactions::copy(&topic, &copies);
    let deleted =
        block_on(admin.delete_topics(&[&topic, &copies], &AdminOptions::new())).expect("delete");
    assert!(deleted.iter().all(Result::is_ok), "delete: {deleted:?}");
    println!(
        "rust rdkafka on librdkafka {}: {} messages in {} codecs, with and without idempotence, read back alone and \
         as groups of both protocols; copied in transactions",
        rdkafka::util::get_rdkafka_version().1,
        acknowledged.len(),
        CODECS.len()
    );
}
