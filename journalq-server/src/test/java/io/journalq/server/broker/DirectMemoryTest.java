package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.network.SharedMemory;
import org.junit.jupiter.api.Test;

class DirectMemoryTest {
    private static final long MEBIBYTE = 1 << 20;
    private static final long LARGEST_REQUEST_BYTES = 100 * MEBIBYTE;

    @Test
    void shouldDeriveTheSharesFromWhatTheProcessHasWhenNothingIsSet() {
        DirectMemory memory = DirectMemory.of(512 * MEBIBYTE, 0, LARGEST_REQUEST_BYTES);

        assertThat(memory).isEqualTo(new DirectMemory(128 * MEBIBYTE, 128 * MEBIBYTE, 128 * MEBIBYTE));
        assertThat(SharedMemory.largestRequestBytes(memory.largeRequestBytes()))
                .as("the largest request fits into the default")
                .isGreaterThan(LARGEST_REQUEST_BYTES);
    }

    @Test
    void shouldTakeNoMoreThanHalfWhenMoreIsSet() {
        DirectMemory memory = DirectMemory.of(512 * MEBIBYTE, 10_000 * MEBIBYTE, LARGEST_REQUEST_BYTES);

        assertThat(memory.smallRequestBytes() + memory.largeRequestBytes()).isEqualTo(256 * MEBIBYTE);
    }

    @Test
    void shouldTakeWhatIsSetWhenThereIsSoMuch() {
        DirectMemory memory = DirectMemory.of(512 * MEBIBYTE, 64 * MEBIBYTE, LARGEST_REQUEST_BYTES);

        assertThat(memory).isEqualTo(new DirectMemory(32 * MEBIBYTE, 32 * MEBIBYTE, 128 * MEBIBYTE));
    }
}
