package io.journalq.bench.load;

/** The times at which the messages of a fixed rate are due, whatever the broker does. Immutable. */
final class Timetable {
    private static final double NANOS_PER_SECOND = 1e9;

    private final long startNs = System.nanoTime();
    private final double intervalNs;

    /** The first message is due now. */
    Timetable(long messagesPerSecond) {
        intervalNs = NANOS_PER_SECOND / messagesPerSecond;
    }

    /** When a message is due, in the time of {@link System#nanoTime}; the first has the number 0. */
    long dueNs(long number) {
        return startNs + (long) (intervalNs * number);
    }

    /** The number of messages that are due at a time. */
    long dueBy(long nowNs) {
        return (long) ((nowNs - startNs) / intervalNs) + 1;
    }
}
