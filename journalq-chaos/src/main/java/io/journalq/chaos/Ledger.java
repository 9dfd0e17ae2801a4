package io.journalq.chaos;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What was acknowledged, by producer and partition, and what was found; compares the two. Any thread. */
final class Ledger {
    private static final int MOST_FINDINGS = 50;

    private final Map<String, Lane> lanes = new TreeMap<>();
    private final List<String> findings = new ArrayList<>();
    private final Losses losses;
    private long acknowledged;
    private long found;

    /** The messages of one producer in one partition. */
    private static final class Lane {
        /** Whether somebody sends here, so that every life of the broker must acknowledge something. */
        private boolean isExpected;

        private boolean isHeardInThisLife;
        private final BitSet acknowledged = new BitSet();
        /** What was damaged on purpose, and may be missing. */
        private final BitSet damaged = new BitSet();

        private final Losses.AcknowledgedTimes times = new Losses.AcknowledgedTimes();
        /** What had been acknowledged when the reading began, and so must be found by it. */
        private BitSet due = new BitSet();

        private BitSet found = new BitSet();
        private long last = -1;
    }

    /** Nothing may be lost. */
    Ledger() {
        this(null);
    }

    /**
     * Where something may be lost.
     *
     * @param losses what of it, null for nothing; where something may, a message may also be there again or out of order:
     *     its producer cannot know what is left of what it sent
     */
    Ledger(Losses losses) {
        this.losses = losses;
    }

    private Lane lane(String partition, int producer) {
        return lanes.computeIfAbsent(partition + " producer " + producer, name -> new Lane());
    }

    /** A producer begins to send to a partition, and goes on until the end. */
    synchronized void onProducing(String partition, int producer) {
        lane(partition, producer).isExpected = true;
    }

    /** The broker was started. */
    synchronized void onStarted() {
        lanes.values().forEach(lane -> lane.isHeardInThisLife = false);
    }

    /** Producers, each with its partition, that were not acknowledged anything since {@link #onStarted}. */
    synchronized List<String> waiting() {
        List<String> names = new ArrayList<>();
        lanes.forEach((name, lane) -> {
            if (lane.isExpected && !lane.isHeardInThisLife) {
                names.add(name);
            }
        });
        return names;
    }

    synchronized void onAcknowledged(String partition, int producer, long number) {
        Lane lane = lane(partition, producer);
        lane.isHeardInThisLife = true;
        if (!lane.acknowledged.get((int) number)) {
            lane.acknowledged.set((int) number);
            lane.times.add((int) number);
            acknowledged++;
        }
    }

    /** Messages were damaged on purpose: from now on they may be missing. */
    synchronized void onDamaged(String partition, List<Payload> messages) {
        messages.forEach(message -> lane(partition, message.producer()).damaged.set((int) message.number()));
    }

    /** Reading begins anew. */
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
            report(where + " holds what nobody sent");
            return;
        }
        Lane lane = lane(partition, payload.producer());
        found++;
        if (losses != null) {
            lane.found.set((int) payload.number());
            return;
        }
        if (lane.found.get((int) payload.number())) {
            report(where + " holds " + payload + " again");
        } else if (payload.number() < lane.last) {
            report(where + " holds " + payload + " behind number " + lane.last);
        }
        lane.found.set((int) payload.number());
        lane.last = payload.number();
    }

    /** All was read: what is missing of what was acknowledged before is lost. */
    synchronized void endReading() {
        lanes.forEach((name, lane) -> {
            BitSet missing = (BitSet) lane.due.clone();
            missing.andNot(lane.found);
            missing.andNot(lane.damaged);
            if (losses != null) {
                losses.takeAllowed(missing, lane.times, lane.acknowledged);
            }
            if (!missing.isEmpty()) {
                report(name + ": " + missing.cardinality() + " acknowledged messages are lost, the first is number "
                        + missing.nextSetBit(0));
            }
        });
    }

    synchronized void report(String finding) {
        if (findings.size() < MOST_FINDINGS) {
            findings.add(finding);
        }
    }

    /** What is wrong; nothing when all is well. */
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
