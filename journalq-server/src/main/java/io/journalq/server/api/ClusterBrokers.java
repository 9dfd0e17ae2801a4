package io.journalq.server.api;

import io.journalq.server.config.ListenerAddress;
import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.metadata.MetadataImage;
import java.net.InetSocketAddress;
import java.util.function.Supplier;

/**
 * The brokers of the cluster, and the addresses that clients are given for them. Immutable.
 *
 * @param nodeId id of this broker
 * @param images supplies the newest image
 */
public record ClusterBrokers(int nodeId, Supplier<MetadataImage> images) {
    /** The broker with this id if clients can use it, otherwise null. */
    public BrokerImage live(int wanted) {
        return images.get().liveBroker(wanted);
    }

    /**
     * The address of a broker for the client that sent a request. An address for every interface of this broker stands
     * for the one at which the client reached it. Null if the broker does not have the client's listener: then that
     * client cannot use it.
     */
    public ListenerAddress addressOf(BrokerImage broker, RequestContext context) {
        ListenerAddress address = broker.listener(context.listenerName());
        if (address != null
                && broker.nodeId() == nodeId
                && address.bindsEveryInterface()
                && context.localAddress() instanceof InetSocketAddress reached) {
            return new ListenerAddress(address.name(), reached.getAddress().getHostAddress(), reached.getPort());
        }
        return address;
    }
}
