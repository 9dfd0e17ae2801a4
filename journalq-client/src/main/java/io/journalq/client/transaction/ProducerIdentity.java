package io.journalq.client.transaction;

/** Under which a producer's transactions run. Each commit and abort moves it on (KIP-890, part 2). */
record ProducerIdentity(long producerId, short epoch) {
    static final ProducerIdentity NONE = new ProducerIdentity(-1, (short) -1);
}
