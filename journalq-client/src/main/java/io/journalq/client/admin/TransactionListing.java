package io.journalq.client.admin;

/**
 * A transactional id in a list. Immutable.
 *
 * @param producerId the id of the producer that uses the transactional id
 * @param state the state, such as {@code Ongoing}, {@code Empty} or {@code CompleteCommit}
 */
public record TransactionListing(String transactionalId, long producerId, String state) {}
