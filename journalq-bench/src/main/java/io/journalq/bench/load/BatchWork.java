package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.BatchRules;
import io.journalq.common.record.BatchValidator;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.DecompressionRoom;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * The work that no client and broker of this batch format can avoid. Every processor encodes batches, compresses them with
 * lz4 and computes their checksums; with {@code checked}, it also validates them as a broker does. There are no sockets,
 * files or hand-overs between threads, so the rate is the upper limit of any throughput. One thread.
 */
public final class BatchWork {
    private static final short PRODUCE_VERSION = 9;

    private final PayloadPool pool;
    private final int batchSize;
    private final boolean checked;

    public BatchWork(PayloadPool pool, int batchSize, boolean checked) {
        this.pool = pool;
        this.batchSize = batchSize;
        this.checked = checked;
    }

    /** Returns messages per second of all processors together. {@code warmup} starts with the first batch. */
    public double run(Duration warmup, Duration duration) throws InterruptedException {
        int threads = Runtime.getRuntime().availableProcessors();
        LongAdder done = new LongAdder();
        AtomicReference<RuntimeException> failure = new AtomicReference<>();
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            long first = (long) i * pool.size() / threads;
            Thread worker = new Thread(() -> work(first, done), "batch-work-" + i);
            worker.setUncaughtExceptionHandler((thread, thrown) ->
                    failure.set(new BenchException("building batches failed", "report this as a bug", thrown)));
            worker.start();
            workers.add(worker);
        }
        double rate;
        try {
            while (done.sum() == 0 && failure.get() == null) {
                Thread.sleep(1);
            }
            Thread.sleep(warmup.toMillis());
            long before = done.sum();
            long startNs = System.nanoTime();
            Thread.sleep(duration.toMillis());
            rate = (done.sum() - before) * 1e9 / (System.nanoTime() - startNs);
        } finally {
            workers.forEach(Thread::interrupt);
            for (Thread worker : workers) {
                worker.join();
            }
        }
        if (failure.get() != null) {
            throw failure.get();
        }
        return rate;
    }

    private void work(long first, LongAdder done) {
        ByteBufAllocator allocator = PooledByteBufAllocator.DEFAULT;
        try (BatchBuilder builder = new BatchBuilder(allocator, CompressionCodec.LZ4);
                DecompressionRoom room = DecompressionRoom.ofSmall(allocator)) {
            BatchValidator validator = new BatchValidator(room);
            long number = first;
            while (!Thread.currentThread().isInterrupted()) {
                long nowMs = System.currentTimeMillis();
                for (int i = 0; i < batchSize; i++) {
                    builder.append(nowMs, null, pool.message(number++), List.of());
                }
                ByteBuf batch = builder.build();
                try {
                    if (checked
                            && !validator
                                    .validate(batch, PRODUCE_VERSION, BatchRules.DEFAULT, nowMs)
                                    .isSound()) {
                        throw new IllegalStateException("a batch that was just built is invalid");
                    }
                } finally {
                    batch.release();
                }
                done.add(batchSize);
            }
        }
    }
}
