package io.journalq.server.transaction;

/**
 * Whom a request says it comes from.
 *
 * @param transactionalId the transactional id
 * @param producerId the producer id that it believes to be its own
 * @param producerEpoch the epoch likewise
 */
public record ProducerClaim(String transactionalId, long producerId, short producerEpoch) {}
