"""A producer of librdkafka for `journalq-chaos failover --client`: sends until its input ends.

Arguments: bootstrap servers, topic, partitions, messages per second, time-out of a request in ms. Prints the number of
a partition when a message is acknowledged, at least every 5 ms.
"""

import sys
import threading
import time

from confluent_kafka import Producer

SERVERS, TOPIC = sys.argv[1:3]
PARTITIONS, PER_SECOND, REQUEST_TIMEOUT_MS = map(int, sys.argv[3:6])
TICK_SECONDS = 0.01
PRINT_SECONDS = 0.005
MOST_IN_FLIGHT = 90_000
VALUE = bytes(100)

stopping = threading.Event()
printed = [0.0] * PARTITIONS


def await_end_of_input():
    sys.stdin.read()
    stopping.set()


def delivered(error, message):
    now = time.monotonic()
    partition = message.partition()
    if error is None and now - printed[partition] >= PRINT_SECONDS:
        printed[partition] = now
        print(partition, flush=True)


threading.Thread(target=await_end_of_input, daemon=True).start()
producer = Producer(
    {
        "bootstrap.servers": SERVERS,
        "acks": "all",
        "enable.idempotence": True,
        "linger.ms": 5,
        "request.timeout.ms": REQUEST_TIMEOUT_MS,
        "socket.timeout.ms": REQUEST_TIMEOUT_MS,
        "socket.connection.setup.timeout.ms": REQUEST_TIMEOUT_MS,
        "reconnect.backoff.max.ms": 1_000,
        # The default is 5 min. The client finds the new leaders of a frozen broker earlier.
        "topic.metadata.refresh.interval.ms": 500,
        "log_level": 2,
        "on_delivery": delivered,
    }
)
began = time.monotonic()
sent = 0
while not stopping.is_set():
    due = int((time.monotonic() - began) * PER_SECOND)
    while sent < due and len(producer) < MOST_IN_FLIGHT:
        producer.produce(TOPIC, VALUE, partition=sent % PARTITIONS)
        sent += 1
    sent = due
    producer.poll(TICK_SECONDS)
