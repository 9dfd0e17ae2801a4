// Topic administration, produce and consumer groups with kafkajs against the broker at $JOURNALQ_BOOTSTRAP.
const { Kafka, CompressionTypes, logLevel } = require('kafkajs');

const PARTITIONS = 3;
const COUNT = 1000;
const LIMIT_MS = 60000;

function check(holds, what) {
  if (!holds) {
    throw new Error(what);
  }
}

async function until(condition, what) {
  const deadline = Date.now() + LIMIT_MS;
  while (!condition()) {
    check(Date.now() < deadline, what());
    await new Promise((done) => setTimeout(done, 50));
  }
}

async function read(kafka, topic, groupId, seen, isDone) {
  const consumer = kafka.consumer({ groupId, sessionTimeout: 10000, rebalanceTimeout: 10000 });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  let joined = false;
  consumer.on(consumer.events.GROUP_JOIN, () => { joined = true; });
  await consumer.run({
    eachMessage: async ({ message }) => {
      const value = message.value.toString();
      check(!seen.has(value), `${value} came twice`);
      seen.set(value, message.key.toString());
    },
  });
  await until(() => joined && isDone(), () => `joined: ${joined}, ${seen.size} messages`);
  await consumer.disconnect();
}

async function main() {
  const kafka = new Kafka({
    clientId: 'smoke', brokers: [process.env.JOURNALQ_BOOTSTRAP], logLevel: logLevel.NOTHING,
  });
  const topic = `kafkajs-${Date.now()}`;
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: PARTITIONS }] });

  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();
  const messages = Array.from({ length: COUNT }, (_, i) => ({ key: `k${i}`, value: `v${i}` }));
  await producer.send({ topic, messages, compression: CompressionTypes.GZIP });
  await producer.disconnect();

  const groupId = `group-of-${topic}`;
  const seen = new Map();
  await read(kafka, topic, groupId, seen, () => seen.size === COUNT);
  for (let i = 0; i < COUNT; i++) {
    check(seen.get(`v${i}`) === `k${i}`, `message ${i} is missing`);
  }
  const [committed] = await admin.fetchOffsets({ groupId, topics: [topic] });
  const sum = committed.partitions.reduce((total, one) => total + Number(one.offset), 0);
  check(sum === COUNT, `committed: ${JSON.stringify(committed)}`);
  const again = new Map();
  const began = Date.now();
  await read(kafka, topic, groupId, again, () => Date.now() - began > 2000);
  check(again.size === 0, `${again.size} messages came again`);

  const described = await admin.describeGroups([groupId]);
  check(described.groups[0].state === 'Empty', `state: ${described.groups[0].state}`);
  await admin.deleteGroups([groupId]);
  await admin.deleteTopics({ topics: [topic] });
  await admin.disconnect();
  console.log(`kafkajs: ${COUNT} messages produced, read by a group, not read again`);
}

main().catch((error) => { console.error(error); process.exit(1); });
