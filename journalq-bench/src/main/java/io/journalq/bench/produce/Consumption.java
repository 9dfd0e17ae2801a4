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
 * Consumers of a topic, each on its own thread. They divide the partitions among themselves, or form groups that each read
 * everything. They check that offsets are consecutive, also when a partition moves to another member, and compare a sample
 * of the values with the messages that were sent. Any thread may read the counters.
 */
final class Consumption {
    /** One message in 97 is compared byte by byte. 97 is a prime, so that every position in a batch is reached. */
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

    /** {@code sampleInterval}: one message in this number is compared byte by byte. */
    Consumption(PayloadPool pool, List<Long> startOffsets, int sampleInterval) {
        this.pool = pool;
        this.sampleInterval = sampleInterval;
        this.startOffsets = startOffsets;
    }

    /** Opens the consumers, each with its own partitions, and starts reading. */
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
     * Opens consumers as members of groups that start at the current end of the partitions. Returns when each member has its
     * partitions.
     *
     * @param consumers number of consumers in all groups together
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

    /** Waits until each member has at least its share and each partition has an owner in every group. */
    private void awaitShares(int smallestShare) throws InterruptedException {
        long deadlineNs = System.nanoTime() + JOIN_TIMEOUT_MS * 1_000_000L;
        while (!isShared(smallestShare)) {
            if (problem.get() != null || System.nanoTime() > deadlineNs) {
                running = false;
                throw new BenchException(
                        "the groups did not assign all partitions"
                                + (problem.get() == null ? " in time" : ": " + problem.get()),
                        "check the broker's log");
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

    /** The number of times that each message is read. */
    int copies() {
        return copies;
    }

    /** Stops the consumers when they have read {@code expected} messages or the time has passed. */
    void finish(long expected, long timeoutMs) throws InterruptedException {
        long deadlineNs = System.nanoTime() + timeoutMs * 1_000_000L;
        while (consumed.sum() < expected && problem.get() == null && System.nanoTime() < deadlineNs) {
            Thread.sleep(20);
        }
        running = false;
        if (!callers.join(timeoutMs)) {
            throw new BenchException("a consumer does not stop", "check the broker's log");
        }
    }

    /** Ends the consumers, without waiting for them. Has no effect after {@link #finish}. */
    void abandon() {
        running = false;
    }

    /** Records a problem; only the first is kept. Thread-safe. */
    void noteProblem(String what) {
        problem.compareAndSet(null, what);
    }

    long consumed() {
        return consumed.sum();
    }

    long verified() {
        return verified.sum();
    }

    /** The first problem; null if there was none. */
    String problem() {
        return problem.get();
    }

    /** A consumer and the loop of its thread. */
    private final class Member {
        private final MessageConsumer consumer;
        private final Reading reading;
        /** The number of assigned partitions. */
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
     * The next expected offset of each partition, for consumers that read every partition once together. A partition has
     * one reader at a time, so its entry has one writer. The broker hands a partition over after the previous reader has
     * stopped.
     */
    private final class Reading implements MessageConsumer.Visitor {
        private final long[] nextOffset =
                startOffsets.stream().mapToLong(Long::longValue).toArray();

        @Override
        public boolean onMessage(int partition, long offset) {
            if (offset != nextOffset[partition]) {
                noteProblem("partition " + partition + " returned offset " + offset + " after "
                        + (nextOffset[partition] - 1));
            }
            nextOffset[partition] = offset + 1;
            return offset % sampleInterval == 0;
        }

        @Override
        public void onValue(int partition, long offset, byte[] value) {
            if (!pool.holds(value)) {
                noteProblem("partition " + partition + " offset " + offset + " holds a message that was not sent");
            }
            verified.increment();
        }
    }
}
