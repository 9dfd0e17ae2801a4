package io.journalq.server.api.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.EnvelopeRequest;
import io.journalq.common.protocol.message.EnvelopeResponse;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.RequestContext;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.security.Authorizer;
import io.journalq.server.security.Principal;
import io.journalq.server.security.Right;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ReferenceCounted;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What remains of requests that another broker passes on for clients of its gateway. */
class EnvelopedRequestTest {
    private static final String PEERS = "PEERS";
    private static final int FETCHES = 100;
    private static final short FETCH_VERSION = 12;

    private final AtomicInteger open = new AtomicInteger();

    /** Keeps something for each connection, and responds at once. */
    private final class FetchesWithState implements Handler<FetchRequest> {
        @Override
        public ServedApi api() {
            return new ServedApi(ApiKey.FETCH, 4, 18, AccessRule.asks(Right.READ_TOPIC, Right.CLUSTER_ACTION));
        }

        @Override
        public void handle(RequestContext context, FetchRequest request) {
            context.connectionState(State.class, State::new);
            context.respond(new FetchResponse());
        }
    }

    private final class State implements AutoCloseable {
        State() {
            open.incrementAndGet();
        }

        @Override
        public void close() {
            open.decrementAndGet();
        }
    }

    private static EnvelopeRequest envelope() {
        FetchRequest fetch = new FetchRequest()
                .setSessionEpoch(-1)
                .setTopics(List.of(new FetchRequest.FetchTopic()
                        .setTopic("orders")
                        .setPartitions(List.of(new FetchRequest.FetchPartition().setPartition(0)))));
        ByteBuf[] parts = Frames.request(UnpooledByteBufAllocator.DEFAULT, 7, "http", fetch, FETCH_VERSION).stream()
                .map(ByteBuf.class::cast)
                .toArray(ByteBuf[]::new);
        ByteBuf frame = Unpooled.copiedBuffer(parts).skipBytes(Integer.BYTES);
        for (ReferenceCounted part : parts) {
            part.release();
        }
        return new EnvelopeRequest()
                .setRequestData(frame)
                .setRequestPrincipal(Unpooled.copiedBuffer("User:ada", StandardCharsets.UTF_8))
                .setClientHostAddress(Unpooled.wrappedBuffer(new byte[] {127, 0, 0, 1}));
    }

    /** The request of the other broker. */
    private static RequestContext context(LoopCycle cycle, CompletableFuture<EnvelopeResponse> responded) {
        return (RequestContext) Proxy.newProxyInstance(
                RequestContext.class.getClassLoader(),
                new Class<?>[] {RequestContext.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "apiVersion" -> (short) 0;
                    case "listenerName" -> PEERS;
                    case "principal" -> Principal.ANONYMOUS;
                    case "localAddress", "remoteAddress" ->
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 9092);
                    case "allows", "isConnected" -> true;
                    case "cycle" -> cycle;
                    case "exemptFromQuotas" -> null;
                    case "respond" -> {
                        responded.complete((EnvelopeResponse) arguments[0]);
                        yield null;
                    }
                    default -> throw new AssertionError("unexpected call of " + method.getName());
                });
    }

    @Test
    void shouldKeepNothingOfARequestWhenItHasItsResponse() throws Exception {
        // given
        HandlerRegistry registry = new HandlerRegistry(Authorizer.OFF);
        registry.register(new FetchesWithState());
        EnvelopeHandler envelopes = new EnvelopeHandler(registry, new PeerGate(PEERS, client -> true), 1_000);
        try (EventLoops loops = new EventLoops(1)) {
            LoopCycle cycle = loops.cycles().get(0);

            // when
            for (int i = 0; i < FETCHES; i++) {
                CompletableFuture<EnvelopeResponse> responded = new CompletableFuture<>();
                cycle.enqueue(() -> envelopes.handle(context(cycle, responded), envelope()));
                EnvelopeResponse response = responded.get(10, TimeUnit.SECONDS);
                assertThat(response.errorCode()).isEqualTo(ErrorCode.NONE.code());
            }
            CompletableFuture<Void> idle = new CompletableFuture<>();
            cycle.enqueue(() -> cycle.enqueue(() -> idle.complete(null)));
            idle.get(10, TimeUnit.SECONDS);
        }

        // then
        assertThat(open).hasValue(0);
    }
}
