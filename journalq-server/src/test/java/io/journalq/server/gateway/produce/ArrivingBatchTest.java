package io.journalq.server.gateway.produce;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ArrivingBatchTest {
    private static final int BATCH_BYTES = 200;

    /** Buffers of this size fill their place in the pool, so that one ends where the next begins. */
    private static final int PLACE_BYTES = 64;

    /** One arena without caches of threads: a buffer gets the place that was given back last. */
    private final PooledByteBufAllocator allocator = new PooledByteBufAllocator(true, 0, 1, 8192, 6, 0, 0, false);

    private final byte[] sent = new byte[BATCH_BYTES];
    private ArrivingBatch batch;

    ArrivingBatchTest() {
        new Random(1).nextBytes(sent);
    }

    @AfterEach
    void shouldHoldNoMemory() {
        batch.bytes().release();
        assertThat(allocator.pinnedDirectMemory()).isZero();
    }

    private void add(ByteBuf data) {
        batch.add(data, data.readerIndex(), data.readableBytes());
        data.release();
    }

    @Test
    void shouldCopyWhenABufferThatWasNotLentLiesBesideTheBatch() {
        // given a full buffer, and another one that begins where it ends, as the plaintext of a TLS record can
        ByteBuf first = allocator.directBuffer(PLACE_BYTES);
        ByteBuf beside = allocator.directBuffer(PLACE_BYTES);
        long endOfFirst = first.memoryAddress() + PLACE_BYTES;
        assertThat(beside.memoryAddress()).isEqualTo(endOfFirst);
        first.release();
        batch = new ArrivingBatch(allocator, PLACE_BYTES);
        assertThat(batch.bytes().memoryAddress() + batch.bytes().capacity()).isEqualTo(endOfFirst);
        batch.bytes().writeBytes(sent, 0, PLACE_BYTES);
        batch.setSizeBytes(BATCH_BYTES);

        // when
        add(beside.writeBytes(sent, PLACE_BYTES, PLACE_BYTES));
        ByteBuf rest = allocator.directBuffer(BATCH_BYTES);
        add(rest.writeBytes(sent, 2 * PLACE_BYTES, BATCH_BYTES - 2 * PLACE_BYTES));

        // then
        assertThat(batch.isComplete()).isTrue();
        assertThat(ByteBufUtil.getBytes(batch.bytes())).isEqualTo(sent);
    }

    @Test
    void shouldNotCopyWhenTheSocketWasReadIntoTheRest() {
        // given
        batch = new ArrivingBatch(allocator, PLACE_BYTES);
        batch.bytes().writeBytes(sent, 0, PLACE_BYTES);
        assertThat(batch.lendRest()).isNull(); // its size is not known
        batch.setSizeBytes(BATCH_BYTES);

        // when
        ByteBuf lent = batch.lendRest();
        long address = batch.bytes().memoryAddress();
        assertThat(lent.memoryAddress()).isEqualTo(address + PLACE_BYTES);
        assertThat(batch.lendRest()).isNull(); // it is lent
        lent.writeBytes(sent, PLACE_BYTES, BATCH_BYTES - PLACE_BYTES);

        // then what was read is there without a copy, even if it is passed on in two parts
        int firstPart = 50;
        batch.add(lent, 0, firstPart);
        assertThat(batch.missingBytes()).isEqualTo(lent.readableBytes() - firstPart);
        batch.add(lent, firstPart, lent.readableBytes() - firstPart);
        lent.setZero(0, lent.writerIndex());
        lent.release();
        assertThat(batch.isComplete()).isTrue();
        assertThat(batch.bytes().memoryAddress()).isEqualTo(address);
        assertThat(batch.bytes().getByte(PLACE_BYTES)).isZero(); // the same memory
    }
}
