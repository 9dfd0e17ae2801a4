package io.journalq.client.admin;

/**
 * A broker and where clients reach it. Immutable.
 *
 * @param rack null when it has none
 */
public record BrokerNode(int id, String host, int port, String rack) {
    @Override
    public String toString() {
        return host + ":" + port + " (id " + id + ")";
    }
}
