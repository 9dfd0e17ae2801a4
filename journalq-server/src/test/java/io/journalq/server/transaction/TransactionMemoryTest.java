package io.journalq.server.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.coordinator.RetentionTime;
import io.journalq.server.memory.ChargedBytes;
import io.journalq.server.memory.RetainedBytes;
import io.journalq.server.transaction.Markers.MarkerRequest;
import io.journalq.server.transaction.TransactionMachine.ProducerClaim;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The memory charged for transactional ids: nothing stays charged when they are gone, and requests beyond the limit are
 * rejected.
 */
class TransactionMemoryTest {
    private static final int TIMEOUT_MS = 1_000;
    private static final long EXPIRATION_MS = 50_000;

    private final ChargedBytes memory = new ChargedBytes();
    private final Deque<MarkerRequest> markers = new ArrayDeque<>();
    private final Deque<String> idQuestions = new ArrayDeque<>();
    private final TransactionMachine machine = new TransactionMachine(
            new Outbox() {
                @Override
                public void append(List<CoordinatorRecord> records) {
                    records.forEach(record -> machine().replay(record));
                }

                @Override
                public void whenSafe(Runnable action) {
                    action.run();
                }
            },
            markers::add,
            idQuestions::add,
            new TransactionLimits(60_000, EXPIRATION_MS),
            RetentionTime.CLOCK,
            memory);
    private long nowMs = 1_000_000;
    private long nextProducerId;
    private ErrorCode responded;
    private long producerId;
    private short epoch;

    private TransactionMachine machine() {
        return machine;
    }

    private ErrorCode init(String id) {
        machine.onInitProducerId(
                (short) 5,
                new InitProducerIdRequest()
                        .setTransactionalId(id)
                        .setTransactionTimeoutMs(TIMEOUT_MS)
                        .setProducerId(-1)
                        .setProducerEpoch((short) -1),
                nowMs,
                reply(response -> {
                    responded = ErrorCode.of(response.errorCode());
                    producerId = response.producerId();
                    epoch = response.producerEpoch();
                }));
        settle();
        return responded;
    }

    private static <T> Reply<T> reply(Consumer<T> done) {
        return new Reply<>() {
            @Override
            public void send(T response) {
                done.accept(response);
            }

            @Override
            public void fail(ErrorCode error) {
                throw new AssertionError(error);
            }
        };
    }

    private void settle() {
        while (!idQuestions.isEmpty() || !markers.isEmpty()) {
            if (!idQuestions.isEmpty()) {
                machine.onProducerId(idQuestions.poll(), ++nextProducerId, nowMs);
            } else {
                MarkerRequest told = markers.poll();
                machine.onMarkersWritten(told.transactionalId(), told.producerId(), told.producerEpoch(), nowMs);
            }
        }
    }

    private ErrorCode add(String id, String topic, int partition) {
        machine.onAddPartitions(
                new ProducerClaim(id, producerId, epoch),
                List.of(new TopicPartition(topic, partition)),
                (short) 1,
                nowMs,
                reply(error -> responded = error));
        return responded;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void shouldChargeNothingWhenAllIdsAreForgotten(long seed) {
        Random random = new Random(seed);
        machine.onLoaded(nowMs);
        for (int step = 0; step < 2_000; step++) {
            nowMs += random.nextInt(200);
            machine.onTick(nowMs);
            settle();
            String id = "id-" + random.nextInt(20);
            if (init(id) == ErrorCode.NONE) {
                for (int i = random.nextInt(10); i > 0; i--) {
                    add(id, "topic-" + random.nextInt(3), random.nextInt(5));
                }
                if (random.nextBoolean()) {
                    machine.onEndTransaction(
                            (short) 4,
                            new EndTxnRequest()
                                    .setTransactionalId(id)
                                    .setProducerId(producerId)
                                    .setProducerEpoch(epoch)
                                    .setCommitted(random.nextBoolean()),
                            nowMs,
                            reply(response -> {}));
                    settle();
                }
            }
        }
        assertThat(memory.bytes).isPositive();

        for (int i = 0; i < 10; i++) {
            nowMs += EXPIRATION_MS;
            machine.onTick(nowMs);
            settle();
        }
        assertThat(memory.bytes).isZero();
    }

    @Test
    void shouldRefuseNewIdsAndPartitionsAndLetOthersGoOnWhenThereIsNoRoom() {
        machine.onLoaded(nowMs);
        init("one");
        add("one", "t", 0);
        memory.maxBytes = memory.bytes;

        assertThat(add("one", "t", 0)).isEqualTo(ErrorCode.NONE);
        assertThat(add("one", "t", 1)).isEqualTo(ErrorCode.POLICY_VIOLATION);
        assertThat(init("two")).isEqualTo(ErrorCode.POLICY_VIOLATION);
        assertThat(init("one")).isEqualTo(ErrorCode.CONCURRENT_TRANSACTIONS);
        assertThat(init("one")).isEqualTo(ErrorCode.NONE);
    }

    private void assertEstimate(String state, int ids, int partitions) {
        machine.onLoaded(nowMs);
        init("first");
        long chargedBefore = memory.bytes;
        long retainedBefore = RetainedBytes.of(machine);
        for (int i = 0; i < ids; i++) {
            assertThat(init("id-" + i)).isEqualTo(ErrorCode.NONE);
            for (int j = 0; j < partitions; j++) {
                assertThat(add("id-" + i, "topic-" + j / 4, j)).isEqualTo(ErrorCode.NONE);
            }
        }
        RetainedBytes.assertEstimate(state, memory.bytes - chargedBefore, RetainedBytes.of(machine) - retainedBefore);
    }

    @Test
    void shouldEstimateIdsWhenTheyHaveNoTransaction() {
        assertEstimate("transactional ids", 300, 0);
    }

    @Test
    void shouldEstimateIdsWhenTheirTransactionsHaveFewPartitions() {
        assertEstimate("small transactions", 200, 2);
    }

    @Test
    void shouldEstimateIdsWhenTheirTransactionsHaveManyPartitions() {
        assertEstimate("large transactions", 10, 200);
    }
}
