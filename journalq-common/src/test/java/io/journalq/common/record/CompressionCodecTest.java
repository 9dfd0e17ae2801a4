package io.journalq.common.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import net.jpountz.lz4.LZ4FrameOutputStream;
import net.jpountz.lz4.LZ4FrameOutputStream.BLOCKSIZE;
import net.jpountz.lz4.LZ4FrameOutputStream.FLG.Bits;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.ByteBufferOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.xerial.snappy.Snappy;

class CompressionCodecTest {
    private static final ByteBufAllocator ALLOCATOR = PooledByteBufAllocator.DEFAULT;
    private static final int LIMIT = 4 * 1024 * 1024;
    private static final int[] SIZES = {1, 100, 32_768, 65_535, 65_536, 65_537, 200_000, 1_500_000};

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldComeBackWhenCompressedHereAndReadHereAndByKafka(CompressionCodec codec) throws IOException {
        for (int sizeBytes : SIZES) {
            for (byte[] plain : List.of(text(sizeBytes), KafkaBatches.random(sizeBytes, sizeBytes))) {
                for (boolean direct : new boolean[] {true, false}) {
                    // given
                    ByteBuf source = direct ? Unpooled.directBuffer().writeBytes(plain) : Unpooled.wrappedBuffer(plain);
                    ByteBuf target = direct ? ALLOCATOR.directBuffer(1) : ALLOCATOR.heapBuffer(1);

                    // when
                    codec.compress(source, target);

                    // then
                    ByteBuf back = decompress(codec, target, plain.length, ALLOCATOR);
                    assertThat(back).isEqualTo(Unpooled.wrappedBuffer(plain));
                    assertThat(readByKafka(codec, target)).isEqualTo(plain);
                    assertThat(source.refCnt()).isOne();
                    assertThat(target.refCnt()).isOne();
                    assertThat(back.release() && source.release() && target.release())
                            .isTrue();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldReadWhatKafkaCompressedWhenItIsWhole(CompressionCodec codec) throws IOException {
        for (int sizeBytes : SIZES) {
            byte[] plain = text(sizeBytes);
            ByteBuf compressed = compressedByKafka(codec, plain);

            ByteBuf back = decompress(codec, compressed, sizeBytes, ALLOCATOR);

            assertThat(back).isEqualTo(Unpooled.wrappedBuffer(plain));
            back.release();
        }
    }

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldRefuseWhenTheResultPassesTheLimit(CompressionCodec codec) throws IOException {
        ByteBuf compressed = compressedByKafka(codec, text(100_000));

        assertThatThrownBy(() -> decompress(codec, compressed, 99_999, ALLOCATOR))
                .isInstanceOf(InvalidBatchException.class);
    }

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldAllocateWithinTheLimitWhenItMeetsABomb(CompressionCodec codec) throws IOException {
        // given
        ByteBuf bomb = compressedByKafka(codec, new byte[64 * 1024 * 1024]);
        UnpooledByteBufAllocator counting = new UnpooledByteBufAllocator(true);
        int limit = 1024 * 1024;

        // when
        assertThatThrownBy(() -> decompress(codec, bomb, limit, new HighWater(counting, 3L * limit)))
                .isInstanceOf(InvalidBatchException.class);

        // then
        assertThat(counting.metric().usedDirectMemory()).isZero();
    }

    @ParameterizedTest
    @EnumSource(value = CompressionCodec.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void shouldFailInOneWayOnlyWhenBytesAreHostile(CompressionCodec codec) throws IOException {
        // given
        byte[] plain = text(5000);
        byte[] sound = new byte[compressedByKafka(codec, plain).readableBytes()];
        compressedByKafka(codec, plain).readBytes(sound);
        Random random = new Random(7);
        int refused = 0;
        int rounds = 3000;
        for (int round = 0; round < rounds; round++) {
            byte[] bad = sound.clone();
            int length = bad.length;
            if (round % 4 == 0) {
                length = random.nextInt(bad.length);
            } else if (round % 4 == 1) {
                random.nextBytes(bad);
            } else {
                for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
                    bad[random.nextInt(bad.length)] = (byte) random.nextInt(256);
                }
            }

            // when, then
            try {
                decompress(codec, Unpooled.wrappedBuffer(bad, 0, length), LIMIT, ALLOCATOR)
                        .release();
            } catch (InvalidBatchException e) {
                refused++;
            }
        }
        assertThat(refused).isGreaterThan(rounds / 4);
        ByteBuf back = decompress(codec, Unpooled.wrappedBuffer(sound), LIMIT, ALLOCATOR);
        assertThat(back).isEqualTo(Unpooled.wrappedBuffer(plain));
        back.release();
    }

    @Test
    void shouldReadEveryLegalLz4FrameWhenOthersWroteIt() throws IOException {
        // given
        byte[] plain = text(300_000);
        ByteArrayOutputStream frames = new ByteArrayOutputStream();
        for (BLOCKSIZE blockSize : BLOCKSIZE.values()) {
            for (Bits[] flags : new Bits[][] {
                {Bits.BLOCK_INDEPENDENCE},
                {Bits.BLOCK_INDEPENDENCE, Bits.BLOCK_CHECKSUM},
                {Bits.BLOCK_INDEPENDENCE, Bits.CONTENT_CHECKSUM},
                {Bits.BLOCK_INDEPENDENCE, Bits.CONTENT_SIZE, Bits.CONTENT_CHECKSUM, Bits.BLOCK_CHECKSUM}
            }) {
                try (OutputStream out = new LZ4FrameOutputStream(frames, blockSize, plain.length, flags)) {
                    out.write(plain);
                }
                frames.write(new byte[] {0x53, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 9, 9, 9}); // a skippable frame
            }
        }

        // when
        ByteBuf back = decompress(
                CompressionCodec.LZ4, Unpooled.wrappedBuffer(frames.toByteArray()), 16 * plain.length, ALLOCATOR);

        // then
        assertThat(back.readableBytes()).isEqualTo(16 * plain.length);
        for (int i = 0; i < 16; i++) {
            assertThat(back.slice(i * plain.length, plain.length)).isEqualTo(Unpooled.wrappedBuffer(plain));
        }
        back.release();
    }

    @Test
    void shouldRefuseLz4FramesWhenBlocksDependOnEachOther() {
        byte[] header = {0x04, 0x22, 0x4D, 0x18, 0x40, 0x40, (byte) 0xC0, 0, 0, 0, 0};

        assertThatThrownBy(() -> decompress(CompressionCodec.LZ4, Unpooled.wrappedBuffer(header), LIMIT, ALLOCATOR))
                .isInstanceOf(InvalidBatchException.class)
                .hasMessageContaining("dependent");
    }

    @Test
    void shouldReadRawSnappyWhenOtherClientsWriteIt() throws IOException {
        byte[] plain = text(200_000);

        ByteBuf back =
                decompress(CompressionCodec.SNAPPY, Unpooled.wrappedBuffer(Snappy.compress(plain)), LIMIT, ALLOCATOR);

        assertThat(back).isEqualTo(Unpooled.wrappedBuffer(plain));
        back.release();
    }

    @Test
    void shouldReadSeveralZstdFramesWhenTheyStandBackToBack() {
        byte[] plain = text(100_000);
        byte[] frame = Zstd.compress(plain);

        ByteBuf back = decompress(CompressionCodec.ZSTD, Unpooled.wrappedBuffer(frame, frame), LIMIT, ALLOCATOR);

        assertThat(back).isEqualTo(Unpooled.copiedBuffer(plain, plain));
        back.release();
    }

    @Test
    void shouldKnowItsIdsWhenAskedForAnyNumber() {
        for (CompressionCodec codec : CompressionCodec.values()) {
            assertThat(CompressionCodec.of(codec.id())).isSameAs(codec);
        }
        assertThat(CompressionCodec.of(5)).isNull();
        assertThat(CompressionCodec.of(-1)).isNull();
    }

    @Test
    void shouldPassAYieldPointAgainAndAgainWhenTheResultIsLarge() {
        // given
        int sizeBytes = 10 * 1024 * 1024;
        ByteBuf plain = ALLOCATOR.directBuffer(sizeBytes).writeZero(sizeBytes);
        for (CompressionCodec codec :
                List.of(CompressionCodec.GZIP, CompressionCodec.SNAPPY, CompressionCodec.LZ4, CompressionCodec.ZSTD)) {
            ByteBuf compressed = ALLOCATOR.directBuffer();
            codec.compress(plain, compressed);
            AtomicInteger passed = new AtomicInteger();

            // when
            try (DecompressionRoom room = DecompressionRoom.ofLarge(ALLOCATOR, passed::incrementAndGet)) {
                room.decompress(codec, compressed, sizeBytes).release();
            }

            // then
            assertThat(passed.get()).as(codec.name()).isBetween(80, 700);
            compressed.release();
        }
        plain.release();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 65_536, 131_072, 131_073, 1_000_000, 10_000_000})
    void shouldTellTheLikelySizeFromTheFramesAlone(int sizeBytes) throws IOException {
        int largestBlockBytes = 128 * 1024;
        ByteBuf plain = Unpooled.wrappedBuffer(text(sizeBytes));
        for (CompressionCodec codec : List.of(CompressionCodec.LZ4, CompressionCodec.ZSTD)) {
            ByteBuf ours = ALLOCATOR.directBuffer();
            codec.compress(plain, ours);

            for (ByteBuf compressed : List.of(ours, compressedByKafka(codec, text(sizeBytes)))) {
                assertThat(codec.likelySizeBytes(compressed))
                        .as(codec.name())
                        .isBetween(Math.max(0L, sizeBytes - largestBlockBytes), (long) sizeBytes);
            }
            ours.release();
        }
    }

    /** In one go and in pieces, which must come to the same. */
    private static ByteBuf decompress(
            CompressionCodec codec, ByteBuf source, int maxSizeBytes, ByteBufAllocator allocator) {
        ByteBuf result = null;
        InvalidBatchException refusal = null;
        try {
            result = codec.decompress(source, maxSizeBytes, allocator);
        } catch (InvalidBatchException bad) {
            refusal = bad;
        }
        try (DecompressionRoom room = DecompressionRoom.ofLarge(allocator, () -> {})) {
            ByteBuf inPieces = room.decompress(codec, source, maxSizeBytes);
            assertThat(refusal).isNull();
            assertThat(inPieces).isEqualTo(result);
            inPieces.release();
        } catch (InvalidBatchException bad) {
            assertThat(bad).hasSameClassAs(refusal);
            throw bad;
        }
        return result;
    }

    private static byte[] text(int sizeBytes) {
        StringBuilder text = new StringBuilder();
        Random random = new Random(sizeBytes);
        while (text.length() < sizeBytes) {
            text.append("{\"level\":\"INFO\",\"request\":")
                    .append(random.nextInt(1000))
                    .append("}\n");
        }
        return KafkaBatches.bytes(text.substring(0, sizeBytes));
    }

    private static ByteBuf compressedByKafka(CompressionCodec codec, byte[] plain) throws IOException {
        ByteBufferOutputStream bytes = new ByteBufferOutputStream(1024);
        try (OutputStream out = KafkaBatches.compression(codec).wrapForOutput(bytes, (byte) 2)) {
            out.write(plain);
        }
        bytes.buffer().flip();
        return Unpooled.wrappedBuffer(bytes.buffer());
    }

    private static byte[] readByKafka(CompressionCodec codec, ByteBuf compressed) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(compressed.readableBytes());
        compressed.getBytes(0, bytes);
        bytes.flip();
        try (InputStream in =
                KafkaBatches.compression(codec).wrapForInput(bytes, (byte) 2, BufferSupplier.NO_CACHING)) {
            return in.readAllBytes();
        }
    }

    /** Fails the test when a buffer from it grows past a size. */
    private static final class HighWater extends io.netty.buffer.AbstractByteBufAllocator {
        private final UnpooledByteBufAllocator allocator;
        private final long mostBytes;

        HighWater(UnpooledByteBufAllocator allocator, long mostBytes) {
            super(true);
            this.allocator = allocator;
            this.mostBytes = mostBytes;
        }

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            return allocator.heapBuffer(initialCapacity, (int) Math.min(maxCapacity, mostBytes));
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            return allocator.directBuffer(initialCapacity, (int) Math.min(maxCapacity, mostBytes));
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }
    }
}
