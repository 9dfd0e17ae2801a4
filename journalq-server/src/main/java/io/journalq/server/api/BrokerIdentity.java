package io.journalq.server.api;

import io.journalq.server.config.ListenerAddress;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * Who this broker is to its clients, on each of its listeners. Immutable.
 *
 * @param nodeId its number
 * @param advertised what clients are told to connect to; one on every interface stands for the address that the client
 *     reached the broker at
 */
public record BrokerIdentity(int nodeId, List<ListenerAddress> advertised) {
    public BrokerIdentity {
        advertised = List.copyOf(advertised);
    }

    /** The address for the client that asks. */
    public ListenerAddress addressFor(RequestContext context) {
        ListenerAddress address = advertisedAs(context.listenerName());
        if (address.bindsEveryInterface() && context.localAddress() instanceof InetSocketAddress reached) {
            return new ListenerAddress(address.name(), reached.getAddress().getHostAddress(), reached.getPort());
        }
        return address;
    }

    private ListenerAddress advertisedAs(String listenerName) {
        for (ListenerAddress candidate : advertised) {
            if (candidate.name().equals(listenerName)) {
                return candidate;
            }
        }
        return advertised.get(0);
    }
}
