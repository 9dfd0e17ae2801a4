package io.journalq.server.control;

import io.journalq.common.id.TopicPartition;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** How far the replicas of partitions are, wherever they are. Any thread. */
public interface ReplicaEnds {
    /**
     * Asks a broker for the ends of its replicas.
     *
     * @return the ends of the replicas that it can read; fails if it does not respond
     */
    CompletableFuture<Map<TopicPartition, LogEnd>> of(int nodeId, List<TopicPartition> partitions);

    /**
     * The end of a log. A larger one has records that a smaller one lacks.
     *
     * @param epoch the newest leader epoch with records; -1 if there are none
     * @param offset the offset of the next record
     */
    record LogEnd(int epoch, long offset) implements Comparable<LogEnd> {
        private static final Comparator<LogEnd> ORDER =
                Comparator.comparingInt(LogEnd::epoch).thenComparingLong(LogEnd::offset);

        @Override
        public int compareTo(LogEnd other) {
            return ORDER.compare(this, other);
        }
    }
}
