package io.journalq.server.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.transaction.Markers.MarkerRequest;
import io.journalq.server.transaction.record.TransactionLogValue;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A machine with a journal in memory. Appends become safe when the test says so, responses and markers wait for that,
 * and a crash loses appends that are not safe.
 */
final class TransactionWorld {
    static final TransactionLimits LIMITS = new TransactionLimits(100_000, 1_000_000);

    /** Pending requests for ids and decided transactions, by transactional id. */
    final ArrayDeque<String> idQuestions = new ArrayDeque<>();

    final Map<String, MarkerRequest> markers = new LinkedHashMap<>();
    long nowMs = 1_000_000;
    /** The time beyond which the clock is not trusted. */
    long trustedMs = Long.MAX_VALUE;

    TransactionMachine machine;

    private final List<List<CoordinatorRecord>> journal = new ArrayList<>();
    private final ArrayDeque<Held> held = new ArrayDeque<>();
    private Incarnation incarnation;
    private int safe;
    private long nextProducerId = 1_000;

    private final TransactionBug bug;

    private record Held(int waitsFor, Runnable action) {}

    /** The outbox of one machine. */
    private final class Incarnation implements Outbox {
        private TransactionMachine itsMachine;

        @Override
        public void append(List<CoordinatorRecord> records) {
            assertThat(this).isSameAs(incarnation);
            List<CoordinatorRecord> stored =
                    records.stream().map(TransactionWorld::asStored).toList();
            journal.add(stored);
            stored.forEach(itsMachine::replay);
        }

        @Override
        public void whenSafe(Runnable action) {
            hold(action);
        }
    }

    TransactionWorld() {
        this(TransactionBug.NONE);
    }

    TransactionWorld(TransactionBug bug) {
        this.bug = bug;
        load();
    }

    private void load() {
        incarnation = new Incarnation();
        machine = new TransactionMachine(
                incarnation,
                request -> markers.putIfAbsent(request.transactionalId(), request),
                idQuestions::add,
                LIMITS,
                now -> Math.min(now, trustedMs),
                MemoryAccount.UNBOUNDED);
        incarnation.itsMachine = machine;
        journal.forEach(records -> records.forEach(machine::replay));
        machine.onLoaded(nowMs);
    }

    /** As if the producer of the newest record had used up the epochs before {@code epoch}. */
    void useUpEpochsBefore(short epoch) {
        List<CoordinatorRecord> newest = journal.get(journal.size() - 1);
        TransactionLogValue value =
                (TransactionLogValue) newest.get(newest.size() - 1).value();
        value.setProducerEpoch(epoch);
        load();
    }

    private static CoordinatorRecord asStored(CoordinatorRecord record) {
        ByteBuf key = TransactionRecords.TYPES.encodeKey(record, UnpooledByteBufAllocator.DEFAULT);
        ByteBuf value = TransactionRecords.TYPES.encodeValue(record, UnpooledByteBufAllocator.DEFAULT);
        try {
            return TransactionRecords.TYPES.decode(key, value);
        } finally {
            key.release();
            if (value != null) {
                value.release();
            }
        }
    }

    private void hold(Runnable action) {
        held.add(new Held(bug == TransactionBug.TELLS_BEFORE_IT_IS_SAFE ? 0 : journal.size(), action));
        deliver();
    }

    private void deliver() {
        while (!held.isEmpty() && held.peek().waitsFor() <= safe) {
            held.poll().action().run();
        }
    }

    /** A reply like that of a host. */
    <T> Reply<T> reply(Consumer<T> send) {
        Incarnation asked = incarnation;
        return new Reply<>() {
            @Override
            public void send(T response) {
                if (asked == incarnation) {
                    hold(() -> send.accept(response));
                }
            }

            @Override
            public void fail(ErrorCode error) {
                throw new AssertionError("the machine itself never fails a reply");
            }
        };
    }

    /** Makes the next append safe. */
    boolean makeSafe() {
        if (safe < journal.size()) {
            safe++;
            deliver();
            return true;
        }
        return false;
    }

    void makeAllSafe() {
        while (makeSafe()) {
            // One append after the other, because responses may cause more.
        }
    }

    /**
     * Loses all appends that are not safe, together with the machine, and loads another machine. Markers that are being
     * delivered continue, or are lost.
     */
    void crash(boolean loseMarkers) {
        journal.subList(safe, journal.size()).clear();
        held.clear();
        idQuestions.clear();
        if (loseMarkers) {
            markers.clear();
        }
        load();
        safe = Math.min(safe, journal.size());
        deliver();
    }

    /** Responds to the oldest request for an id. */
    void giveProducerId(boolean found) {
        machine.onProducerId(idQuestions.remove(), found ? nextProducerId++ : ProducerIdSource.NONE, nowMs);
    }

    /** All partitions of a decided transaction have their markers. */
    void completeMarkers(MarkerRequest request) {
        assertThat(markers.remove(request.transactionalId())).isEqualTo(request);
        machine.onMarkersWritten(request.transactionalId(), request.producerId(), request.producerEpoch(), nowMs);
    }

    void tick() {
        machine.onTick(nowMs);
    }

    String state(String transactionalId) {
        return machine.describe(transactionalId).transactionState();
    }

    int journalLength() {
        return journal.size();
    }
}
