package io.journalq.server.gateway.consume;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.api.RecordMemory;
import io.journalq.server.gateway.http.Caller;
import io.journalq.server.loop.Loop;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.network.SharedMemory;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class TailTest {
    private static final int MEMORY_FOR_RESPONSES = 16 << 20;
    private static final int BATCH_BYTES = 512 * 1024;
    private static final int MEMORY_FOR_FETCHED = MEMORY_FOR_RESPONSES / 32;
    private static final int READ_BYTES = Tail.FETCH_BYTES;

    private final Clients clients = new Clients();

    @Test
    void shouldNotExceedTheMemoryWhenManyReadersBeginToFetchAtOnce() {
        List<Tail> tails = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Tail tail = tail();
            tails.add(tail);
            tail.fetch(List.of(0), 0, () -> {});
        }
        assertThat(clients.memory.responseBytes()).isZero();

        // when there are records for all of them, then only as many are read as the memory holds
        clients.findForAll(READ_BYTES);
        assertThat(clients.memory.responseBytes()).isEqualTo(MEMORY_FOR_FETCHED);
        assertThat(clients.read).isEqualTo(MEMORY_FOR_FETCHED / READ_BYTES);

        // and when some have been written, then the next are read
        tails.get(0).drop();
        tails.get(1).drop();
        clients.runLoop();
        assertThat(clients.memory.responseBytes()).isEqualTo(MEMORY_FOR_FETCHED);
        assertThat(clients.read).isEqualTo(MEMORY_FOR_FETCHED / READ_BYTES + 2);

        // and all get their turn
        for (Tail tail : tails) {
            tail.drop();
            clients.runLoop();
        }
        assertThat(clients.read).isEqualTo(100);
        assertThat(clients.memory.responseBytes()).isZero();
    }

    @Test
    void shouldReadAgainWhenReadersInFrontHaveLeft() {
        Tail holder = tail();
        holder.fetch(List.of(0), 0, () -> {});
        clients.findForAll(MEMORY_FOR_FETCHED);
        List<Tail> leaving = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            Tail tail = tail();
            leaving.add(tail);
            tail.fetch(List.of(0), 0, () -> {});
        }
        boolean[] wokenUp = new boolean[1];
        tail().fetch(List.of(0), 0, () -> wokenUp[0] = true);
        clients.findForAll(MEMORY_FOR_FETCHED);
        leaving.forEach(Tail::close);
        clients.runLoop();
        assertThat(wokenUp[0]).isFalse();
        assertThat(clients.read).isEqualTo(1);

        // when the reader that holds all memory goes on, then those that have left give back what they get
        holder.drop();
        clients.runLoop();
        assertThat(wokenUp[0]).isTrue();
        assertThat(clients.memory.responseBytes()).isEqualTo(MEMORY_FOR_FETCHED);
    }

    @Test
    void shouldHoldWhatWasReadInsteadOfWhatWasReserved() {
        Tail tail = tail();
        tail.fetch(List.of(0), 0, () -> {});
        clients.reserve(READ_BYTES);
        assertThat(clients.memory.responseBytes()).isEqualTo(READ_BYTES);
        // an attempt that found nothing, and another one
        clients.reserve(READ_BYTES);
        assertThat(clients.memory.responseBytes()).isEqualTo(READ_BYTES);
        clients.respond(1000);
        assertThat(clients.memory.responseBytes()).isEqualTo(1000);
        tail.drop();
        assertThat(clients.memory.responseBytes()).isZero();

        // records of other brokers are not reserved
        tail.fetch(List.of(0), 0, () -> {});
        clients.respond(1000);
        assertThat(clients.memory.responseBytes()).isEqualTo(1000);
    }

    @Test
    void shouldDropRecordsAtOnceWhenOthersWait() {
        Tail holder = tail();
        holder.fetch(List.of(0), 0, () -> {});
        clients.findForAll(MEMORY_FOR_FETCHED - 1000);
        assertThat(clients.memory.isFullOfFetched()).isFalse();
        tail().fetch(List.of(0), 0, () -> {});
        clients.findForAll(READ_BYTES);
        assertThat(clients.memory.isFullOfFetched()).isTrue();
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

    @Test
    void shouldFetchWhatIsLeftWhenAPartitionIsGivenUpWhileAQuotaDelaysTheFetch() {
        Map<Integer, TopicPartition> names = new HashMap<>();
        Tail tail = new Tail(clients, names::get, Tail.FETCH_BYTES);
        for (int number = 0; number < 2; number++) {
            names.put(number, new TopicPartition("t", number));
        }
        tail.begin(Map.of(0, 0L, 1, 0L));
        tail.fetch(List.of(0, 1), 0, () -> {});
        clients.throttle(500);
        tail.fetch(List.of(0, 1), 0, () -> {});
        // when
        tail.forget(1);
        names.remove(1);
        clients.runTimers();
        // then
        assertThat(clients.delaysMs).containsExactly(500);
        assertThat(clients.askedPartitions).containsExactly(List.of(0, 1), List.of(0));
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
        private final List<List<Integer>> askedPartitions = new ArrayList<>();
        private final List<Runnable> timers = new ArrayList<>();
        private final List<Integer> delaysMs = new ArrayList<>();

        private final Queue<RecordMemory> fetches = new ArrayDeque<>();
        private final Queue<Runnable> enqueued = new ArrayDeque<>();
        private int read;

        /** All fetches find records, and read them when there is memory. */
        void findForAll(int sizeBytes) {
            while (!fetches.isEmpty()) {
                Consumer<ApiMessage> call = calls.remove();
                Runnable work = () -> {
                    read++;
                    respond(call, sizeBytes);
                };
                if (fetches.remove().reserve(sizeBytes, () -> enqueued.add(work))) {
                    work.run();
                }
            }
        }

        /** The next fetch finds records. */
        void reserve(int sizeBytes) {
            assertThat(fetches.element().reserve(sizeBytes, () -> {})).isTrue();
        }

        void runLoop() {
            while (!enqueued.isEmpty()) {
                enqueued.remove().run();
            }
        }

        /** The next fetch gets a response without a reservation. */
        void respond(int sizeBytes) {
            fetches.poll();
            Consumer<ApiMessage> call = calls.poll();
            if (call != null) {
                respond(call, sizeBytes);
            }
        }

        /** The next fetch finds nothing, and its client is to be delayed. */
        void throttle(int delayMs) {
            fetches.remove();
            calls.remove().accept(new FetchResponse().setThrottleTimeMs(delayMs));
        }

        private static void respond(Consumer<ApiMessage> call, int sizeBytes) {
            call.accept(new FetchResponse()
                    .setResponses(List.of(new FetchResponse.FetchableTopicResponse()
                            .setTopic("t")
                            .setPartitions(List.of(new FetchResponse.PartitionData()
                                    .setRecords(RecordsData.of(
                                            Unpooled.buffer(sizeBytes).writeZero(sizeBytes))))))));
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
            throw new AssertionError("a tail only fetches, and was about to call " + api);
        }

        @Override
        public void fetch(int version, FetchRequest request, RecordMemory memory, Consumer<ApiMessage> onResponse) {
            calls.add(onResponse);
            fetches.add(memory);
            askedBytes.add(request.maxBytes());
            askedPartitions.add(request.topics().stream()
                    .flatMap(topic -> topic.partitions().stream())
                    .map(FetchRequest.FetchPartition::partition)
                    .toList());
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
