package io.journalq.bench.peer;

import java.util.Optional;

/** A server whose clients publish and receive messages over WebSockets. It is not started yet. One thread. */
public interface WebSocketServer extends AutoCloseable {
    /** The command that installs the server, if it is missing. */
    Optional<String> missing();

    /** The server's version and its settings that differ from the defaults. */
    String about();

    /** The {@code host:port} of the WebSockets. */
    String address();

    void start();

    long pid();

    /** Creates a topic. Returns the name from which a subscriber receives every message. */
    String createTopic(String topic);

    void deleteTopic(String topic);

    /** Waits until everything is written to disk. */
    void settle();

    /** Stops the process until {@link #thaw}. */
    void freeze();

    void thaw();

    @Override
    void close();
}
