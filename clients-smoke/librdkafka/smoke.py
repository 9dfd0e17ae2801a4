"""Produce, consume alone and as a group, transactions, metadata and topic administration with librdkafka (confluent-kafka) against a running broker.

Every check raises on the first difference; the last line says what was seen. The broker is $JOURNALQ_BOOTSTRAP. If
$SMOKE_TLS names a directory with keys, the connections use TLS. If $SMOKE_SASL is a mechanism, they also log in.
"""

import os
import time

import confluent_kafka
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

BOOTSTRAP = os.environ["JOURNALQ_BOOTSTRAP"]
CONNECTION = {"bootstrap.servers": BOOTSTRAP}
if "SMOKE_TLS" in os.environ:
    keys = os.environ["SMOKE_TLS"]
    CONNECTION |= {"security.protocol": "SSL", "ssl.ca.location": f"{keys}/authority.pem"}
    if "SMOKE_SASL" in os.environ:
        with open(f"{keys}/password", encoding="utf-8") as file:
            CONNECTION |= {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": os.environ["SMOKE_SASL"],
                "sasl.username": "smoke",
                "sasl.password": file.read().strip(),
            }
    else:
        CONNECTION |= {
            "ssl.certificate.location": f"{keys}/client.crt",
            "ssl.key.location": f"{keys}/client.key",
        }
PARTITIONS = 4
PER_CODEC = 1_000
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
TIMEOUT_SECONDS = 20
COPIES_PER_TRANSACTION = 200
GROUP_PROTOCOLS = {
    "classic": {"group.protocol": "classic", "session.timeout.ms": 10_000},
    "consumer": {"group.protocol": "consumer"},
}


def only(futures):
    (future,) = futures.values()
    return future.result(timeout=TIMEOUT_SECONDS)


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def expect_error(code, call):
    try:
        call()
    except KafkaException as error:
        check(error.args[0].code() == code, f"expected error {code}, got {error}")
    else:
        raise AssertionError(f"expected error {code}, got none")


def administer(admin, topic):
    only(admin.create_topics([NewTopic(topic, num_partitions=2, replication_factor=1)]))
    expect_error(
        KafkaError.TOPIC_ALREADY_EXISTS,
        lambda: only(admin.create_topics([NewTopic(topic, num_partitions=2, replication_factor=1)])),
    )
    only(admin.create_partitions([NewPartitions(topic, PARTITIONS)]))
    described = admin.list_topics(topic, timeout=TIMEOUT_SECONDS).topics[topic]
    check(len(described.partitions) == PARTITIONS, f"partitions: {described.partitions}")

    resource = ConfigResource(
        ResourceType.TOPIC,
        topic,
        incremental_configs=[
            ConfigEntry("retention.ms", "123456789", incremental_operation=AlterConfigOpType.SET)
        ],
    )
    only(admin.incremental_alter_configs([resource]))
    configs = only(admin.describe_configs([ConfigResource(ResourceType.TOPIC, topic)]))
    check(configs["retention.ms"].value == "123456789", f"retention.ms: {configs['retention.ms']}")

    cluster = admin.describe_cluster().result(timeout=TIMEOUT_SECONDS)
    check(len(cluster.nodes) == 1, f"nodes: {cluster.nodes}")


def produce(topic):
    acknowledged = {}
    for codec in CODECS:
        for idempotent in (False, True):
            producer = Producer(
                {
                    **CONNECTION,
                    "compression.type": codec,
                    "enable.idempotence": idempotent,
                    "linger.ms": 5,
                }
            )

            def on_delivery(error, message):
                check(error is None, f"delivery failed: {error}")
                acknowledged[message.key()] = (message.partition(), message.offset())

            for number in range(PER_CODEC):
                key = f"{codec}-{idempotent}-{number}".encode()
                producer.produce(
                    topic,
                    key=key,
                    value=b"value of " + key + b" " * 50,
                    headers=[("codec", codec.encode()), ("empty", None)],
                    on_delivery=on_delivery,
                )
                producer.poll(0)
            check(producer.flush(TIMEOUT_SECONDS) == 0, f"{codec}: not everything was delivered")
    check(len(acknowledged) == PER_CODEC * len(CODECS) * 2, f"{len(acknowledged)} acknowledged")
    check(len(set(acknowledged.values())) == len(acknowledged), "an offset was given twice")
    return acknowledged


def consume(topic, acknowledged):
    consumer = Consumer(
        {
            **CONNECTION,
            "group.id": "not-used",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "check.crcs": True,
        }
    )
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(PARTITIONS)])
    seen = {}
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while len(seen) < len(acknowledged) and time.monotonic() < deadline:
        for message in consumer.consume(num_messages=500, timeout=1.0):
            check(message.error() is None, f"consumer: {message.error()}")
            check(message.key() not in seen, f"{message.key()} came twice")
            check(message.value() == b"value of " + message.key() + b" " * 50, "another value came back")
            check(dict(message.headers())["codec"] == message.key().split(b"-")[0], "another header came back")
            seen[message.key()] = (message.partition(), message.offset())
    check(seen == acknowledged, f"{len(acknowledged)} acknowledged, {len(seen)} read")

    partition, offset = next(iter(acknowledged.values()))
    low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=TIMEOUT_SECONDS)
    check(low == 0 and offset < high, f"watermarks {low} {high}")
    (by_time,) = consumer.offsets_for_times([TopicPartition(topic, partition, 0)], timeout=TIMEOUT_SECONDS)
    check(by_time.offset == 0, f"offset for time 0: {by_time.offset}")
    consumer.close()


def consume_as_a_group(topic, acknowledged, protocol):
    """
    Two members share the partitions, one leaves, and another joins. The second member may join after the first has read
    all partitions, so a member commits before it gives partitions up: no message comes twice, whenever that happens.
    """
    group = f"{protocol}-group-of-{topic}"

    def commit(consumer):
        try:
            consumer.commit(asynchronous=False)
        except KafkaException as failure:
            # The member has read nothing since its last assignment.
            check(failure.args[0].code() == KafkaError._NO_OFFSET, f"commit: {failure}")

    def member():
        consumer = Consumer(
            {
                **CONNECTION,
                "group.id": group,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                **GROUP_PROTOCOLS[protocol],
            }
        )
        consumer.subscribe([topic], on_revoke=lambda member, partitions: commit(member))
        return consumer

    seen = set()

    def poll(consumers, until):
        deadline = time.monotonic() + 3 * TIMEOUT_SECONDS
        while not until():
            check(time.monotonic() < deadline, f"the group did not come so far; {len(seen)} messages seen")
            for consumer in consumers:
                for message in consumer.consume(num_messages=500, timeout=0.1):
                    check(message.error() is None, f"member: {message.error()}")
                    check(message.key() not in seen, f"{message.key()} came to the group twice")
                    seen.add(message.key())

    first, second = member(), member()
    poll([first, second], lambda: len(first.assignment()) == len(second.assignment()) == PARTITIONS // 2)
    poll([first, second], lambda: len(seen) == len(acknowledged))
    first.close()
    poll([second], lambda: len(second.assignment()) == PARTITIONS)
    again = member()
    poll([second, again], lambda: len(second.assignment()) == len(again.assignment()) == PARTITIONS // 2)
    second.close()
    poll([again], lambda: len(again.assignment()) == PARTITIONS)
    committed = again.committed([TopicPartition(topic, p) for p in range(PARTITIONS)], timeout=TIMEOUT_SECONDS)
    check(sum(one.offset for one in committed) == len(acknowledged), f"committed: {committed}")
    again.close()
    return group


def look_after_groups(admin, groups):
    listed = {one.group_id for one in admin.list_consumer_groups().result(timeout=TIMEOUT_SECONDS).valid}
    check(set(groups.values()) <= listed, f"listed: {listed}")
    for protocol, group in groups.items():
        described = only(admin.describe_consumer_groups([group]))
        check(described.type.name.lower() == protocol, f"{group} is {described.type}")
        check(not described.members, f"members of {group}: {described.members}")
    for future in admin.delete_consumer_groups(list(groups.values())).values():
        future.result(timeout=TIMEOUT_SECONDS)


def transact(topic):
    """Copies messages in transactions, with the offsets that were read: what is committed is there once, the rest never."""
    group = f"copiers-of-{topic}"
    copies = f"{topic}-copies"
    admin = AdminClient({**CONNECTION})
    only(admin.create_topics([NewTopic(copies, num_partitions=2, replication_factor=1)]))

    def producer():
        one = Producer({**CONNECTION, "transactional.id": f"copier-of-{topic}"})
        one.init_transactions(TIMEOUT_SECONDS)
        return one

    consumer = Consumer(
        {
            **CONNECTION,
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    consumer.subscribe([topic])
    old = producer()
    rounds = 0
    copied = []
    deadline = time.monotonic() + 3 * TIMEOUT_SECONDS
    while len(copied) < 3 * COPIES_PER_TRANSACTION:
        check(time.monotonic() < deadline, f"the copier did not come so far; {len(copied)} messages copied")
        messages = [one for one in consumer.consume(COPIES_PER_TRANSACTION, timeout=1.0) if one.error() is None]
        if not messages:
            continue
        old.begin_transaction()
        for message in messages:
            old.produce(copies, key=message.key(), value=message.value())
        old.send_offsets_to_transaction(
            consumer.position(consumer.assignment()), consumer.consumer_group_metadata(), TIMEOUT_SECONDS
        )
        rounds += 1
        if rounds == 2:
            old.abort_transaction(TIMEOUT_SECONDS)
        else:
            old.commit_transaction(TIMEOUT_SECONDS)
            copied += [message.key() for message in messages]

    old.begin_transaction()
    old.produce(copies, key=b"of a fenced producer")
    old.flush(TIMEOUT_SECONDS)
    young = producer()
    young.begin_transaction()
    young.produce(copies, key=b"last")
    young.commit_transaction(TIMEOUT_SECONDS)
    try:
        old.commit_transaction(TIMEOUT_SECONDS)
    except KafkaException as error:
        check(error.args[0].fatal(), f"a fenced producer: {error}")
    else:
        raise AssertionError("a fenced producer committed")
    consumer.close()

    reader = Consumer(
        {
            **CONNECTION,
            "group.id": "not-used",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
        }
    )
    reader.assign([TopicPartition(copies, partition, 0) for partition in range(2)])
    seen = []
    deadline = time.monotonic() + 3 * TIMEOUT_SECONDS
    while len(seen) < len(copied) + 1 and time.monotonic() < deadline:
        seen += [one.key() for one in reader.consume(500, timeout=1.0) if one.error() is None]
    reader.close()
    check(sorted(seen) == sorted(copied + [b"last"]), f"{len(copied)} copied, {len(seen)} read")
    only(admin.delete_topics([copies]))


def main():
    topic = f"librdkafka-{int(time.time() * 1000)}"
    admin = AdminClient({**CONNECTION})
    administer(admin, topic)
    acknowledged = produce(topic)
    consume(topic, acknowledged)
    groups = {protocol: consume_as_a_group(topic, acknowledged, protocol) for protocol in GROUP_PROTOCOLS}
    look_after_groups(admin, groups)
    transact(topic)

    ends = admin.list_offsets({TopicPartition(topic, 0): OffsetSpec.latest()})
    check(only(ends).offset == sum(1 for partition, _ in acknowledged.values() if partition == 0), "end offset")
    expect_error(
        KafkaError.TOPIC_EXCEPTION,
        lambda: only(admin.create_topics([NewTopic("../x", num_partitions=1, replication_factor=1)])),
    )
    only(admin.delete_topics([topic]))
    check(topic not in admin.list_topics(timeout=TIMEOUT_SECONDS).topics, "the deleted topic is still listed")
    print(
        f"librdkafka {confluent_kafka.libversion()[0]}: {len(acknowledged)} messages in {len(CODECS)} codecs, "
        "with and without idempotence, read back in full, alone and as groups of both protocols; copied in transactions"
    )


if __name__ == "__main__":
    main()
