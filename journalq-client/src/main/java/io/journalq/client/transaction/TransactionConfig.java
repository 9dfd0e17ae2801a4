package io.journalq.client.transaction;

/** A transactional producer's settings. Immutable; made by {@code Producer.Builder}, which documents each. */
public record TransactionConfig(String transactionalId, int timeoutMs) {}
