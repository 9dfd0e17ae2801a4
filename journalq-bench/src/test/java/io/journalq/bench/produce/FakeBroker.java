package io.journalq.bench.produce;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.driver.ClientDriver;
import io.journalq.bench.driver.ClientDriver.BatchProducer;
import io.journalq.bench.driver.ClientDriver.MessageConsumer;
import io.journalq.bench.driver.ClientDriver.Publisher;
import io.journalq.bench.driver.ClientDriver.SyncProducer;
import io.journalq.bench.driver.ConnectionSecurity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Broker and client in memory, with faults on request: what a run must notice. Any thread. */
final class FakeBroker implements BrokerDriver, ClientDriver {
    /** What goes wrong with every message whose number is a multiple of {@link #FAULT_INTERVAL}. */
    enum Fault {
        NONE,
        LOSE,
        DUPLICATE,
        DAMAGE,
        REFUSE,
        /** Every message. */
        DOWN,
        /** No message, but no producer can be opened. */
        NO_PRODUCER,
        /** No message, but all responses for a while, soon after the measuring has begun. */
        STALL
    }

    static final int FAULT_INTERVAL = 100;
    static final int STALL_BEGINS_MS = 200;
    static final int STALL_ENDS_MS = 1_000;

    private final Fault fault;
    /** Null if there are none. */
    private final String metricsAddress;

    private final Map<String, List<List<byte[]>>> topics = new HashMap<>();
    private final Map<String, Group> groups = new HashMap<>();
    private long readByMembers;
    private long messages;
    private long refusals;
    private final Semaphore closedConsumers = new Semaphore(0);
    private volatile long measuringNs = Long.MAX_VALUE;

    /** Where a group is; its number of members is written under the broker's monitor. */
    private static final class Group {
        private final Map<Integer, Long> positions;
        private volatile int members;

        private Group(Map<Integer, Long> positions) {
            this.positions = positions;
        }

        private List<Integer> shareOf(int number) {
            return positions.keySet().stream()
                    .filter(partition -> partition % members == number)
                    .toList();
        }
    }

    FakeBroker(Fault fault) {
        this(fault, null);
    }

    /** @param metricsAddress {@code host:port} of its metrics; null if there are none */
    FakeBroker(Fault fault, String metricsAddress) {
        this.fault = fault;
        this.metricsAddress = metricsAddress;
    }

    /** How often a message was refused. */
    synchronized long refusals() {
        return refusals;
    }

    /** Has a permit for each consumer that was closed. */
    Semaphore closedConsumers() {
        return closedConsumers;
    }

    private synchronized long append(String topic, int partition, byte[] value) {
        List<byte[]> journal = topics.get(topic).get(partition);
        boolean hit = messages++ % FAULT_INTERVAL == 0;
        if (fault == Fault.DOWN || (hit && fault == Fault.REFUSE)) {
            refusals++;
            throw new IllegalStateException("refused");
        }
        if (hit && fault == Fault.DAMAGE) {
            byte[] damaged = value.clone();
            damaged[damaged.length - 1] ^= 1;
            journal.add(damaged);
        } else if (!hit || fault != Fault.LOSE) {
            journal.add(value);
        }
        if (hit && fault == Fault.DUPLICATE) {
            journal.add(value);
        }
        return journal.size() - 1L;
    }

    @Override
    public String name() {
        return "fake";
    }

    @Override
    public String version() {
        return "1";
    }

    @Override
    public void start() {}

    @Override
    public ConnectionSecurity security() {
        return ConnectionSecurity.NONE;
    }

    @Override
    public String bootstrap() {
        return "memory:1";
    }

    @Override
    public boolean isInSync(String topic) {
        return true;
    }

    @Override
    public long pid() {
        return 0;
    }

    @Override
    public Optional<String> metricsAddress() {
        return Optional.ofNullable(metricsAddress);
    }

    @Override
    public Map<String, String> settings() {
        return Map.of();
    }

    @Override
    public void freeze() {}

    @Override
    public void thaw() {}

    @Override
    public synchronized void createTopic(String topic, int partitions, Map<String, String> settings) {
        List<List<byte[]>> journals = new ArrayList<>();
        IntStream.range(0, partitions).forEach(partition -> journals.add(new ArrayList<>()));
        topics.putIfAbsent(topic, journals);
    }

    @Override
    public synchronized int partitionCount(String topic) {
        return topics.get(topic).size();
    }

    @Override
    public synchronized void deleteTopic(String topic) {
        topics.remove(topic);
    }

    @Override
    public synchronized List<Long> startOffsets(String topic, int partitions) {
        return topics.get(topic).stream().map(journal -> 0L).toList();
    }

    @Override
    public synchronized List<Long> endOffsets(String topic, int partitions) {
        return topics.get(topic).stream().map(journal -> (long) journal.size()).toList();
    }

    @Override
    public synchronized long storedBytes(String topic) {
        return topics.get(topic).stream()
                .flatMap(List::stream)
                .mapToLong(value -> value.length)
                .sum();
    }

    @Override
    public synchronized Set<String> topics() {
        return Set.copyOf(topics.keySet());
    }

    @Override
    public void close() {}

    /** Called right before the measuring begins. */
    @Override
    public void writeBack() {
        measuringNs = System.nanoTime();
    }

    /** Waits, because a real broker keeps its callers waiting, too. */
    private void respond() throws InterruptedException {
        Thread.sleep(1);
        long sinceMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - measuringNs);
        if (fault == Fault.STALL && sinceMs >= STALL_BEGINS_MS && sinceMs < STALL_ENDS_MS) {
            Thread.sleep(STALL_ENDS_MS - sinceMs);
        }
    }

    @Override
    public SyncProducer openSyncProducer(ProducerSettings settings) {
        return new SyncProducer() {
            @Override
            public long send(int partition, byte[] value) throws InterruptedException {
                respond();
                return append(settings.topic(), partition, value);
            }

            @Override
            public void close() {}
        };
    }

    @Override
    public BatchProducer openBatchProducer(ProducerSettings settings) {
        if (fault == Fault.NO_PRODUCER) {
            throw new BenchException("no producer", "this is a test");
        }
        return new BatchProducer() {
            @Override
            public void send(int partition, List<byte[]> values, Listener listener) throws InterruptedException {
                respond();
                for (byte[] value : values) {
                    append(settings.topic(), partition, value);
                }
                listener.onComplete(null);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
    }

    @Override
    public Publisher openPublisher(ProducerSettings settings) {
        throw new UnsupportedOperationException("no case of produce sends so");
    }

    @Override
    public MessageConsumer openConsumer(ConsumerSettings settings) {
        Map<Integer, Long> positions = new TreeMap<>(settings.startOffsets());
        return new MessageConsumer() {
            @Override
            public int poll(Duration timeout, Visitor visitor) throws InterruptedException {
                Thread.sleep(1);
                int count = 0;
                for (Map.Entry<Integer, Long> position : positions.entrySet()) {
                    for (byte[] value : newMessages(settings.topic(), position.getKey(), position.getValue())) {
                        long offset = position.getValue();
                        if (visitor.onMessage(position.getKey(), offset)) {
                            visitor.onValue(position.getKey(), offset, value);
                        }
                        position.setValue(offset + 1);
                        count++;
                    }
                }
                return count;
            }

            @Override
            public int share() {
                return positions.size();
            }

            @Override
            public void close() {
                closedConsumers.release();
            }
        };
    }

    @Override
    public synchronized void commitStart(GroupSettings settings, Map<Integer, Long> offsets) {
        groups.put(settings.group(), new Group(new TreeMap<>(offsets)));
    }

    /** Members share by number; who joins changes who has what at once. */
    @Override
    public synchronized MessageConsumer openMember(GroupSettings settings) {
        Group group = groups.get(settings.group());
        int number = group.members++;
        return new MessageConsumer() {
            @Override
            public int poll(Duration timeout, Visitor visitor) throws InterruptedException {
                Thread.sleep(1);
                return read(group, number, settings.topic(), visitor);
            }

            @Override
            public int share() {
                return group.shareOf(number).size();
            }

            @Override
            public void close() {}
        };
    }

    private synchronized int read(Group group, int number, String topic, MessageConsumer.Visitor visitor) {
        int count = 0;
        for (int partition : group.shareOf(number)) {
            for (byte[] value : newMessages(topic, partition, group.positions.get(partition))) {
                long offset = group.positions.get(partition);
                if (visitor.onMessage(partition, offset)) {
                    visitor.onValue(partition, offset, value);
                }
                group.positions.put(partition, offset + 1);
                count++;
            }
        }
        readByMembers += count;
        return count;
    }

    /** Messages that members of groups read. */
    synchronized long readByMembers() {
        return readByMembers;
    }

    private synchronized List<byte[]> newMessages(String topic, int partition, long from) {
        List<byte[]> journal = topics.get(topic).get(partition);
        return List.copyOf(journal.subList((int) from, journal.size()));
    }
}
