package io.journalq.server.gateway.consume;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.gateway.http.Caller;
import io.journalq.server.loop.Loop;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.network.SharedMemory;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class TailTest {
    private static final int MEMORY_FOR_RESPONSES = 16 << 20;
    private static final int BATCH_BYTES = 512 * 1024;

    private final Clients clients = new Clients();

    @Test
    void shouldHoldABoundedNumberOfBatchesWhenManyReadersFetch() {
        List<Tail> tails = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            Tail tail = tail();
            tails.add(tail);
            tail.fetch(List.of(0), 0, () -> {});
            clients.respond(BATCH_BYTES);
        }

        assertThat(clients.memory.responseBytes()).isEqualTo(BATCH_BYTES);

        // when a reader has read its batch, then one of those that wait fetches
        tails.get(0).drop();
        clients.runTimers();
        clients.respond(BATCH_BYTES);

        assertThat(clients.memory.responseBytes()).isEqualTo(BATCH_BYTES);
    }

    @Test
    void shouldKeepFewRecordsForLongAndMuchMemoryBrieflyWhenAReaderStops() {
        Tail few = tail();
        few.fetch(List.of(0), 0, () -> {});
        clients.respond(1000);
        few.keep();
        assertThat(clients.delaysMs).containsExactly(1_000);

        Tail many = tail();
        many.fetch(List.of(0), 0, () -> {});
        clients.respond(BATCH_BYTES);
        many.keep();
        assertThat(clients.delaysMs).containsExactly(1_000, 20);

        clients.runTimers();
        assertThat(clients.memory.responseBytes()).isZero();
    }

    @Test
    void shouldFetchWhenOtherClientsHoldAllMemoryForResponses() {
        clients.memory.takeForResponse(MEMORY_FOR_RESPONSES);
        tail().fetch(List.of(0), 0, () -> {});
        assertThat(clients.askedBytes).containsExactly(Tail.FETCH_BYTES);
        clients.respond(1000);

        // little of what becomes a response as it is
        Tail batches = tail(8 * Tail.FETCH_BYTES);
        batches.fetch(List.of(0), 0, () -> {});
        assertThat(clients.askedBytes).containsExactly(Tail.FETCH_BYTES, Tail.FETCH_BYTES);

        // and nothing more if that were large batches, until the others read
        clients.respond(BATCH_BYTES);
        batches.drop();
        batches.fetch(List.of(0), 0, () -> {});
        clients.runTimers();
        assertThat(clients.askedBytes).hasSize(2);
        clients.memory.giveBackFromResponse(MEMORY_FOR_RESPONSES);
        clients.runTimers();
        assertThat(clients.askedBytes).containsExactly(Tail.FETCH_BYTES, Tail.FETCH_BYTES, 8 * Tail.FETCH_BYTES);
    }

    private Tail tail() {
        return tail(Tail.FETCH_BYTES);
    }

    private Tail tail(int fetchBytes) {
        Tail tail = new Tail(clients, "t", fetchBytes);
        tail.begin(Map.of(0, 0L));
        return tail;
    }

    /** Calls nobody. The test responds, and runs what is scheduled. */
    private static final class Clients implements Caller {
        private final SharedMemory memory = SharedMemory.of(1 << 20, MEMORY_FOR_RESPONSES);
        private final Queue<Consumer<ApiMessage>> calls = new ArrayDeque<>();
        private final List<Integer> askedBytes = new ArrayList<>();
        private final List<Runnable> timers = new ArrayList<>();
        private final List<Integer> delaysMs = new ArrayList<>();

        void respond(int sizeBytes) {
            Consumer<ApiMessage> call = calls.poll();
            if (call != null) {
                call.accept(new FetchResponse()
                        .setResponses(List.of(new FetchResponse.FetchableTopicResponse()
                                .setTopic("t")
                                .setPartitions(List.of(new FetchResponse.PartitionData()
                                        .setRecords(RecordsData.of(
                                                Unpooled.buffer(sizeBytes).writeZero(sizeBytes))))))));
            }
        }

        void runTimers() {
            List<Runnable> due = List.copyOf(timers);
            timers.clear();
            due.forEach(Runnable::run);
        }

        @Override
        public LoopCycle cycle() {
            throw new UnsupportedOperationException();
        }

        @Override
        public ByteBufAllocator allocator() {
            return UnpooledByteBufAllocator.DEFAULT;
        }

        @Override
        public boolean isClosed() {
            return false;
        }

        @Override
        public void call(ApiKey api, int version, ApiMessage message, int sizeBytes, Consumer<ApiMessage> onResponse) {
            calls.add(onResponse);
            askedBytes.add(((FetchRequest) message).maxBytes());
        }

        @Override
        public void later(Runnable work) {
            timers.add(work);
        }

        @Override
        public Loop.Timer schedule(Runnable work, long delayMs) {
            timers.add(work);
            delaysMs.add((int) delayMs);
            return () -> timers.remove(work);
        }

        @Override
        public SharedMemory memory() {
            return memory;
        }
    }
}
