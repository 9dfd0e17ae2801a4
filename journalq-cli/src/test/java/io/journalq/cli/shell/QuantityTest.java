package io.journalq.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class QuantityTest {
    @Test
    void shouldShowSizesWithTheirUnit() {
        assertThat(Quantity.size(0)).isEqualTo("0 B");
        assertThat(Quantity.size(1_023)).isEqualTo("1023 B");
        assertThat(Quantity.size(1_536)).isEqualTo("1.5 KiB");
        assertThat(Quantity.size(3L << 30)).isEqualTo("3.0 GiB");
        assertThat(Quantity.size(Long.MAX_VALUE)).isEqualTo("8192.0 PiB");
    }

    @Test
    void shouldShowCountsAndDurationsAsPeopleWriteThem() {
        assertThat(Quantity.count(1, "message")).isEqualTo("1 message");
        assertThat(Quantity.count(1_234_567, "message")).isEqualTo("1,234,567 messages");
        assertThat(Quantity.duration(Duration.ofMillis(850))).isEqualTo("850 ms");
        assertThat(Quantity.duration(Duration.ofMillis(3_210))).isEqualTo("3.2 s");
        assertThat(Quantity.duration(Duration.ofSeconds(310))).isEqualTo("5 min 10 s");
        assertThat(Quantity.duration(Duration.ofMinutes(125))).isEqualTo("2 h 5 min");
        assertThat(Quantity.duration(Duration.ofHours(52))).isEqualTo("2 d 4 h");
    }
}
