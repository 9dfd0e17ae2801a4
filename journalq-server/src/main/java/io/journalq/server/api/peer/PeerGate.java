package io.journalq.server.api.peer;

import io.journalq.common.protocol.ApiKey;
import io.journalq.server.api.RequestContext;
import io.journalq.server.security.Right;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets requests of brokers pass only on their listener.
 *
 * @param listenerName {@code inter.broker.listener.name}
 */
public record PeerGate(String listenerName) {
    private static final Logger log = LoggerFactory.getLogger(PeerGate.class);

    /**
     * Whether a request may pass. If not, one line is logged.
     *
     * @param right what the sender must be allowed to do
     */
    boolean admits(RequestContext context, ApiKey key, Right right) {
        boolean admitted = context.listenerName().equals(listenerName);
        if (!admitted) {
            log.warn(
                    "refused a request that only brokers send: api={} client={} listener={}",
                    key.apiName(),
                    context.remoteAddress(),
                    context.listenerName());
        }
        return admitted && context.allows(right);
    }
}
