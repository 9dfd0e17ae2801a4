package io.journalq.embedded;

/**
 * Where a broker inside this process begins:
 *
 * <pre>{@code
 * try (EmbeddedBroker broker = JournalQ.embedded().inMemory().start()) {
 *     connectTo(broker.bootstrapServers());
 * }
 * }</pre>
 */
public final class JournalQ {
    private JournalQ() {}

    /** A broker to be: on a free port of the loopback interface, in a temporary folder, unless it is told otherwise. */
    public static EmbeddedBrokerBuilder embedded() {
        return new EmbeddedBrokerBuilder();
    }
}
