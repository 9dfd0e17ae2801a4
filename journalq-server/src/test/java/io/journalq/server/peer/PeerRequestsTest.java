package io.journalq.server.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.message.WriteTxnMarkersRequest;
import io.journalq.common.protocol.message.WriteTxnMarkersResponse;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.shard.partition.SteppedLoop;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Connections to brokers for one purpose. */
final class PeerRequestsTest {
    private static final int UNKNOWN_BROKER = 9;

    private final SteppedLoop loop = new SteppedLoop();
    private final List<Channel> opened = new ArrayList<>();
    private final PeerRequests requests =
            new PeerRequests(LoopCycle.cycles(List.of(loop)).get(0), this::open);

    private PeerChannel open(int broker) {
        if (broker == UNKNOWN_BROKER) {
            return null;
        }
        Channel channel = new Channel();
        opened.add(channel);
        return channel;
    }

    private static final class Channel implements PeerChannel {
        private final List<ResponseListener> waiting = new ArrayList<>();
        private boolean open = true;

        @Override
        public void send(ApiMessage request, int version, int timeoutMs, ResponseListener listener) {
            waiting.add(listener);
        }

        @Override
        public boolean isOpen() {
            return open;
        }

        @Override
        public void close() {
            open = false;
        }
    }

    private CompletableFuture<ApiMessage> send(int broker) {
        CompletableFuture<ApiMessage> response = requests.send(broker, new WriteTxnMarkersRequest(), 2, 1_000);
        loop.run();
        return response;
    }

    @Test
    void shouldUseOneConnectionForEachBroker() {
        CompletableFuture<ApiMessage> first = send(1);
        CompletableFuture<ApiMessage> second = send(1);
        CompletableFuture<ApiMessage> other = send(2);

        assertThat(opened).hasSize(2);
        ApiMessage response = new WriteTxnMarkersResponse();
        opened.get(0).waiting.get(0).onResponse(response);
        assertThat(first).isCompletedWithValue(response);
        assertThat(second).isNotDone();
        assertThat(other).isNotDone();
    }

    @Test
    void shouldOpenAnotherConnectionWhenTheLastOneHasFailed() {
        CompletableFuture<ApiMessage> lost = send(1);
        opened.get(0).close();
        opened.get(0).waiting.get(0).onFailure(new IOException("the other broker has closed the connection"));

        var unused = send(1);

        assertThat(lost).isCompletedExceptionally();
        assertThat(opened).hasSize(2);
        assertThat(opened.get(1).waiting).hasSize(1);
    }

    @Test
    void shouldFailWhenTheAddressOfTheBrokerIsUnknown() {
        assertThat(send(UNKNOWN_BROKER)).isCompletedExceptionally();
        assertThat(opened).isEmpty();
    }
}
