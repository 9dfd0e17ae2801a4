package io.journalq.client.admin;

/**
 * A broker and the address of its listener. Immutable.
 *
 * @param rack the rack, or null if it has none
 */
public record BrokerNode(int id, String host, int port, String rack) {
    @Override
    public String toString() {
        return host + ":" + port + " (id " + id + ")";
    }
}
