package io.journalq.client.group;

import io.journalq.common.id.TopicPartition;
import java.util.Collection;

/**
 * Hears which partitions a group gives to its consumer and takes from it. Every method is called by the consumer's own
 * thread, inside {@code poll}, {@code unsubscribe} or {@code close}, and may call the consumer, but not {@code poll}. What
 * a method throws comes out of that call, after the change is made.
 *
 * <p>Only what changes is told (KIP-848): partitions that stay are read on without a pause.
 */
public interface RebalanceListener {
    /** Hears nothing. */
    RebalanceListener NONE = new RebalanceListener() {};

    /** These partitions are the consumer's now; nothing of them was read yet, and {@code seek} decides from where. */
    default void onAssigned(Collection<TopicPartition> partitions) {}

    /**
     * These partitions are about to go to another member. The consumer still owns them: work on their records may be
     * finished, and their offsets committed. Automatic commits are done before.
     */
    default void onRevoked(Collection<TopicPartition> partitions) {}

    /**
     * These partitions are another member's already, for the group went on without this consumer: it was not heard of,
     * or did not poll, for too long. Commits of them are refused. Calls {@link #onRevoked} unless overridden.
     */
    default void onLost(Collection<TopicPartition> partitions) {
        onRevoked(partitions);
    }
}
