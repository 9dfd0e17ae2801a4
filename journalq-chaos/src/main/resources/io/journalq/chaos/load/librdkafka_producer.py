"""A producer of librdkafka (confluent-kafka) for journalq-chaos.

Sends numbered messages to all partitions of a topic in turn until its input ends, then waits for what is in flight. It
prints "PARTITION NUMBER" for each message that is acknowledged, and "failed ..." for each other one.

Arguments: bootstrap servers, topic, number of partitions, id of the producer, pause in ms, request time-out in ms, and
whether it is idempotent (true or false). A message is a producer, a number, a CRC-32C and a filler, as in Payload.java.
"""

import struct
import sys
import threading
import time

from confluent_kafka import Producer

SERVERS, TOPIC = sys.argv[1:3]
PARTITIONS, PRODUCER, PAUSE_MS, REQUEST_TIMEOUT_MS = map(int, sys.argv[3:7])
IDEMPOTENT = sys.argv[7] == "true"
MOST_FILLER_BYTES = 200
MOST_IN_FLIGHT = 500
DELIVERY_TIMEOUT_MS = 600_000

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def payload(number):
    head = struct.pack(">iq", PRODUCER, number)
    size = (number * 31 + PRODUCER) % MOST_FILLER_BYTES
    filler = bytes(ord("a") + (number + i) % 26 for i in range(size))
    return head + struct.pack(">I", crc32c(head + filler)) + filler


stopping = threading.Event()


def await_end_of_input():
    sys.stdin.read()
    stopping.set()


threading.Thread(target=await_end_of_input, daemon=True).start()
producer = Producer(
    {
        "bootstrap.servers": SERVERS,
        "acks": "all",
        "enable.idempotence": IDEMPOTENT,
        # With more, an error of one partition makes librdkafka repeat messages of others under a new producer epoch,
        # although they may have been appended: https://github.com/confluentinc/librdkafka/issues/4953
        "max.in.flight.requests.per.connection": 1,
        "linger.ms": 2,
        "request.timeout.ms": REQUEST_TIMEOUT_MS,
        "socket.timeout.ms": max(REQUEST_TIMEOUT_MS + 1_000, 3_000),
        "message.timeout.ms": DELIVERY_TIMEOUT_MS,
        "reconnect.backoff.max.ms": 200,
        "log_level": 2,
        "topic.metadata.refresh.interval.ms": 5_000,
    }
)


def on_delivery(partition, number):
    def report(error, message):
        print(f"failed {partition} {number}: {error}" if error else f"{partition} {number}", flush=True)

    return report


number = 0
while not stopping.is_set():
    for partition in range(PARTITIONS):
        while len(producer) > MOST_IN_FLIGHT:
            producer.poll(0.1)
        producer.produce(TOPIC, payload(number), partition=partition, on_delivery=on_delivery(partition, number))
        producer.poll(0)
        time.sleep(PAUSE_MS / 1_000)
    number += 1
producer.flush()
