package io.journalq.server.shard.append;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.record.DecompressionRoom;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class OffLoopBatchValidatorTest {
    @Test
    void shouldRunInOrderWithOneAtATime() {
        // given
        ArrayDeque<Runnable> pool = new ArrayDeque<>();
        OffLoopBatchValidator batches = new OffLoopBatchValidator(1, pool::add, 1, Clock.systemUTC());
        List<Integer> ran = new ArrayList<>();

        // when
        for (int i = 0; i < 3; i++) {
            int number = i;
            batches.add(room -> ran.add(number));
        }

        // then one thread is requested, and does all the work
        assertThat(pool).hasSize(1);
        pool.remove().run();
        assertThat(ran).containsExactly(0, 1, 2);

        // and another one when there is more work
        batches.add(room -> ran.add(3));
        assertThat(pool).hasSize(1);
    }

    @Test
    void shouldRunNoMoreThanAllowedAtATimeAndForgetNone() throws InterruptedException {
        // given
        int most = 2;
        int count = 2_000;
        ExecutorService pool = Executors.newFixedThreadPool(4);
        OffLoopBatchValidator batches = new OffLoopBatchValidator(1, pool, most, Clock.systemUTC());
        AtomicInteger running = new AtomicInteger();
        AtomicInteger highest = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(count);

        // when
        for (int i = 0; i < count; i++) {
            batches.add(room -> {
                highest.accumulateAndGet(running.incrementAndGet(), Math::max);
                Thread.onSpinWait();
                running.decrementAndGet();
                done.countDown();
            });
        }

        // then
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(highest.get()).isBetween(1, most);
        pool.shutdownNow();
    }

    @Test
    void shouldRunAtOnceWhenNoThreadTakesIt() {
        // given
        Executor full = work -> {
            throw new RejectedExecutionException("full");
        };
        List<Integer> ran = new ArrayList<>();

        // when
        new OffLoopBatchValidator(1, full, 1, Clock.systemUTC()).add(room -> ran.add(1));

        // then
        assertThat(ran).containsExactly(1);
    }

    @Test
    void shouldKeepRoomFromOneBatchToTheNextUntilThereWasNoneForAWhile() {
        // given
        SteppedClock clock = new SteppedClock();
        OffLoopBatchValidator batches = new OffLoopBatchValidator(1, Runnable::run, 1, clock);
        List<DecompressionRoom> rooms = new ArrayList<>();

        // when
        batches.add(rooms::add);
        clock.nowMs += 59_999;
        batches.releaseIdle();
        batches.add(rooms::add);
        clock.nowMs += 60_000;
        batches.releaseIdle();
        batches.add(rooms::add);

        // then
        assertThat(rooms.get(1)).isSameAs(rooms.get(0));
        assertThat(rooms.get(2)).isNotSameAs(rooms.get(0));
    }

    private static final class SteppedClock extends Clock {
        private long nowMs;

        @Override
        public long millis() {
            return nowMs;
        }

        @Override
        public Instant instant() {
            return Instant.ofEpochMilli(nowMs);
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            throw new UnsupportedOperationException();
        }
    }
}
