package io.journalq.client.internal.produce;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Wakes the platform threads that wait for the batches of one response. The loop wakes a few threads, and each of them
 * wakes the next one. Waking a thread costs the loop more time than everything else that it does for a record, because
 * it usually has to interrupt another processor. A thread that has just been woken wakes the next one on its own
 * processor. Meanwhile, the loop can handle the requests of the threads that have returned.
 *
 * <p>No thread is missed. All batches are marked as done before the first thread is woken. Each thread that finds its
 * batch done wakes another one. If a thread has left early because it was interrupted, the thread that tried to wake it
 * wakes one more.
 */
final class WakeUps {
    /** The number of threads that the loop wakes: one per processor, and at least two. */
    static final int FIRST = Math.max(2, Runtime.getRuntime().availableProcessors());

    // Written before the batches are marked as done.
    private final Thread[] threads;
    private final PendingBatch[] batches;
    private int count;
    private final AtomicInteger next = new AtomicInteger();

    private WakeUps(int capacity) {
        this.threads = new Thread[capacity];
        this.batches = new PendingBatch[capacity];
    }

    /** Notifies all threads that wait for these completed batches. On the loop, without any lock. */
    static void notifyWaiters(List<PendingBatch> batches) {
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
            batches.get(i).notifyWaiters();
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

    /** Wakes one more thread, if any is left. Called once by each thread whose batch is done. */
    void wakeNext() {
        for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
            LockSupport.unpark(threads[i]);
            if (!batches[i].wasLeft()) {
                return;
            }
        }
    }
}
