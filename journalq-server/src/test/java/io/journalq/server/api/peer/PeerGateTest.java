package io.journalq.server.api.peer;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.journalq.common.protocol.ApiKey;
import io.journalq.server.api.RequestContext;
import io.journalq.server.security.Principal;
import io.journalq.server.security.Right;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class PeerGateTest {
    private static final int REQUESTS = 1_000;
    /** Lines of several seconds. */
    private static final int MAX_LINES = 200;

    private static RequestContext fromClient() {
        return (RequestContext) Proxy.newProxyInstance(
                RequestContext.class.getClassLoader(),
                new Class<?>[] {RequestContext.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "listenerName" -> "CLIENTS";
                    case "principal" -> Principal.user("eve\nforged");
                    case "remoteAddress" -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 9092);
                    default -> throw new AssertionError("unexpected call of " + method.getName());
                });
    }

    @Test
    void shouldLogFewLinesWhenAClientSendsManyRequestsOfBrokers() {
        // given
        PeerGate gate = new PeerGate("PEERS", client -> true);
        RequestContext context = fromClient();
        Logger logger = (Logger) LoggerFactory.getLogger(PeerGate.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        Level before = logger.getLevel();
        logger.setLevel(Level.WARN);

        // when
        try {
            for (int i = 0; i < REQUESTS; i++) {
                assertThat(gate.admits(context, ApiKey.FETCH, Right.CLUSTER_ACTION))
                        .isFalse();
            }
        } finally {
            logger.detachAppender(logged);
            logger.setLevel(before);
        }

        // then
        assertThat(logged.list).hasSizeBetween(1, MAX_LINES);
        assertThat(logged.list.get(0).getFormattedMessage())
                .contains("Fetch", "CLIENTS", "eve")
                .doesNotContain("\n");
    }
}
