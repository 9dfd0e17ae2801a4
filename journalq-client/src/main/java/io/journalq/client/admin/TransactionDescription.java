package io.journalq.client.admin;

import io.journalq.common.id.TopicPartition;
import java.util.List;

/**
 * A transactional id and the transaction that it has open. Immutable.
 *
 * @param state such as {@code Ongoing}, {@code Empty} or {@code CompleteCommit}
 * @param timeoutMs after which the broker aborts a transaction
 * @param startedMs when the open transaction began, in milliseconds since 1970; -1 when none is open
 * @param partitions that the open transaction wrote to, in order
 */
public record TransactionDescription(
        String transactionalId,
        String state,
        long producerId,
        short producerEpoch,
        int timeoutMs,
        long startedMs,
        List<TopicPartition> partitions) {}
