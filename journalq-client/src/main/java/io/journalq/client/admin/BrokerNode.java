package io.journalq.client.admin;

/**
 * A broker and the address of its listener. Immutable.
 *
 * @param rack the rack, or null if it has none
 * @param fenced whether the broker serves no clients, because it is down, has not caught up, or is about to stop
 */
public record BrokerNode(int id, String host, int port, String rack, boolean fenced) {
    @Override
    public String toString() {
        return host + ":" + port + " (id " + id + ")";
    }
}
