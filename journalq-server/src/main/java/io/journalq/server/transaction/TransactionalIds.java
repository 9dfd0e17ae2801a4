package io.journalq.server.transaction;

import io.journalq.common.check.Check;
import io.journalq.common.id.TopicPartition;
import io.journalq.server.coordinator.CoordinatorMachine;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.memory.TextSize;
import io.journalq.server.transaction.record.TransactionLogKey;
import io.journalq.server.transaction.record.TransactionLogValue;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * All transactional ids of a coordinator and their deadlines. Applies changes: they go into the outbox, which replays
 * them into this class. One thread, the machine's.
 */
final class TransactionalIds {
    private static final Comparator<Deadline> SOONEST_FIRST =
            Comparator.comparingLong(Deadline::dueMs).thenComparing(Deadline::transactionalId);

    private final Outbox outbox;
    private final TransactionLimits limits;
    private final MemoryAccount memory;
    private final Map<String, TransactionMetadata> byId = new TreeMap<>();

    /** When open transactions are aborted. */
    private final TreeSet<Deadline> timeouts = new TreeSet<>(SOONEST_FIRST);

    /** When ids without a transaction expire. */
    private final TreeSet<Deadline> expiries = new TreeSet<>(SOONEST_FIRST);

    private record Deadline(long dueMs, String transactionalId) {}

    /** @param memory charged with every id and its partitions */
    TransactionalIds(Outbox outbox, TransactionLimits limits, MemoryAccount memory) {
        this.memory = memory;
        this.outbox = outbox;
        this.limits = limits;
    }

    /** The state of an id; null if it is unknown. */
    TransactionMetadata get(String transactionalId) {
        return byId.get(transactionalId);
    }

    Collection<TransactionMetadata> all() {
        return Collections.unmodifiableCollection(byId.values());
    }

    /** Whether the id is new and there is no room for another. */
    boolean isFull(String transactionalId) {
        return byId.size() >= TransactionLimits.MAX_TRANSACTIONAL_IDS
                || !memory.hasRoom(TransactionMetadata.ID_BYTES + TextSize.bytes(transactionalId));
    }

    /** Whether there is memory for more partitions of a transaction. */
    boolean hasRoom(TransactionMetadata known, Collection<TopicPartition> added) {
        return memory.hasRoom(known.growthBytes(added));
    }

    /** Makes a change durable; it has taken effect when this returns. */
    void put(TransactionMetadata changed) {
        TransactionMetadata before = get(changed.id());
        Check.that(
                before == null || before.state().canBecome(changed.state()),
                "a transaction state must follow from the previous one");
        outbox.append(List.of(changed.toRecord()));
    }

    /** Removes an id. */
    void remove(TransactionMetadata idle) {
        Check.that(idle.state().isIdle(), "only an id without a transaction is removed");
        outbox.append(List.of(CoordinatorRecord.tombstone(new TransactionLogKey().setTransactionalId(idle.id()))));
    }

    /** Runs {@code action} once all previous changes are safe. */
    void whenSafe(Runnable action) {
        outbox.whenSafe(action);
    }

    void replay(CoordinatorRecord record) {
        TransactionLogKey key = (TransactionLogKey) record.key();
        TransactionMetadata before = byId.remove(key.transactionalId());
        if (before != null) {
            timeouts.remove(timeout(before));
            expiries.remove(expiry(before));
            memory.add(-before.sizeBytes());
        }
        TransactionMetadata after =
                record.value() == null ? null : TransactionMetadata.of(key, (TransactionLogValue) record.value());
        if (after != null && after.state() != TransactionState.DEAD) {
            byId.put(after.id(), after);
            if (after.state() == TransactionState.ONGOING) {
                timeouts.add(timeout(after));
            } else if (!after.state().isPrepared()) {
                expiries.add(expiry(after));
            }
            memory.add(after.sizeBytes());
        }
    }

    /**
     * Lets open transactions time out as if none had begun after {@code nowMs}. The clock of the broker that began them may
     * have been ahead of this one's.
     */
    void limitStarts(long nowMs) {
        List<TransactionMetadata> early = byId.values().stream()
                .filter(each -> each.state() == TransactionState.ONGOING && each.startMs() > nowMs)
                .toList();
        for (TransactionMetadata open : early) {
            TransactionMetadata begun = open.begunAt(nowMs);
            timeouts.remove(timeout(open));
            timeouts.add(timeout(begun));
            byId.put(open.id(), begun);
        }
    }

    /** When the next deadline passes; {@link CoordinatorMachine#NEVER} if there is none. */
    long dueMs() {
        long timeoutMs =
                timeouts.isEmpty() ? CoordinatorMachine.NEVER : timeouts.first().dueMs();
        long expiryMs =
                expiries.isEmpty() ? CoordinatorMachine.NEVER : expiries.first().dueMs();
        return Math.min(timeoutMs, expiryMs);
    }

    /** Open transactions that have timed out. */
    List<TransactionMetadata> timedOut(long nowMs) {
        return upTo(timeouts, nowMs);
    }

    /** Ids without a transaction that have expired. */
    List<TransactionMetadata> expired(long nowMs) {
        return upTo(expiries, nowMs);
    }

    private List<TransactionMetadata> upTo(NavigableSet<Deadline> deadlines, long nowMs) {
        return deadlines.headSet(new Deadline(nowMs + 1, ""), false).stream()
                .map(deadline -> byId.get(deadline.transactionalId()))
                .toList();
    }

    private static Deadline timeout(TransactionMetadata transaction) {
        return new Deadline(transaction.startMs() + transaction.timeoutMs(), transaction.id());
    }

    private Deadline expiry(TransactionMetadata transaction) {
        return new Deadline(transaction.lastUpdateMs() + limits.idExpirationMs(), transaction.id());
    }
}
