package io.journalq.server.metadata;

import io.journalq.common.id.Uuid;
import io.journalq.server.config.ListenerAddress;
import java.util.Collections;
import java.util.List;

/**
 * What a broker says about itself when it joins the cluster. Immutable.
 *
 * @param nodeId id of the broker in the cluster
 * @param incarnationId id of the broker's process
 * @param listeners the addresses that it advertises, at least one; an address for every interface stands for the one at
 *     which a client reached the broker
 * @param rack where the broker is; brokers of the same rack can fail together. Empty if unknown
 * @param features the levels of features that it supports
 * @param logDirectories ids of its data directories
 */
public record BrokerRegistration(
        int nodeId,
        Uuid incarnationId,
        List<ListenerAddress> listeners,
        String rack,
        List<FeatureLevels> features,
        List<Uuid> logDirectories) {
    public BrokerRegistration {
        listeners = List.copyOf(listeners);
        features = List.copyOf(features);
        logDirectories = List.copyOf(logDirectories);
    }

    /**
     * What a broker says instead of the epoch of its last registration, if its machine went down after that and it still
     * has what was on its disks. A number that is no epoch.
     */
    public static long afterPowerLoss(long epoch) {
        return -2 - epoch;
    }

    /** The supported levels of a feature. */
    public record FeatureLevels(String name, short lowest, short highest) {}

    /** Whether {@code other} has none of the data directories. False if those of one of the two are unknown. */
    boolean isOfOtherDisks(BrokerRegistration other) {
        return !logDirectories.isEmpty()
                && !other.logDirectories.isEmpty()
                && Collections.disjoint(logDirectories, other.logDirectories);
    }

    /** Whether clients reach both at the same address. */
    boolean sharesAddress(BrokerRegistration other) {
        return !Collections.disjoint(listeners, other.listeners);
    }

    /** Whether {@code other} says the same, possibly in another process. */
    boolean matches(BrokerRegistration other) {
        return equals(new BrokerRegistration(
                other.nodeId, incarnationId, other.listeners, other.rack, other.features, other.logDirectories));
    }
}
