"""An idempotent librdkafka producer while the broker is killed.

Creates a topic and the file $LOSSES_READY, sends until the file $LOSSES_STOP is there, then reads all back. Fails on an error, a duplicate or a message out of order; prints what was acknowledged and lost.
"""

import os
import pathlib
import time

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

BOOTSTRAP = os.environ["JOURNALQ_BOOTSTRAP"]
READY = pathlib.Path(os.environ["LOSSES_READY"])
STOP = os.environ["LOSSES_STOP"]
PARTITIONS = 3
TIMEOUT_SECONDS = 120
PAUSE_SECONDS = 0.001
MOST_UNDER_WAY = 1_000
# Long, so that every kill takes something.
WRITE_INTERVAL_MS = 200


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def send(topic):
    """Numbers of the acknowledged messages, by partition."""
    fatal = []
    acknowledged = {partition: set() for partition in range(PARTITIONS)}
    failed = []
    producer = Producer(
        {
            "bootstrap.servers": BOOTSTRAP,
            "enable.idempotence": True,
            "linger.ms": 1,
            "log_level": 2,
            "reconnect.backoff.max.ms": 200,
            "error_cb": lambda error: fatal.append(error) if error.fatal() else None,
        }
    )

    def delivered(partition, number):
        def tell(error, message):
            if error is None:
                acknowledged[partition].add(number)
            else:
                failed.append((partition, number, error))

        return tell

    number = 0
    while not os.path.exists(STOP):
        for partition in range(PARTITIONS):
            try:
                producer.produce(topic, str(number), partition=partition, on_delivery=delivered(partition, number))
            except KafkaException as refused:
                raise AssertionError(f"the producer has ended: {refused}, {fatal}, {failed[:3]}") from refused
        number += 1
        producer.poll(PAUSE_SECONDS)
        while len(producer) > MOST_UNDER_WAY:
            producer.poll(0.1)
            check(not fatal, f"fatal: {fatal}")
    check(producer.flush(TIMEOUT_SECONDS) == 0, "messages are left")
    check(not failed, f"failed: {failed[:3]}")
    check(not fatal, f"fatal: {fatal}")
    return acknowledged


def read(topic, partition):
    consumer = Consumer({"bootstrap.servers": BOOTSTRAP, "group.id": "losses", "log_level": 2})
    try:
        _, end = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=TIMEOUT_SECONDS)
        consumer.assign([TopicPartition(topic, partition, 0)])
        numbers = []
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not numbers or numbers[-1][0] < end - 1:
            check(time.monotonic() < deadline, f"reading ends after {len(numbers)} of {end} messages")
            for message in consumer.consume(1_000, timeout=1):
                if message.error():
                    raise KafkaException(message.error())
                numbers.append((message.offset(), int(message.value())))
        return [number for _, number in numbers]
    finally:
        consumer.close()


def main():
    topic = f"losses-librdkafka-{time.time_ns()}"
    settings = {"delivery.mode": "performance", "write.interval.ms": str(WRITE_INTERVAL_MS)}
    admin = AdminClient({"bootstrap.servers": BOOTSTRAP, "log_level": 2})
    (made,) = admin.create_topics(
        [NewTopic(topic, num_partitions=PARTITIONS, replication_factor=1, config=settings)]
    ).values()
    made.result(timeout=TIMEOUT_SECONDS)
    READY.touch()
    acknowledged = send(topic)
    time.sleep(2 * WRITE_INTERVAL_MS / 1_000)
    lost = 0
    for partition in range(PARTITIONS):
        found = read(topic, partition)
        check(len(found) == len(set(found)), f"partition {partition} holds a message twice")
        check(found == sorted(found), f"partition {partition} is out of order")
        lost += len(acknowledged[partition] - set(found))
    total = sum(len(numbers) for numbers in acknowledged.values())
    check(lost > 0, "nothing was lost: this shows nothing")
    print(f"librdkafka: {total} messages acknowledged, {lost} of them lost with the broker, none twice or out of order")


main()
