package io.journalq.server.api.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.EnvelopeResponse;
import io.journalq.common.protocol.message.UnregisterBrokerRequest;
import io.journalq.common.protocol.message.UnregisterBrokerResponse;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.MetadataLog.Members;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.peer.PeerChannel;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.security.Principal;
import io.journalq.server.shard.partition.SteppedLoop;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** The responses of the controller to requests that another broker passes on. */
class EnvelopeForwarderTest {
    private static final int SELF = 1;
    private static final int CONTROLLER = 2;
    private static final short VERSION = 0;

    /** Responds at once. The memory of a response is free when it was passed on. */
    private record Channel(Supplier<ByteBuf> responses) implements PeerChannel {
        @Override
        public void send(ApiMessage request, int version, int timeoutMs, ResponseListener listener) {
            ByteBuf frame = responses.get();
            listener.onResponse(new EnvelopeResponse().setResponseData(frame.slice()));
            frame.release();
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {
            throw new AssertionError("the connection stays open");
        }
    }

    private static CompletableFuture<ApiMessage> forward(Supplier<ByteBuf> responses) {
        PeerRequests requests =
                new PeerRequests(LoopCycle.cycles(List.of(new SteppedLoop())).get(0), broker -> new Channel(responses));
        EnvelopeForwarder forwarder =
                new EnvelopeForwarder(SELF, () -> new Members(CONTROLLER, 1, List.of(SELF, CONTROLLER)), requests);
        return forwarder.forward(context(), new UnregisterBrokerRequest().setBrokerId(3));
    }

    private static RequestContext context() {
        return (RequestContext) Proxy.newProxyInstance(
                RequestContext.class.getClassLoader(),
                new Class<?>[] {RequestContext.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "apiVersion" -> VERSION;
                    case "correlationId" -> 7;
                    case "clientId" -> "admin";
                    case "principal" -> Principal.ANONYMOUS;
                    case "remoteAddress" -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 9092);
                    default -> throw new AssertionError("unexpected call of " + method.getName());
                });
    }

    @Test
    void shouldReadAResponseWhileItsMemoryIsThatOfTheConnection() {
        UnregisterBrokerResponse sent = new UnregisterBrokerResponse()
                .setErrorCode(ErrorCode.INVALID_REQUEST.code())
                .setErrorMessage("broker 3 is running");

        CompletableFuture<ApiMessage> response = forward(() -> Envelopes.response(7, sent, VERSION));

        assertThat(response).isCompletedWithValueMatching(received -> received.equals(sent));
    }

    @Test
    void shouldFailWhenTheResponseIsMalformed() {
        assertThat(forward(() -> Unpooled.wrappedBuffer(new byte[2]))).isCompletedExceptionally();
    }
}
