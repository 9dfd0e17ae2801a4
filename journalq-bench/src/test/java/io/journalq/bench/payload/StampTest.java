package io.journalq.bench.payload;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StampTest {
    private final byte[] message =
            PayloadPool.build("text", 100, 1 << 14).message(0).clone();

    @Test
    void shouldSayWhatWasStampedWhenItIsRead() {
        new Stamp(3, 1L << 40, 17).write(message);

        assertThat(Stamp.read(message)).isEqualTo(new Stamp(3, 1L << 40, 17));
        assertThat(Stamp.isIntact(message)).isTrue();
    }

    @Test
    void shouldNoticeWhenAnyByteDiffers() {
        new Stamp(3, 4, 5).write(message);

        for (int at = 0; at < message.length; at++) {
            message[at] ^= 1;
            assertThat(Stamp.isIntact(message)).isFalse();
            message[at] ^= 1;
        }
    }

    @Test
    void shouldFindNoStampWhenTheMessageIsTooShort() {
        assertThat(Stamp.read(new byte[Stamp.SIZE_BYTES - 1])).isNull();
    }
}
