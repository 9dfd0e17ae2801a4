package io.journalq.client.internal.transaction;

/**
 * The producer id and epoch of a transactional producer. Each commit and abort increments the epoch (KIP-890, part 2).
 */
record ProducerIdentity(long producerId, short epoch) {
    static final ProducerIdentity NONE = new ProducerIdentity(-1, (short) -1);
}
