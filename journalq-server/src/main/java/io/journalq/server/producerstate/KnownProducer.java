package io.journalq.server.producerstate;

/**
 * A producer as a partition knows it.
 *
 * @param lastSequence of its last record; -1 when it is not known
 * @param lastUsedMs when it last wrote here, in milliseconds since 1970 UTC
 * @param coordinatorEpoch of the last marker; -1 when there was none
 * @param transactionFirstOffset first offset of its open transaction; -1 when there is none
 */
public record KnownProducer(
        long producerId,
        short epoch,
        int lastSequence,
        long lastUsedMs,
        int coordinatorEpoch,
        long transactionFirstOffset) {}
