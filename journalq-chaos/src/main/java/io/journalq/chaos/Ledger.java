package io.journalq.chaos;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Records which messages were acknowledged, by producer and partition, and compares them with what is read. Any thread.
 */
final class Ledger {
    private static final int MOST_FINDINGS = 50;

    private final Map<String, Lane> lanes = new TreeMap<>();
    private final List<String> findings = new ArrayList<>();
    private final Losses losses;
    private long acknowledged;
    private long found;

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
        private long last = -1;
    }

    /** A ledger for a mode in which nothing may be lost. */
    Ledger() {
        this(null);
    }

    /**
     * A ledger for a mode that allows losses.
     *
     * @param losses decides which losses are allowed; null for none. If losses are allowed, messages may also be
     *     duplicated or out of order, because a producer cannot know which of its messages were kept.
     */
    Ledger(Losses losses) {
        this.losses = losses;
    }

    private Lane lane(String partition, int producer) {
        return lanes.computeIfAbsent(partition + " producer " + producer, name -> new Lane());
    }

    /** A producer begins to send to a partition, and continues until the end. */
    synchronized void onProducing(String partition, int producer) {
        lane(partition, producer).isExpected = true;
    }

    /** The broker was started. */
    synchronized void onStarted() {
        lanes.values().forEach(lane -> lane.isAcknowledgedInThisLife = false);
    }

    /** Names of the partitions and producers without an acknowledgement since {@link #onStarted}. */
    synchronized List<String> waiting() {
        List<String> names = new ArrayList<>();
        lanes.forEach((name, lane) -> {
            if (lane.isExpected && !lane.isAcknowledgedInThisLife) {
                names.add(name);
            }
        });
        return names;
    }

    synchronized void onAcknowledged(String partition, int producer, long number) {
        Lane lane = lane(partition, producer);
        lane.isAcknowledgedInThisLife = true;
        if (!lane.acknowledged.get((int) number)) {
            lane.acknowledged.set((int) number);
            lane.times.add((int) number);
            acknowledged++;
        }
    }

    /** Messages were damaged on purpose. From now on, they may be missing. */
    synchronized void onDamaged(String partition, List<Payload> messages) {
        messages.forEach(message -> lane(partition, message.producer()).damaged.set((int) message.number()));
    }

    /** Begins a new reading. */
    synchronized void beginReading() {
        found = 0;
        for (Lane lane : lanes.values()) {
            lane.due = (BitSet) lane.acknowledged.clone();
            lane.found = new BitSet();
            lane.last = -1;
        }
    }

    synchronized void onFound(String partition, long offset, byte[] value) {
        Payload payload = Payload.decode(value);
        String where = partition + " offset " + offset;
        if (payload == null) {
            report(where + " holds a record that no producer sent");
            return;
        }
        Lane lane = lane(partition, payload.producer());
        found++;
        if (losses != null) {
            lane.found.set((int) payload.number());
            return;
        }
        if (lane.found.get((int) payload.number())) {
            report(where + " holds a duplicate of " + payload);
        } else if (payload.number() < lane.last) {
            report(where + " holds " + payload + " after number " + lane.last);
        }
        lane.found.set((int) payload.number());
        lane.last = payload.number();
    }

    /** Ends a reading. Messages that were acknowledged before it and were not found are lost. */
    synchronized void endReading() {
        lanes.forEach((name, lane) -> {
            BitSet missing = (BitSet) lane.due.clone();
            missing.andNot(lane.found);
            missing.andNot(lane.damaged);
            if (losses != null) {
                losses.takeAllowed(missing, lane.times, lane.acknowledged);
            }
            if (!missing.isEmpty()) {
                report(name + ": " + missing.cardinality() + " acknowledged messages are lost, the first has number "
                        + missing.nextSetBit(0));
            }
        });
    }

    synchronized void report(String finding) {
        if (findings.size() < MOST_FINDINGS) {
            findings.add(finding);
        }
    }

    /** The findings so far; empty if everything is as guaranteed. */
    synchronized List<String> findings() {
        return List.copyOf(findings);
    }

    synchronized long acknowledgedCount() {
        return acknowledged;
    }

    synchronized long foundCount() {
        return found;
    }
}
