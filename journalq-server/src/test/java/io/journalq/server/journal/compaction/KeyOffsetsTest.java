package io.journalq.server.journal.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KeyOffsetsTest {
    private static ByteBuf key(int number) {
        return Unpooled.buffer().writeInt(number);
    }

    @Test
    void shouldHashAsPublishedWhenGivenThePublishedVectors() {
        SipHash hash = new SipHash(0x0706050403020100L, 0x0f0e0d0c0b0a0908L);

        hash.hash(Unpooled.EMPTY_BUFFER);
        assertThat(hash.first()).isEqualTo(Long.reverseBytes(0xa3817f04ba25a8e6L));
        assertThat(hash.second()).isEqualTo(Long.reverseBytes(0x6df67214c7550293L));
        hash.hash(Unpooled.wrappedBuffer(new byte[] {0}));
        assertThat(hash.first()).isEqualTo(Long.reverseBytes(0xda87c1d86b99af44L));
        assertThat(hash.second()).isEqualTo(Long.reverseBytes(0x347659119b22fc45L));
    }

    @Test
    void shouldHoldWhatAMapHoldsWhenItGrows() {
        Random random = new Random(1);
        KeyOffsets offsets = new KeyOffsets(1 << 20, 3, 4);
        Map<Integer, Long> model = new HashMap<>();
        for (long offset = 0; offset < 30_000; offset++) {
            int number = random.nextInt(20_000);
            assertThat(offsets.put(key(number), offset)).isTrue();
            model.put(number, offset);
        }

        assertThat(offsets.count()).isEqualTo(model.size());
        for (int number = 0; number < 20_000; number++) {
            assertThat(offsets.offsetOf(key(number))).isEqualTo(model.getOrDefault(number, KeyOffsets.NONE));
        }
    }

    @Test
    void shouldTakeNoNewKeyWhenItIsFull() {
        KeyOffsets offsets = new KeyOffsets(KeyOffsets.MIN_SIZE_BYTES, 3, 4);
        int taken = 0;
        while (offsets.put(key(taken), taken)) {
            taken++;
        }

        assertThat(taken).isEqualTo(48);
        assertThat(offsets.put(key(7), 1_000)).as("a known key").isTrue();
        assertThat(offsets.offsetOf(key(7))).isEqualTo(1_000);
        assertThat(offsets.offsetOf(key(taken))).isEqualTo(KeyOffsets.NONE);
        offsets.clear();
        assertThat(offsets.offsetOf(key(7))).isEqualTo(KeyOffsets.NONE);
        assertThat(offsets.put(key(taken), 1)).isTrue();
    }
}
