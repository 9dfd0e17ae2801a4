package io.journalq.client.internal.produce;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class Murmur2Test {
    /** The values that the protocol's own Java client is tested with. */
    private static final Map<String, Integer> KNOWN = Map.of(
            "21", -973932308,
            "foobar", -790332482,
            "a-little-bit-long-string", -985981536,
            "a-little-bit-longer-string", -1486304829,
            "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971,
            "abc", 479470107);

    @Test
    void shouldHashAsTheProtocolsClientDoes() {
        KNOWN.forEach((key, hash) -> assertThat(Murmur2.hash(key.getBytes(StandardCharsets.UTF_8)))
                .as(key)
                .isEqualTo(hash));
    }

    @Test
    void shouldChooseAPartitionThatExistsWhenTheHashIsNegative() {
        // given a key with a negative hash
        byte[] key = "21".getBytes(StandardCharsets.UTF_8);
        // then
        assertThat(Murmur2.partition(key, 7)).isEqualTo((-973932308 & Integer.MAX_VALUE) % 7);
    }
}
