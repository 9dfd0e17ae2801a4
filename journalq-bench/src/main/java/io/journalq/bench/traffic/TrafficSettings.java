package io.journalq.bench.traffic;

/**
 * How much is sent, and by how many.
 *
 * @param publishers each with a connection of its own; may be 0
 * @param subscribers each with a connection of its own, and each gets every message; may be 0
 * @param messagesPerSecond over all publishers, on a schedule that no stall of the broker moves; 0: as fast as it goes
 * @param messagesPerPublisher after which each stops; 0: goes on until it is told to stop
 * @param unconfirmed most messages of a publisher that are not acknowledged yet
 * @param window most messages that publishers may be ahead of the slowest subscriber, all together; 0: no bound
 * @param checkInterval one message in so many is checked by its checksum
 */
public record TrafficSettings(
        int publishers,
        int subscribers,
        long messagesPerSecond,
        long messagesPerPublisher,
        int unconfirmed,
        int window,
        int checkInterval) {}
