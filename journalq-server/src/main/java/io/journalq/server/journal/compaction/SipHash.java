package io.journalq.server.journal.compaction;

import io.netty.buffer.ByteBuf;

/**
 * SipHash-2-4 with a 128-bit result. Nobody who does not know the secret can choose keys that collide in a table.
 * Reusable; one thread.
 *
 * <p>Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF".
 */
final class SipHash {
    private static final int FINAL_ROUNDS = 4;

    private final long secret0;
    private final long secret1;
    private long v0;
    private long v1;
    private long v2;
    private long v3;
    private long first;
    private long second;

    SipHash(long secret0, long secret1) {
        this.secret0 = secret0;
        this.secret1 = secret1;
    }

    /** The first half of the last result. */
    long first() {
        return first;
    }

    /** The second half of the last result. */
    long second() {
        return second;
    }

    /** Hashes the readable bytes of {@code input} without changing its indexes. */
    void hash(ByteBuf input) {
        v0 = 0x736f6d6570736575L ^ secret0;
        v1 = 0x646f72616e646f6dL ^ secret1 ^ 0xee;
        v2 = 0x6c7967656e657261L ^ secret0;
        v3 = 0x7465646279746573L ^ secret1;
        int at = input.readerIndex();
        int end = input.writerIndex();
        int length = end - at;
        for (; end - at >= Long.BYTES; at += Long.BYTES) {
            take(input.getLongLE(at));
        }
        long last = (long) length << 56;
        for (int shift = 0; at < end; at++, shift += 8) {
            last |= (input.getByte(at) & 0xFFL) << shift;
        }
        take(last);
        v2 ^= 0xee;
        first = finish();
        v1 ^= 0xdd;
        second = finish();
    }

    private void take(long word) {
        v3 ^= word;
        round();
        round();
        v0 ^= word;
    }

    private long finish() {
        for (int i = 0; i < FINAL_ROUNDS; i++) {
            round();
        }
        return v0 ^ v1 ^ v2 ^ v3;
    }

    private void round() {
        v0 += v1;
        v1 = Long.rotateLeft(v1, 13) ^ v0;
        v0 = Long.rotateLeft(v0, 32);
        v2 += v3;
        v3 = Long.rotateLeft(v3, 16) ^ v2;
        v0 += v3;
        v3 = Long.rotateLeft(v3, 21) ^ v0;
        v2 += v1;
        v1 = Long.rotateLeft(v1, 17) ^ v2;
        v2 = Long.rotateLeft(v2, 32);
    }
}
