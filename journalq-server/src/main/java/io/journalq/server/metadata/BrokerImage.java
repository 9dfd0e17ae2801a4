package io.journalq.server.metadata;

import io.journalq.server.config.ListenerAddress;
import io.journalq.server.metadata.index.SortedIndex;

/**
 * A broker of the cluster. Immutable.
 *
 * @param registration what it said when it registered
 * @param epoch offset of its registration in the metadata log
 * @param servedEpoch epoch of the last registration whose process was unfenced; the first one if none was. Processes that
 *     registered after that have acknowledged nothing
 * @param fenced whether it may not lead partitions, because it has not caught up or does not respond
 * @param leaving whether it is about to stop, so that it leads only what no other broker can lead
 * @param full whether a data directory has no room, so that it leads only what no broker with room can lead
 */
public record BrokerImage(
        BrokerRegistration registration, long epoch, long servedEpoch, boolean fenced, boolean leaving, boolean full) {
    /** No brokers, by node id. */
    static final SortedIndex<Integer, BrokerImage> NONE = SortedIndex.by(BrokerImage::nodeId);

    public int nodeId() {
        return registration.nodeId();
    }

    /** Where the broker is; empty if unknown. */
    public String rack() {
        return registration.rack();
    }

    /** Whether clients can use the broker. */
    public boolean isLive() {
        return !fenced;
    }

    /** Whether the broker is live, and not about to stop. */
    public boolean stays() {
        return !fenced && !leaving;
    }

    /** The same registration in another state. */
    BrokerImage in(boolean newFenced, boolean newLeaving) {
        return new BrokerImage(registration, epoch, newFenced ? servedEpoch : epoch, newFenced, newLeaving, full);
    }

    /** The same registration with or without room. */
    BrokerImage withFull(boolean newFull) {
        return new BrokerImage(registration, epoch, servedEpoch, fenced, leaving, newFull);
    }

    /** The same registration with its record at another offset. */
    BrokerImage at(long newEpoch) {
        return new BrokerImage(
                registration, newEpoch, servedEpoch == epoch ? newEpoch : servedEpoch, fenced, leaving, full);
    }

    /** The address of the listener with this name; null if there is none. Never that of another listener. */
    public ListenerAddress listener(String name) {
        for (ListenerAddress candidate : registration.listeners()) {
            if (candidate.name().equals(name)) {
                return candidate;
            }
        }
        return null;
    }
}
