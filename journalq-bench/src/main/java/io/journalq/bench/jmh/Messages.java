package io.journalq.bench.jmh;

import io.journalq.bench.payload.PayloadPool;

/** Messages of 1 KiB, one after the other from a pool larger than the caches. One thread. */
final class Messages {
    static final int SIZE_BYTES = 1024;

    private final PayloadPool pool;
    private int next;

    Messages(String content) {
        pool = PayloadPool.build(content, SIZE_BYTES, PayloadPool.DEFAULT_SIZE_BYTES);
    }

    byte[] next() {
        int index = next;
        next = index + 1 == pool.size() ? 0 : index + 1;
        return pool.message(index);
    }
}
