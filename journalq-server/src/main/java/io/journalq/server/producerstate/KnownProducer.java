package io.journalq.server.producerstate;

/**
 * A producer that a partition knows.
 *
 * @param lastSequence of its last record; -1 if unknown
 * @param lastUsedMs when it last wrote here, in milliseconds since 1970 UTC
 * @param coordinatorEpoch of the last marker; -1 if there was none
 * @param transactionFirstOffset first offset of its open transaction; -1 if there is none
 */
public record KnownProducer(
        long producerId,
        short epoch,
        int lastSequence,
        long lastUsedMs,
        int coordinatorEpoch,
        long transactionFirstOffset) {}
