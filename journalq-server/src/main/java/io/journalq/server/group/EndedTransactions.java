package io.journalq.server.group;

import io.journalq.common.record.TransactionMarker;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The last end of each producer's transactions, to find commits that arrive behind it. The coordinator of a transaction
 * can be on another broker: it confirms that the transaction is open, and before the commit arrives here, the
 * transaction can end. The offset would then wait for an end that never comes. Bounded by {@link #MAX_PRODUCERS}, and
 * only in memory: a machine that is loaded knows no ends, and therefore no earlier confirmations.
 *
 * <p>Also finds ends that a coordinator sends although another one has replaced it, and has sent a later end. Without
 * that, the end of a transaction could be taken for that of the producer's next one, if both have the same epoch.
 */
final class EndedTransactions {
    private static final int MAX_PRODUCERS = 10_000;

    /** From this transaction version on, each end increments the epoch (KIP-890). */
    private static final int FIRST_VERSION_WITH_GROWING_EPOCHS = 2;

    private final Map<Long, End> byProducer = new LinkedHashMap<>();
    /** Confirmations that began before this may be outdated. */
    private long validFrom;

    private record End(short epoch, boolean growing, int coordinatorEpoch, long number) {}

    /** Confirmations that began before {@code number} are outdated. */
    void forgetBefore(long number) {
        validFrom = Math.max(validFrom, number);
    }

    /** Whether a later coordinator has ended a transaction of the producer. */
    boolean isFenced(TransactionMarker marker) {
        End end = byProducer.get(marker.producerId());
        return end != null && marker.coordinatorEpoch() < end.coordinatorEpoch();
    }

    /** @param number of the marker, see {@link CommittedOffsets.InTransaction#guard} */
    void onEnd(TransactionMarker marker, int transactionVersion, long number) {
        byProducer.remove(marker.producerId());
        byProducer.put(
                marker.producerId(),
                new End(
                        marker.producerEpoch(),
                        transactionVersion >= FIRST_VERSION_WITH_GROWING_EPOCHS,
                        marker.coordinatorEpoch(),
                        number));
        if (byProducer.size() > MAX_PRODUCERS) {
            Iterator<End> oldest = byProducer.values().iterator();
            forgetBefore(oldest.next().number());
            oldest.remove();
        }
    }

    /** Whether the transaction of a commit may have ended since the confirmation of the commit began. */
    boolean isLate(long producerId, short epoch, long guard) {
        End end = byProducer.get(producerId);
        boolean ended = end != null
                && (epoch < end.epoch() || (epoch == end.epoch() && !end.growing() && guard < end.number()));
        return ended || guard < validFrom;
    }
}
