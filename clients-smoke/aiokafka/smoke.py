"""Topic administration, produce, consume, a consumer group and transactions with aiokafka against $JOURNALQ_BOOTSTRAP."""

import asyncio
import os
import time

import aiokafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import ProducerFenced

BOOTSTRAP = os.environ["JOURNALQ_BOOTSTRAP"]
PARTITIONS = 4
PER_CODEC = 500
CODECS = [None, "gzip", "snappy", "lz4", "zstd"]
PER_TRANSACTION = 100
LIMIT_SECONDS = 60


def check(holds, what):
    if not holds:
        raise AssertionError(what)


async def until(condition, what):
    deadline = time.monotonic() + LIMIT_SECONDS
    while not condition():
        check(time.monotonic() < deadline, what())
        await asyncio.sleep(0.05)


def partitions_of(topic):
    return [TopicPartition(topic, partition) for partition in range(PARTITIONS)]


async def produce(topic):
    acknowledged = {}
    for codec in CODECS:
        for idempotent in (False, True):
            async with AIOKafkaProducer(
                bootstrap_servers=BOOTSTRAP,
                acks="all",
                compression_type=codec,
                enable_idempotence=idempotent,
                linger_ms=5,
            ) as producer:
                sent = {}
                for number in range(PER_CODEC):
                    key = f"{codec}-{idempotent}-{number}".encode()
                    sent[key] = await producer.send(topic, key=key, value=b"value of " + key, headers=[("h", key)])
                for key, future in sent.items():
                    metadata = await asyncio.wait_for(future, LIMIT_SECONDS)
                    acknowledged[key] = (metadata.partition, metadata.offset)
    check(len(acknowledged) == 2 * PER_CODEC * len(CODECS), f"{len(acknowledged)} acknowledged")
    check(len(set(acknowledged.values())) == len(acknowledged), "an offset was given twice")
    return acknowledged


async def consume(topic, acknowledged):
    async with AIOKafkaConsumer(bootstrap_servers=BOOTSTRAP, check_crcs=True) as consumer:
        consumer.assign(partitions_of(topic))
        await consumer.seek_to_beginning()
        seen = {}
        deadline = time.monotonic() + LIMIT_SECONDS
        while len(seen) < len(acknowledged):
            check(time.monotonic() < deadline, f"{len(acknowledged)} acknowledged, {len(seen)} read")
            for records in (await consumer.getmany(timeout_ms=500)).values():
                for record in records:
                    check(record.key not in seen, f"{record.key} came twice")
                    check(record.value == b"value of " + record.key, "another value came back")
                    check(record.headers == (("h", record.key),), f"headers {record.headers}")
                    seen[record.key] = (record.partition, record.offset)
        check(seen == acknowledged, "read at other offsets than acknowledged")
        ends = await consumer.end_offsets(partitions_of(topic))
        check(sum(ends.values()) == len(acknowledged), f"end offsets {ends}")
        by_time = await consumer.offsets_for_times({TopicPartition(topic, 0): 0})
        check(by_time[TopicPartition(topic, 0)].offset == 0, f"offset for time 0: {by_time}")


class Member:
    """A member of a group with a task that reads; what came is in `seen`, shared with the other members."""

    def __init__(self, topic, group, seen):
        self.seen = seen
        self.uncommitted = 0
        self.consumer = AIOKafkaConsumer(
            topic,
            bootstrap_servers=BOOTSTRAP,
            group_id=group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=10_000,
        )

    async def start(self):
        await self.consumer.start()
        self.reading = asyncio.create_task(self.read())
        return self

    async def read(self):
        while True:
            for records in (await self.consumer.getmany(timeout_ms=200)).values():
                for record in records:
                    check(record.key not in self.seen, f"{record.key} came to the group twice")
                    self.seen.add(record.key)
                    self.uncommitted += 1
            if self.uncommitted:
                await self.consumer.commit()
                self.uncommitted = 0

    def owned(self):
        check(not self.reading.done(), "a member stopped reading")
        return len(self.consumer.assignment())

    async def stop(self):
        self.reading.cancel()
        await asyncio.wait([self.reading])
        if not self.reading.cancelled() and self.reading.exception():
            raise self.reading.exception()
        await self.consumer.stop()


async def consume_as_a_group(topic, acknowledged):
    """Two members share the partitions, one goes and comes again; nothing comes twice but what was not committed."""
    group = f"group-of-{topic}"
    seen = set()
    first = await Member(topic, group, seen).start()
    await until(
        lambda: len(seen) == len(acknowledged) and not first.uncommitted,
        lambda: f"{len(seen)} messages came to the group",
    )
    second = await Member(topic, group, seen).start()
    await until(lambda: first.owned() == second.owned() == PARTITIONS // 2, lambda: "two members do not share")
    await second.stop()
    await until(lambda: first.owned() == PARTITIONS, lambda: "partitions of a member that left were not taken over")
    again = await Member(topic, group, seen).start()
    await until(lambda: first.owned() == again.owned() == PARTITIONS // 2, lambda: "a member that came again has none")
    await first.stop()
    await until(lambda: again.owned() == PARTITIONS, lambda: "partitions of a member that left were not taken over")
    committed = [await again.consumer.committed(partition) or 0 for partition in partitions_of(topic)]
    check(sum(committed) == len(acknowledged), f"committed: {committed}")
    await again.stop()
    check(seen == set(acknowledged), "other messages came to the group")
    return group


async def transact(topic):
    """Copies in transactions with the offsets that were read; of two producers with one id, the younger goes on."""
    copies = f"{topic}-copies"
    group = f"copiers-of-{topic}"

    async def producer():
        one = AIOKafkaProducer(bootstrap_servers=BOOTSTRAP, transactional_id=f"copier-of-{topic}")
        await one.start()
        return one

    source = TopicPartition(topic, 0)
    reader = AIOKafkaConsumer(bootstrap_servers=BOOTSTRAP, isolation_level="read_committed")
    await reader.start()
    reader.assign([source])
    reader.seek(source, 0)
    old = await producer()
    expected = []
    for attempt in ("committed", "aborted", "committed"):
        records = []
        while len(records) < PER_TRANSACTION:
            came = await reader.getmany(timeout_ms=1_000, max_records=PER_TRANSACTION - len(records))
            records += came.get(source, [])
        await old.begin_transaction()
        for record in records:
            await old.send(copies, key=record.key, value=record.value, partition=0)
        await old.send_offsets_to_transaction({source: records[-1].offset + 1}, group)
        if attempt == "committed":
            await old.commit_transaction()
            expected += [record.key for record in records]
            read_to = records[-1].offset + 1
        else:
            await old.abort_transaction()
    await reader.stop()

    await old.begin_transaction()
    await (await old.send(copies, key=b"of a fenced producer", partition=0))
    young = await producer()
    async with young.transaction():
        await young.send(copies, key=b"last", partition=0)
    await young.stop()
    try:
        await old.commit_transaction()
    except ProducerFenced:
        pass
    else:
        raise AssertionError("a fenced producer committed")
    await old.stop()

    copy = TopicPartition(copies, 0)
    async with AIOKafkaConsumer(
        bootstrap_servers=BOOTSTRAP, group_id=group, enable_auto_commit=False, isolation_level="read_committed"
    ) as checker:
        checker.assign([copy])
        checker.seek(copy, 0)
        seen = []
        deadline = time.monotonic() + LIMIT_SECONDS
        while b"last" not in seen:
            check(time.monotonic() < deadline, f"{len(seen)} copies seen of {len(expected)}")
            for records in (await checker.getmany(timeout_ms=500)).values():
                seen += [record.key for record in records]
        check(seen == expected + [b"last"], f"{len(expected)} copied, {len(seen)} read")
        check(await checker.committed(source) == read_to, "the offsets of the transactions are not committed")


async def main():
    topic = f"aiokafka-{int(time.time() * 1000)}"
    names = [topic, f"{topic}-copies"]
    admin = AIOKafkaAdminClient(bootstrap_servers=BOOTSTRAP)
    await admin.start()
    await admin.create_topics([NewTopic(name, num_partitions=PARTITIONS, replication_factor=1) for name in names])
    (described,) = await admin.describe_topics([topic])
    check(len(described["partitions"]) == PARTITIONS, f"described: {described}")

    acknowledged = await produce(topic)
    await consume(topic, acknowledged)
    group = await consume_as_a_group(topic, acknowledged)
    await transact(topic)

    offsets = await admin.list_consumer_group_offsets(group)
    check(sum(one.offset for one in offsets.values()) == len(acknowledged), f"offsets of the group: {offsets}")
    check(group in [listed[0] for listed in await admin.list_consumer_groups()], "the group is not listed")
    await admin.delete_topics(names)
    check(topic not in await admin.list_topics(), "the deleted topic is still listed")
    await admin.close()
    print(
        f"aiokafka {aiokafka.__version__}: {len(acknowledged)} messages in {len(CODECS)} codecs, with and without "
        "idempotence, read back alone and as a group; copied in transactions"
    )


if __name__ == "__main__":
    asyncio.run(main())
