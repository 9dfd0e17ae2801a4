package io.journalq.chaos.load;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Records which messages were acknowledged, by producer and partition, and compares them with what is read. Any thread.
 */
public final class Ledger {
    private static final int MOST_FINDINGS = 50;

    private final Map<String, Lane> lanes = new TreeMap<>();
    private final List<String> findings = new ArrayList<>();
    private final Promise promise;
    private long acknowledged;
    private long found;
    private String readFrom = "";

    /** The messages of one producer in one partition. */
    private static final class Lane {
        /**
         * Whether a producer sends here until the end of the run, so that each life of the broker must acknowledge a
         * message.
         */
        private boolean isExpected;

        private boolean isAcknowledgedInThisLife;
        private final BitSet acknowledged = new BitSet();
        /** Messages that were damaged on purpose, and may be missing. */
        private final BitSet damaged = new BitSet();

        private final Losses.AcknowledgedTimes times = new Losses.AcknowledgedTimes();
        /** Messages that were acknowledged when reading began, and that it must therefore find. */
        private BitSet due = new BitSet();

        private BitSet found = new BitSet();
        /** Messages that a reading has found. What can be read is written, so that no allowed loss takes it. */
        private final BitSet everFound = new BitSet();

        private long last = -1;
        /** What groups have read that read everything from the beginning, by their ids. */
        private final Map<String, GroupRead> groups = new TreeMap<>();

        private final String partition;
        private final Promise promise;

        Lane(String partition, Promise promise) {
            this.partition = partition;
            this.promise = promise;
        }
    }

    /** The messages of one producer in one partition that a group has read, perhaps several times. */
    private static final class GroupRead {
        private final BitSet numbers = new BitSet();
        private boolean isReported;

        /** Whether the group has read a later message, and not this one. */
        boolean skipped(int number) {
            return number < numbers.length() && !numbers.get(number);
        }
    }

    /**
     * What is promised to a producer.
     *
     * @param name begins each finding about lost messages; null for none
     * @param losses decides which losses are allowed; null if nothing may be lost
     * @param once whether its messages must be there at most once and in order
     */
    public record Promise(String name, Losses losses, boolean once) {
        private String finding(String what) {
            return name == null ? what : name + ": " + what;
        }
    }

    /** A ledger for a mode in which nothing may be lost. */
    public Ledger() {
        this(null);
    }

    /**
     * A ledger for a mode that allows losses.
     *
     * @param losses decides which losses are allowed; null for none. If losses are allowed, messages may also be
     *     duplicated or out of order, because a producer cannot know which of its messages were kept.
     */
    public Ledger(Losses losses) {
        this.promise = new Promise(null, losses, losses == null);
    }

    private Lane lane(String partition, int producer) {
        return lanes.computeIfAbsent(name(partition, producer), name -> new Lane(partition, promise));
    }

    private static String name(String partition, int producer) {
        return partition + " producer " + producer;
    }

    /** Says what is promised to a producer in a partition, before it begins to send. */
    public synchronized void promise(String partition, int producer, Promise toProducer) {
        lanes.put(name(partition, producer), new Lane(partition, toProducer));
    }

    /** A producer begins to send to a partition, and continues until the end. */
    public synchronized void onProducing(String partition, int producer) {
        lane(partition, producer).isExpected = true;
    }

    /** The broker was started. */
    public synchronized void onStarted() {
        lanes.values().forEach(lane -> lane.isAcknowledgedInThisLife = false);
    }

    /** Names of the partitions and producers without an acknowledgement since {@link #onStarted}. */
    public synchronized List<String> waiting() {
        List<String> names = new ArrayList<>();
        lanes.forEach((name, lane) -> {
            if (lane.isExpected && !lane.isAcknowledgedInThisLife) {
                names.add(name);
            }
        });
        return names;
    }

    public synchronized void onAcknowledged(String partition, int producer, long number) {
        Lane lane = lane(partition, producer);
        lane.isAcknowledgedInThisLife = true;
        if (!lane.acknowledged.get((int) number)) {
            lane.acknowledged.set((int) number);
            lane.times.add((int) number);
            acknowledged++;
        }
    }

    /** Messages were damaged on purpose. From now on, they may be missing. */
    public synchronized void onDamaged(String partition, List<Payload> messages) {
        messages.forEach(message -> lane(partition, message.producer()).damaged.set((int) message.number()));
    }

    /** A group that reads everything from the beginning has read a message. */
    public synchronized void onRead(String group, String partition, Payload message) {
        lane(partition, message.producer())
                .groups
                .computeIfAbsent(group, name -> new GroupRead())
                .numbers
                .set((int) message.number());
    }

    /** A producer's messages are in order: a group that has read a later one does not read this one any more. */
    private void checkGroups(Lane lane, String where, Payload found) {
        int number = (int) found.number();
        lane.groups.forEach((group, read) -> {
            if (read.skipped(number) && !lane.damaged.get(number) && !read.isReported) {
                read.isReported = true;
                report(where + " holds " + found + ", which " + group + " has skipped");
            }
        });
    }

    /** Begins a new reading of all partitions. */
    public synchronized void beginReading() {
        beginReading("", null);
    }

    /**
     * Begins a new reading.
     *
     * @param from begins the findings of this reading, as in {@code "broker 2: "}
     * @param partitions that are read; null for all
     */
    public synchronized void beginReading(String from, Set<String> partitions) {
        found = 0;
        readFrom = from;
        for (Lane lane : lanes.values()) {
            boolean isRead = partitions == null || partitions.contains(lane.partition);
            lane.due = isRead ? (BitSet) lane.acknowledged.clone() : new BitSet();
            lane.found = new BitSet();
            lane.last = -1;
        }
    }

    public synchronized void onFound(String partition, long offset, byte[] value) {
        Payload payload = Payload.decode(value);
        String where = readFrom + partition + " offset " + offset;
        if (payload == null) {
            report(where + " holds a record that no producer sent");
            return;
        }
        Lane lane = lane(partition, payload.producer());
        found++;
        if (!lane.promise.once()) {
            lane.found.set((int) payload.number());
            return;
        }
        if (lane.found.get((int) payload.number())) {
            report(once(lane, where + " holds a duplicate of " + payload));
        } else if (payload.number() < lane.last) {
            report(once(lane, where + " holds " + payload + " after number " + lane.last));
        }
        lane.found.set((int) payload.number());
        lane.last = payload.number();
        checkGroups(lane, where, payload);
    }

    private static String once(Lane lane, String what) {
        return lane.promise.name() == null ? what : "AppendedOnceAndInOrder: " + what;
    }

    /** Ends a reading. Messages that were acknowledged before it and were not found are lost. */
    public synchronized void endReading() {
        lanes.forEach((name, lane) -> {
            BitSet missing = (BitSet) lane.due.clone();
            missing.andNot(lane.found);
            missing.andNot(lane.damaged);
            Promise kept = lane.promise;
            BitSet foundBefore = (BitSet) missing.clone();
            foundBefore.and(lane.everFound);
            lane.everFound.or(lane.found);
            if (kept.losses() != null) {
                missing.andNot(foundBefore);
                kept.losses()
                        .takeAllowed(
                                missing,
                                lane.times,
                                lane.acknowledged,
                                what -> report(kept.finding(readFrom + name + ": " + what)));
                missing.or(foundBefore);
            }
            if (!missing.isEmpty()) {
                report(kept.finding(readFrom + name + ": " + missing.cardinality()
                        + " acknowledged messages are lost, the first has number " + missing.nextSetBit(0)));
            }
        });
    }

    /**
     * Does work. An exception or error that it throws is a finding, beside those before it.
     *
     * @param what the work, for the finding
     * @return whether the work is complete
     */
    public boolean attempt(String what, ClientThreads.Work work) throws InterruptedException {
        try {
            work.run();
            return true;
        } catch (InterruptedException interrupted) {
            throw interrupted;
        } catch (Exception | Error failure) {
            // Where a defect of this program is. The finding does not say it, and is dropped after many others.
            failure.printStackTrace();
            StringBuilder text = new StringBuilder(what + " failed: " + failure);
            for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
                text.append(", caused by ").append(cause);
            }
            report(text.toString());
            return false;
        }
    }

    public synchronized void report(String finding) {
        if (findings.size() < MOST_FINDINGS && !findings.contains(finding)) {
            findings.add(finding);
        }
    }

    /** The findings so far; empty if everything is as guaranteed. */
    public synchronized List<String> findings() {
        return List.copyOf(findings);
    }

    public synchronized long acknowledgedCount() {
        return acknowledged;
    }

    public synchronized long foundCount() {
        return found;
    }
}
