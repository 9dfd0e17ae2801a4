package io.journalq.server.gateway.http;

/**
 * A connection that has left HTTP with {@link HttpExchange#upgrade}. Everything that arrives from then on is its body,
 * which has no end. On the connection's loop.
 */
public interface UpgradedBody extends RequestBody {
    /** Whether it holds memory for something that has not arrived completely. */
    boolean holdsMemory();

    /** Runs each second. */
    void onCheck();
}
