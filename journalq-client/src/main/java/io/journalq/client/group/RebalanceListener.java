package io.journalq.client.group;

import io.journalq.common.id.TopicPartition;
import java.util.Collection;

/**
 * Is notified when the group assigns partitions to the consumer or revokes them.
 *
 * <p>The thread of the consumer calls all methods, inside {@code poll}, {@code unsubscribe} or {@code close}. A method
 * may use the consumer, but must not call {@code poll} or {@code close}. If a method throws, that call throws the
 * exception after the change has been made.
 *
 * <p>The methods receive only the partitions that change (KIP-848). All others are read without a pause.
 */
public interface RebalanceListener {
    /** A listener that does nothing. */
    RebalanceListener NONE = new RebalanceListener() {};

    /**
     * Called after partitions were assigned and before their first records are returned. The listener can set positions
     * with {@code seek}.
     */
    default void onAssigned(Collection<TopicPartition> partitions) {}

    /**
     * Called before partitions move to another member. The consumer still owns them, so the listener can finish its
     * work and commit their offsets. Automatic commits have already been made.
     */
    default void onRevoked(Collection<TopicPartition> partitions) {}

    /**
     * Called when partitions already belong to other members, because the group removed this consumer: it was not
     * reachable or did not poll for too long. Commits for these partitions are rejected. By default, calls {@link
     * #onRevoked}.
     */
    default void onLost(Collection<TopicPartition> partitions) {
        onRevoked(partitions);
    }
}
