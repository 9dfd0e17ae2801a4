package io.journalq.common.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DecompressionRoomTest {
    private static final int LARGE_BYTES = 10 << 20;
    private static final int USUAL_BYTES = 100 << 10;

    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
    private final UnpooledByteBufAllocator others = new UnpooledByteBufAllocator(true);
    private final List<ByteBuf> made = new ArrayList<>();
    private final DecompressionRoom room = DecompressionRoom.ofLarge(allocator, () -> {});

    @ParameterizedTest
    @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void shouldKeepMemoryWhenABatchIsLarge(CompressionCodec codec) {
        // given
        ByteBuf large = compressed(codec, LARGE_BYTES);

        // when
        room.decompress(codec, large, LARGE_BYTES).release();
        long keptBytes = usedBytes();

        // then the next ones take none, also when they are refused, and their bytes are right
        assertThat(keptBytes).isGreaterThanOrEqualTo(LARGE_BYTES);
        assertThatThrownBy(() -> room.decompress(codec, large, LARGE_BYTES - 1))
                .isInstanceOf(InvalidBatchException.DecompressedTooLargeException.class);
        ByteBuf again = room.decompress(codec, large, LARGE_BYTES);
        assertThat(again).isEqualTo(plain(LARGE_BYTES));
        again.release();
        assertThat(usedBytes()).isEqualTo(keptBytes);

        // until it is told so
        room.close();
        assertThat(usedBytes()).isZero();
    }

    @ParameterizedTest
    @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void shouldTakeMemoryInProportionWhenABatchIsNotLarge(CompressionCodec codec) {
        ByteBuf usual = compressed(codec, USUAL_BYTES);

        ByteBuf decompressed = room.decompress(codec, usual, LARGE_BYTES);

        assertThat(decompressed).isEqualTo(plain(USUAL_BYTES));
        assertThat(usedBytes()).isLessThanOrEqualTo(4 * USUAL_BYTES);
        decompressed.release();
        assertThat(usedBytes()).isZero();
    }

    @ParameterizedTest
    @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void shouldKeepMemoryOfSmallBatches(CompressionCodec codec) {
        // given
        ByteBuf usual = compressed(codec, USUAL_BYTES);
        DecompressionRoom ofSmall = DecompressionRoom.ofSmall(allocator);

        // when
        ofSmall.decompress(codec, usual, LARGE_BYTES).release();
        long keptBytes = usedBytes();
        ByteBuf again = ofSmall.decompress(codec, usual, LARGE_BYTES);

        // then
        assertThat(keptBytes).isBetween((long) USUAL_BYTES, 8L * USUAL_BYTES);
        assertThat(again).isEqualTo(plain(USUAL_BYTES));
        again.release();
        assertThat(usedBytes()).isEqualTo(keptBytes);

        // until it is told so, and not that of a large one
        ofSmall.close();
        assertThat(usedBytes()).isZero();
        ofSmall.decompress(codec, compressed(codec, LARGE_BYTES), LARGE_BYTES).release();
        assertThat(usedBytes()).isZero();
    }

    private long usedBytes() {
        return allocator.metric().usedDirectMemory() + allocator.metric().usedHeapMemory();
    }

    @AfterEach
    void giveMemoryBack() {
        room.close();
        made.forEach(ByteBuf::release);
    }

    private ByteBuf make(int sizeBytes) {
        ByteBuf buffer = others.directBuffer(sizeBytes);
        made.add(buffer);
        return buffer;
    }

    private ByteBuf plain(int sizeBytes) {
        return make(sizeBytes).writeZero(sizeBytes);
    }

    private ByteBuf compressed(CompressionCodec codec, int sizeBytes) {
        ByteBuf target = make(sizeBytes);
        codec.compress(plain(sizeBytes), target);
        return target;
    }
}
