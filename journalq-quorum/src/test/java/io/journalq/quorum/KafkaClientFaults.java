package io.journalq.quorum;

/**
 * Faults of kafka-clients 4.3.1 that tests must not take for faults of brokers. Brokers of Apache Kafka 4.3.1 provoke
 * them, too. {@code docs/guides/third-party-clients.md} describes them.
 */
final class KafkaClientFaults {
    private static final String INVALID_POSITION = "Cannot set a new position without a valid current position";

    private KafkaClientFaults() {}

    /**
     * Whether a consumer heard of a new leader on its other thread while {@code poll} took records of that partition. It has
     * lost the records of this {@code poll}, and must be closed without a commit.
     *
     * @param protocol the group protocol; with {@code classic}, there is no other thread
     */
    static boolean isLeaderRace(String protocol, IllegalStateException failure) {
        return protocol.equals("consumer") && INVALID_POSITION.equals(failure.getMessage());
    }
}
