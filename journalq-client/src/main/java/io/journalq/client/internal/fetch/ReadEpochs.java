package io.journalq.client.internal.fetch;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The leader epochs of the batches that a consumer has read before its position, as far as it remembers. A log that has
 * lost some of them can have other batches of an earlier epoch in their place. Not thread-safe.
 */
final class ReadEpochs {
    /** Older ones are forgotten. */
    private static final int MAX_EPOCHS = 16;

    private final Deque<Epoch> epochs = new ArrayDeque<>();

    /** Batches of one epoch, up to those of the next one. */
    private record Epoch(int number, long startOffset) {}

    /** A batch was read at {@code offset}. */
    void add(int epoch, long offset) {
        Epoch last = epochs.peekLast();
        if (last != null && last.number == epoch) {
            return;
        }
        if (epochs.size() == MAX_EPOCHS) {
            epochs.removeFirst();
        }
        epochs.addLast(new Epoch(epoch, offset));
    }

    /** Where the first batch was read whose epoch is later than {@code epoch}; {@code otherwise} if none is known. */
    long startAfter(int epoch, long otherwise) {
        for (Epoch read : epochs) {
            if (read.number > epoch) {
                return read.startOffset;
            }
        }
        return otherwise;
    }

    /** The epoch of the last batch before {@code offset}; {@code otherwise} if it is not known. */
    int before(long offset, int otherwise) {
        int epoch = otherwise;
        for (Epoch read : epochs) {
            if (read.startOffset < offset) {
                epoch = read.number;
            }
        }
        return epoch;
    }

    /** Forgets the batches from {@code offset} on. */
    void truncateTo(long offset) {
        while (!epochs.isEmpty() && epochs.peekLast().startOffset >= offset) {
            epochs.removeLast();
        }
    }

    void clear() {
        epochs.clear();
    }
}
