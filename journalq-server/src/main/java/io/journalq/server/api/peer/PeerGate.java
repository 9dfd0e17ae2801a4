package io.journalq.server.api.peer;

import io.journalq.common.protocol.ApiKey;
import io.journalq.server.api.RequestContext;
import io.journalq.server.security.Principal;
import io.journalq.server.security.Right;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets requests of brokers pass only on their listener, and only from brokers.
 *
 * @param listenerName {@code inter.broker.listener.name}
 * @param brokers whether a client of that listener is a broker
 */
public record PeerGate(String listenerName, Predicate<Principal> brokers) {
    private static final Logger log = LoggerFactory.getLogger(PeerGate.class);

    /**
     * Whether a request may pass. If not, one line is logged.
     *
     * @param right what the sender must be allowed to do
     */
    public boolean admits(RequestContext context, ApiKey key, Right right) {
        boolean admitted = context.listenerName().equals(listenerName) && brokers.test(context.principal());
        if (!admitted) {
            log.warn(
                    "refused a request that only brokers send: api={} client={} listener={} principal={}",
                    key.apiName(),
                    context.remoteAddress(),
                    context.listenerName(),
                    context.principal());
        }
        return admitted && context.allows(right);
    }
}
