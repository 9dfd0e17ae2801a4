package io.journalq.server.api.admin;

import io.journalq.server.api.RequestContext;
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
    /** No rack, no authorizer: as the protocol says that. */
    static final int OPERATIONS_NOT_ASKED_FOR = Integer.MIN_VALUE;

    /** Bits of every operation that there is on a topic or a cluster: READ to DESCRIBE_CONFIGS and ALTER_CONFIGS. */
    static final int ALL_TOPIC_OPERATIONS = bits(3, 4, 5, 6, 7, 8, 10, 11);

    static final int ALL_CLUSTER_OPERATIONS = bits(5, 7, 8, 9, 10, 11, 12);

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

    private static int bits(int... operations) {
        int bits = 0;
        for (int operation : operations) {
            bits |= 1 << operation;
        }
        return bits;
    }
}
