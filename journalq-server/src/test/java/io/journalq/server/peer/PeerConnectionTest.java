package io.journalq.server.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.message.BrokerHeartbeatRequest;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A connection to another broker when this one has too little memory. */
class PeerConnectionTest {
    private static final int HEARTBEAT_VERSION = 2;

    private final PeerConnection connection = new PeerConnection("127.0.0.1:9092", "broker-1", null);

    /** Has no memory at times. */
    private static final class Allocator extends AbstractByteBufAllocator {
        private boolean exhausted;

        private ByteBuf buffer(ByteBuf created) {
            if (exhausted) {
                created.release();
                throw new OutOfMemoryError("failed to allocate direct memory");
            }
            return created;
        }

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            return buffer(UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity));
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            return buffer(UnpooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity));
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }
    }

    private CompletableFuture<ApiMessage> heartbeat() {
        CompletableFuture<ApiMessage> response = new CompletableFuture<>();
        connection.send(PeerRequest.of(new BrokerHeartbeatRequest(), HEARTBEAT_VERSION, response));
        return response;
    }

    @Test
    void shouldFailARequestWhenThereIsNoMemoryForIt() {
        Allocator memory = new Allocator();
        EmbeddedChannel channel = new EmbeddedChannel(connection);
        channel.config().setAllocator(memory);

        memory.exhausted = true;
        assertThat(heartbeat()).isCompletedExceptionally();
        assertThat(channel.outboundMessages()).isEmpty();

        // and the next one is sent over the same connection
        memory.exhausted = false;
        assertThat(heartbeat()).isNotDone();
        assertThat(connection.isUsable()).isTrue();
        assertThat(channel.outboundMessages()).isNotEmpty();
        channel.finishAndReleaseAll();
    }

    @Test
    void shouldFailARequestWhenTheHeadOfItsResponseIsMalformed() {
        EmbeddedChannel channel = new EmbeddedChannel(connection);
        CompletableFuture<ApiMessage> response = heartbeat();

        channel.writeInbound(Unpooled.wrappedBuffer(new byte[2]));

        assertThat(response).isCompletedExceptionally();
        channel.finishAndReleaseAll();
    }
}
