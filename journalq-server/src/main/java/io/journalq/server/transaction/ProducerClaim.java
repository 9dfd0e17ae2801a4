package io.journalq.server.transaction;

/**
 * The identity of the producer that sends a request, as it claims.
 *
 * @param transactionalId the transactional id
 * @param producerId the producer id
 * @param producerEpoch the producer epoch
 */
public record ProducerClaim(String transactionalId, long producerId, short producerEpoch) {}
