package io.journalq.bench.produce;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ClientDriver;
import io.journalq.bench.driver.ClientDriver.ConsumerSettings;
import io.journalq.bench.driver.ClientDriver.GroupSettings;
import io.journalq.bench.driver.ClientDriver.MessageConsumer;
import io.journalq.bench.payload.PayloadPool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * Consumers of a topic, each on a thread of its own. They share the partitions by hand, or form groups, and each group
 * reads everything. They check that offsets are contiguous, also when a partition moves to another member, and compare a
 * sample of the values with what was sent. Counters may be read by any thread.
 */
final class Consumption {
    /** One message in so many is compared byte by byte; a prime, so that it meets every place in a batch. */
    static final int SAMPLE_INTERVAL = 97;

    private static final Duration POLL_TIMEOUT = Duration.ofMillis(200);
    private static final long JOIN_TIMEOUT_MS = 120_000;

    private final PayloadPool pool;
    private final int sampleInterval;
    private final List<Long> startOffsets;
    private final List<Member> members = new ArrayList<>();
    private final LongAdder consumed = new LongAdder();
    private final LongAdder verified = new LongAdder();
    private final AtomicReference<String> problem = new AtomicReference<>();
    private final Callers callers = new Callers(false);
    private int copies = 1;
    private volatile boolean running = true;

    /** One message in {@code sampleInterval} is compared byte by byte. */
    Consumption(PayloadPool pool, List<Long> startOffsets, int sampleInterval) {
        this.pool = pool;
        this.sampleInterval = sampleInterval;
        this.startOffsets = startOffsets;
    }

    /** Opens the consumers, each with partitions of its own, and lets them read. */
    void start(ClientDriver client, String bootstrap, String topic, int consumers, Map<String, String> clientSettings) {
        int count = Math.min(consumers, startOffsets.size());
        Reading reading = new Reading();
        for (int number = 0; number < count; number++) {
            Map<Integer, Long> own = new TreeMap<>();
            for (int partition = number; partition < startOffsets.size(); partition += count) {
                own.put(partition, startOffsets.get(partition));
            }
            start(client.openConsumer(new ConsumerSettings(bootstrap, topic, own, clientSettings)), reading, number);
        }
    }

    /**
     * Opens consumers as members of groups that go on where the partitions are now, and returns when each has its share.
     *
     * @param consumers in all groups together
     */
    void startGroups(
            ClientDriver client,
            String bootstrap,
            String topic,
            int groups,
            int consumers,
            Map<String, String> clientSettings)
            throws InterruptedException {
        copies = groups;
        int groupSize = Math.max(1, consumers / groups);
        Map<Integer, Long> starts = new TreeMap<>();
        for (int partition = 0; partition < startOffsets.size(); partition++) {
            starts.put(partition, startOffsets.get(partition));
        }
        for (int group = 0; group < groups; group++) {
            GroupSettings settings =
                    new GroupSettings(bootstrap, topic, topic + "-" + System.nanoTime() + "-" + group, clientSettings);
            client.commitStart(settings, starts);
            Reading reading = new Reading();
            for (int number = 0; number < groupSize; number++) {
                start(client.openMember(settings), reading, group * groupSize + number);
            }
        }
        awaitShares(startOffsets.size() / groupSize);
    }

    private void start(MessageConsumer consumer, Reading reading, int number) {
        Member member = new Member(consumer, reading);
        members.add(member);
        callers.start("consumer-" + number, member::read);
    }

    /** Whoever has less than its share gets more yet, and a partition that nobody has is on its way. */
    private void awaitShares(int smallestShare) throws InterruptedException {
        long deadlineNs = System.nanoTime() + JOIN_TIMEOUT_MS * 1_000_000L;
        while (!isShared(smallestShare)) {
            if (problem.get() != null || System.nanoTime() > deadlineNs) {
                running = false;
                throw new BenchException(
                        "the groups did not share the partitions out"
                                + (problem.get() == null ? " in time" : ": " + problem.get()),
                        "look at the broker's log");
            }
            Thread.sleep(20);
        }
    }

    private boolean isShared(int smallestShare) {
        long shared = 0;
        for (Member member : members) {
            if (member.share < smallestShare) {
                return false;
            }
            shared += member.share;
        }
        return shared == (long) copies * startOffsets.size();
    }

    /** How many times each message is read. */
    int copies() {
        return copies;
    }

    /** Lets the consumers read until there are {@code expected} messages or the time is up, then stops them. */
    void finish(long expected, long timeoutMs) throws InterruptedException {
        long deadlineNs = System.nanoTime() + timeoutMs * 1_000_000L;
        while (consumed.sum() < expected && problem.get() == null && System.nanoTime() < deadlineNs) {
            Thread.sleep(20);
        }
        running = false;
        if (!callers.join(timeoutMs)) {
            throw new BenchException("a consumer does not stop", "look at the broker's log");
        }
    }

    /** The first one stays. Any thread. */
    void noteProblem(String what) {
        problem.compareAndSet(null, what);
    }

    long consumed() {
        return consumed.sum();
    }

    long verified() {
        return verified.sum();
    }

    /** The first thing that was wrong; null when nothing was. */
    String problem() {
        return problem.get();
    }

    /** One consumer and its thread. */
    private final class Member {
        private final MessageConsumer consumer;
        private final Reading reading;
        /** How many partitions it has. */
        private volatile int share;

        private Member(MessageConsumer consumer, Reading reading) {
            this.consumer = consumer;
            this.reading = reading;
        }

        private void read() {
            try (consumer) {
                while (running) {
                    consumed.add(consumer.poll(POLL_TIMEOUT, reading));
                    int now = consumer.share();
                    if (now != share) {
                        share = now;
                    }
                }
            } catch (Exception failure) {
                noteProblem("a consumer failed: " + failure);
            }
        }
    }

    /**
     * One reading of all partitions. Each partition has one reader at a time, so its entry has one writer; who takes a
     * partition over takes it through the broker, after the one before.
     */
    private final class Reading implements MessageConsumer.Visitor {
        private final long[] nextOffset =
                startOffsets.stream().mapToLong(Long::longValue).toArray();

        @Override
        public boolean onMessage(int partition, long offset) {
            if (offset != nextOffset[partition]) {
                noteProblem(
                        "partition " + partition + " gave offset " + offset + " after " + (nextOffset[partition] - 1));
            }
            nextOffset[partition] = offset + 1;
            return offset % sampleInterval == 0;
        }

        @Override
        public void onValue(int partition, long offset, byte[] value) {
            if (!pool.holds(value)) {
                noteProblem("partition " + partition + " offset " + offset + " holds what nobody sent");
            }
            verified.increment();
        }
    }
}
