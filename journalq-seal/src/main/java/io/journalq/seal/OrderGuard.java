package io.journalq.seal;

import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Detects batches that come twice, or not in the order in which their sender has sent them, and batches that are missing.
 * In each epoch and partition, the numbers of batches rise with their offsets. They have gaps also without an attack: a
 * batch of an aborted transaction is not read, and one that failed was not written. Belongs to the thread of a consumer,
 * except {@link #missing}.
 */
final class OrderGuard {
    /** The maximum number of epochs of a partition whose last numbers are remembered; the least recent is dropped. */
    static final int MAX_EPOCHS = 1_024;

    /** The maximum number of epochs in committed metadata, which may have 4,096 characters in all. */
    static final int MAX_COMMITTED_EPOCHS = 64;

    private static final String PREFIX = "jqe1:";
    private static final int ENTRY_SIZE_BYTES = Uuid.SIZE_BYTES + Long.BYTES;
    private static final long UNKNOWN_OFFSET = -1;

    private final Map<TopicPartition, Map<Uuid, Last>> partitions = new HashMap<>();
    private final LongAdder missing = new LongAdder();

    /** Whether a batch is refused if one before it is missing. */
    private final boolean refusesGaps;

    /**
     * The last batch of an epoch.
     *
     * @param baseOffset unknown unless the position can be within the batch
     * @param endOffset the offset from which on the next batch of the epoch can be
     */
    private record Last(long number, long baseOffset, long endOffset) {
        private Last truncatedTo(long offset) {
            return endOffset <= offset ? this : new Last(number, UNKNOWN_OFFSET, offset);
        }
    }

    private static final class Epochs extends LinkedHashMap<Uuid, Last> {
        private Epochs() {
            super(16, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<Uuid, Last> eldest) {
            return size() > MAX_EPOCHS;
        }
    }

    OrderGuard(boolean refusesGaps) {
        this.refusesGaps = refusesGaps;
    }

    /**
     * Starts a partition.
     *
     * @param offset the position
     * @param state what {@link #state} returned at this position, or an empty string
     */
    void start(TopicPartition partition, long offset, String state) {
        Map<Uuid, Last> epochs = new Epochs();
        partitions.put(partition, epochs);
        if (!state.startsWith(PREFIX)) {
            return;
        }
        ByteBuffer in;
        try {
            in = ByteBuffer.wrap(Base64.getUrlDecoder().decode(state.substring(PREFIX.length())));
        } catch (IllegalArgumentException notOurs) {
            return;
        }
        while (in.remaining() >= ENTRY_SIZE_BYTES) {
            epochs.put(new Uuid(in.getLong(), in.getLong()), new Last(in.getLong(), UNKNOWN_OFFSET, offset));
        }
    }

    /**
     * The position moves back to an offset, because records behind it were lost. Their senders go on with higher numbers
     * at lower offsets. The numbers stay, so that a broker that only claims the loss cannot repeat batches. It cannot hide
     * any either: the batches behind the offset are read.
     */
    void truncate(TopicPartition partition, long offset) {
        Map<Uuid, Last> epochs = partitions.get(partition);
        if (epochs != null) {
            epochs.replaceAll((epoch, last) -> last.truncatedTo(offset));
        }
    }

    void stop(TopicPartition partition) {
        partitions.remove(partition);
    }

    /**
     * Checks the next batch of a partition, which has been opened.
     *
     * @param endOffset the offset behind the batch
     * @param compacted whether the broker removes batches of the partition whose keys have later records
     */
    void check(TopicPartition partition, Uuid epoch, long number, long baseOffset, long endOffset, boolean compacted) {
        Map<Uuid, Last> epochs = partitions.computeIfAbsent(partition, key -> new Epochs());
        Last last = epochs.get(epoch);
        if (last != null) {
            if (number == last.number && baseOffset == last.baseOffset) {
                // A position within this batch.
                return;
            }
            if (number <= last.number) {
                throw new SealFault(
                        Reason.WRONG_ORDER,
                        "its number " + number + " is not above " + last.number
                                + ", the last one of its epoch, so that it comes twice or too late");
            }
            if (baseOffset < last.endOffset) {
                // Consumers skip records before their position, and would not notice that these are missing.
                throw new SealFault(
                        Reason.WRONG_ORDER,
                        "its offset " + baseOffset + " is below " + last.endOffset
                                + ", from which on the next one of its epoch can be");
            }
            if (!compacted) {
                onGap(last.number, number);
            }
        }
        epochs.put(epoch, new Last(number, baseOffset, endOffset));
    }

    private void onGap(long last, long number) {
        if (refusesGaps && number > last + 1) {
            throw new SealFault(
                    Reason.MISSING_BATCHES,
                    "its number is " + number + ", and the last one of its epoch was " + last
                            + ", so that batches before it are missing");
        }
        missing.add(number - last - 1);
    }

    /** The number of batches that were missing before a later one of the same epoch. Any thread. */
    long missing() {
        return missing.sum();
    }

    /** The last numbers of the newest epochs of a partition; an empty string if there are none. */
    String state(TopicPartition partition) {
        Map<Uuid, Last> epochs = partitions.get(partition);
        if (epochs == null || epochs.isEmpty()) {
            return "";
        }
        List<Map.Entry<Uuid, Last>> entries = new ArrayList<>(epochs.entrySet());
        int from = Math.max(0, entries.size() - MAX_COMMITTED_EPOCHS);
        ByteBuffer out = ByteBuffer.allocate((entries.size() - from) * ENTRY_SIZE_BYTES);
        for (Map.Entry<Uuid, Last> entry : entries.subList(from, entries.size())) {
            out.putLong(entry.getKey().mostSignificantBits())
                    .putLong(entry.getKey().leastSignificantBits())
                    .putLong(entry.getValue().number);
        }
        return PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(out.array());
    }
}
