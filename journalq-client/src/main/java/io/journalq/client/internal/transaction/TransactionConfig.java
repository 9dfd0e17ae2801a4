package io.journalq.client.internal.transaction;

/**
 * The settings of a transactional producer. Immutable. {@link io.journalq.client.Producer.Builder} creates it and
 * documents each setting.
 */
public record TransactionConfig(String transactionalId, int timeoutMs) {}
