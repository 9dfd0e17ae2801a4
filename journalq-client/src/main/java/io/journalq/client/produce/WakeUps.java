package io.journalq.client.produce;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Wakes the platform threads that wait for the batches of one answer: the loop a few of them, and each that wakes up
 * the next. To wake a thread takes the loop longer than everything else that it does for the record, for most often it
 * has to interrupt another processor; a thread that has just been woken finds the next one at home. Meanwhile the loop is
 * free for the requests of those that are back.
 *
 * <p>Nobody is forgotten, as all batches are told before the first thread is woken: whoever sees his batch told wakes
 * another, and for one who left before, interrupted, his waker takes one more.
 */
final class WakeUps {
    /** Threads that the loop wakes itself: one for each processor goes on waking, and never a single one. */
    static final int FIRST = Math.max(2, Runtime.getRuntime().availableProcessors());

    // Written before the batches are told.
    private final Thread[] threads;
    private final PendingBatch[] batches;
    private int count;
    private final AtomicInteger next = new AtomicInteger();

    private WakeUps(int capacity) {
        this.threads = new Thread[capacity];
        this.batches = new PendingBatch[capacity];
    }

    /** Tells all who wait for batches that are complete. On the loop, outside every lock. */
    static void tell(List<PendingBatch> batches) {
        int parked = 0;
        for (int i = 0; i < batches.size(); i++) {
            parked += batches.get(i).platformWaiters();
        }
        WakeUps wakeUps = parked > FIRST ? new WakeUps(parked) : null;
        if (wakeUps != null) {
            for (int i = 0; i < batches.size(); i++) {
                batches.get(i).leaveWakingTo(wakeUps);
            }
        }
        for (int i = 0; i < batches.size(); i++) {
            batches.get(i).tell();
        }
        if (wakeUps != null) {
            for (int i = 0; i < FIRST; i++) {
                wakeUps.wakeNext();
            }
        }
    }

    void add(Thread thread, PendingBatch batch) {
        threads[count] = thread;
        batches[count++] = batch;
    }

    /** Wakes one thread, if any is left. By each whose batch is told, once. */
    void wakeNext() {
        for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
            LockSupport.unpark(threads[i]);
            if (!batches[i].wasLeft()) {
                return;
            }
        }
    }
}
