package io.journalq.client.admin;

/**
 * A transactional id, as a listing has it. Immutable.
 *
 * @param producerId of the producer that has it now
 * @param state such as {@code Ongoing}, {@code Empty} or {@code CompleteCommit}
 */
public record TransactionListing(String transactionalId, long producerId, String state) {}
