package io.journalq.client.internal.produce;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.error.InterruptedWaitException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WakeUpsTest {
    private static final int ROUNDS = 200;
    private static final int MANY = 40;
    private static final long DELIVERY_TIMEOUT_NANOS = 1_000_000_000L;
    private static final long PATIENCE_MS = 20_000;

    private final TopicLanes topic = PendingBatchTest.topic(PendingBatchTest.config());
    private final AtomicInteger responded = new AtomicInteger();
    private final AtomicInteger interrupted = new AtomicInteger();

    @AfterEach
    void close() {
        topic.close();
    }

    @Test
    void shouldWakeEveryWaiterOfEveryBatch() throws InterruptedException {
        // given batches with one to three waiters each
        List<PendingBatch> batches = new ArrayList<>();
        List<Thread> waiters = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            batches.add(batch());
            for (int k = 0; k <= i % 3; k++) {
                waiters.add(waiter(batches.get(i)));
            }
        }
        awaitParked(waiters);

        // when they are told
        notifyWaiters(batches);

        // then everyone has the response
        join(waiters);
        assertThat(responded).hasValue(waiters.size());
    }

    @Test
    void shouldWakeOneBehindManyWhoLeftBefore() throws InterruptedException {
        // given more waiters who were interrupted than the loop wakes itself, and one more behind them
        List<PendingBatch> batches = new ArrayList<>();
        List<Thread> gone = new ArrayList<>();
        for (int i = 0; i < WakeUps.FIRST + 2; i++) {
            batches.add(batch());
            gone.add(waiter(batches.get(i)));
        }
        awaitParked(gone);
        gone.forEach(Thread::interrupt);
        join(gone);
        batches.add(batch());
        List<Thread> last = List.of(waiter(batches.get(batches.size() - 1)));
        awaitParked(last);

        // when they are told
        notifyWaiters(batches);

        // then the one who stayed has the response
        join(last);
        assertThat(interrupted).hasValue(gone.size());
        assertThat(responded).hasValue(1);
    }

    @Test
    void shouldForgetNobodyWhenWaitersAreInterruptedMeanwhile() throws InterruptedException {
        Random random = new Random(1);
        for (int round = 0; round < ROUNDS; round++) {
            // given waiters, and another thread that interrupts some of them
            List<PendingBatch> batches = new ArrayList<>();
            List<Thread> waiters = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                batches.add(batch());
                waiters.add(waiter(batches.get(i)));
            }
            List<Thread> disturbed =
                    waiters.stream().filter(waiter -> random.nextInt(3) > 0).toList();
            Thread disturber = new Thread(() -> disturbed.forEach(Thread::interrupt));

            // when they are told at the same time
            disturber.start();
            notifyWaiters(batches);

            // then none waits for ever
            join(waiters);
            disturber.join();
        }
        assertThat(responded.get() + interrupted.get()).isEqualTo(ROUNDS * MANY);
    }

    private PendingBatch batch() {
        return new PendingBatch(topic.lane(0), (BuilderPool.Slot) null, 0, DELIVERY_TIMEOUT_NANOS);
    }

    private Thread waiter(PendingBatch batch) {
        Thread thread = new Thread(() -> {
            try {
                batch.await();
                responded.incrementAndGet();
            } catch (InterruptedWaitException e) {
                interrupted.incrementAndGet();
            }
        });
        thread.setDaemon(true);
        batch.addWaiter(thread);
        thread.start();
        return thread;
    }

    private static void notifyWaiters(List<PendingBatch> batches) {
        batches.forEach(batch -> batch.complete(0, -1, null));
        WakeUps.notifyWaiters(batches);
    }

    private static void awaitParked(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            while (thread.getState() != Thread.State.WAITING) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
        }
    }

    private static void join(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join(PATIENCE_MS);
            assertThat(thread.isAlive()).as("%s still waits", thread).isFalse();
        }
    }
}
