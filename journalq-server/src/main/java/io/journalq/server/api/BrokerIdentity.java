package io.journalq.server.api;

import io.journalq.server.config.ListenerAddress;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * The id and the advertised addresses of this broker. Immutable.
 *
 * @param nodeId id of the broker in the cluster
 * @param advertised the address that clients of each listener are given; an address for every interface stands for the
 *     one at which the client reached the broker
 */
public record BrokerIdentity(int nodeId, List<ListenerAddress> advertised) {
    public BrokerIdentity {
        advertised = List.copyOf(advertised);
    }

    /** The address for the client that sent a request. */
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
