package io.journalq.spring.boot;

import io.journalq.client.Consumer;

/** Learns of the consumers of listeners. The metrics implement it if Micrometer is on the class path. */
@FunctionalInterface
interface ConsumerObserver {
    /**
     * Called before the first poll.
     *
     * @param clientId the name of the consumer, which no other consumer of a listener has
     */
    void created(Consumer consumer, String clientId);
}
