"""Topic administration, produce and consumer groups with kafka-python against the broker at $JOURNALQ_BOOTSTRAP."""

import os
import time

import kafka
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

BOOTSTRAP = os.environ["JOURNALQ_BOOTSTRAP"]
PARTITIONS = 3
COUNT = 1_000
LIMIT_SECONDS = 60


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def read(topic, group, count):
    """Reads as a member of a group until nothing came for a while, commits, and leaves."""
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=BOOTSTRAP,
        group_id=group,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        session_timeout_ms=10_000,
    )
    seen = {}
    deadline = time.monotonic() + LIMIT_SECONDS
    while len(seen) < count or len(consumer.assignment()) < PARTITIONS:
        check(time.monotonic() < deadline, f"{len(seen)} of {count} messages, assigned {consumer.assignment()}")
        for records in consumer.poll(timeout_ms=200).values():
            for record in records:
                check(record.value not in seen, f"{record.value} came twice")
                seen[record.value] = record.key
    extra = consumer.poll(timeout_ms=1_000)
    check(not extra, f"more than was produced: {extra}")
    consumer.commit()
    committed = sum(consumer.committed(TopicPartition(topic, p)) or 0 for p in range(PARTITIONS))
    consumer.close()
    return seen, committed


def main():
    topic = f"kafka-python-{int(time.time() * 1000)}"
    admin = KafkaAdminClient(bootstrap_servers=BOOTSTRAP)
    admin.create_topics([NewTopic(topic, num_partitions=PARTITIONS, replication_factor=1)])
    producer = KafkaProducer(bootstrap_servers=BOOTSTRAP, acks="all", compression_type="gzip", linger_ms=5)
    sent = [producer.send(topic, key=b"k%d" % i, value=b"v%d" % i) for i in range(COUNT)]
    offsets = {(f.get(LIMIT_SECONDS).partition, f.get(LIMIT_SECONDS).offset) for f in sent}
    check(len(offsets) == COUNT, "an offset was given twice")
    producer.close()

    seen, committed = read(topic, f"group-of-{topic}", COUNT)
    check(seen == {b"v%d" % i: b"k%d" % i for i in range(COUNT)}, "other messages came back")
    check(committed == COUNT, f"committed {committed}")
    again, _ = read(topic, f"group-of-{topic}", 0)
    check(not again, f"{len(again)} messages came again")

    groups = dict((group[0], group[1]) for group in admin.list_consumer_groups())
    check(f"group-of-{topic}" in groups, f"groups: {groups}")
    admin.delete_topics([topic])
    admin.close()
    print(f"kafka-python {kafka.__version__}: {COUNT} messages produced, read by a group, not read again")


if __name__ == "__main__":
    main()
