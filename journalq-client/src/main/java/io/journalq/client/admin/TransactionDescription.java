package io.journalq.client.admin;

import io.journalq.common.id.TopicPartition;
import java.time.Duration;
import java.util.List;

/**
 * A transactional id and its open transaction. Immutable.
 *
 * @param state the state, such as {@code Ongoing}, {@code Empty} or {@code CompleteCommit}
 * @param timeout the time after which the coordinator aborts a transaction
 * @param startedMs the start of the open transaction in milliseconds since 1970 UTC, or -1 if none is open
 * @param partitions the partitions of the open transaction, sorted
 */
public record TransactionDescription(
        String transactionalId,
        String state,
        long producerId,
        short producerEpoch,
        Duration timeout,
        long startedMs,
        List<TopicPartition> partitions) {}
