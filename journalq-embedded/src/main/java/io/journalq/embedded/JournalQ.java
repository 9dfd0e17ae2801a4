package io.journalq.embedded;

/**
 * The entry point for a broker in this process.
 *
 * <pre>{@code
 * try (EmbeddedBroker broker = JournalQ.embedded().inMemory().start()) {
 *     connectTo(broker.bootstrapServers());
 * }
 * }</pre>
 */
public final class JournalQ {
    private JournalQ() {}

    /**
     * Returns the settings of a new broker. By default, it uses a free port of the loopback interface and a temporary
     * directory.
     */
    public static EmbeddedBrokerBuilder embedded() {
        return new EmbeddedBrokerBuilder();
    }
}
