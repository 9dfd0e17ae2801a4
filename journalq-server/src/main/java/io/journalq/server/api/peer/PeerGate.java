package io.journalq.server.api.peer;

import io.journalq.common.protocol.ApiKey;
import io.journalq.server.api.RequestContext;
import io.journalq.server.loop.LogThrottle;
import io.journalq.server.security.Principal;
import io.journalq.server.security.Right;
import java.util.function.Predicate;
import org.slf4j.LoggerFactory;

/**
 * Lets requests of brokers pass only on their listener, and only from brokers.
 *
 * @param listenerName {@code inter.broker.listener.name}
 * @param brokers whether a client of that listener is a broker
 */
public record PeerGate(String listenerName, Predicate<Principal> brokers) {
    private static final LogThrottle REFUSALS = new LogThrottle(LoggerFactory.getLogger(PeerGate.class));

    /**
     * Whether a request may pass. If not, a line is logged, at most ten a second.
     *
     * @param right what the sender must be allowed to do
     */
    public boolean admits(RequestContext context, ApiKey key, Right right) {
        boolean admitted = context.listenerName().equals(listenerName) && brokers.test(context.principal());
        if (!admitted) {
            REFUSALS.warn(
                    "refused a request that only brokers send",
                    context.remoteAddress(),
                    key.apiName() + " on listener " + context.listenerName() + " as " + context.principal());
        }
        return admitted && context.allows(right);
    }
}
