package io.journalq.common.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UnitsTest {
    @ParameterizedTest
    @CsvSource({"500ms, 500", "10s, 10000", "5m, 300000", "2h, 7200000", "1d, 86400000", "0s, 0"})
    void shouldReadADurationWhenItHasAUnit(String text, long expectedMs) {
        assertThat(Units.isDuration(text)).isTrue();
        assertThat(Units.parseDuration(text)).isEqualTo(Duration.ofMillis(expectedMs));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "10", "-1s", "1.5s", "10w", "s", "9999999999999s", "10 s"})
    void shouldRefuseADurationWhenItIsNoneOrHasNoUnit(String text) {
        assertThat(Units.isDuration(text)).isFalse();
        assertThatThrownBy(() -> Units.parseDuration(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("'" + text + "' is not a duration", "ms, s, m, h, d");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "1024, 1024",
        "100B, 100",
        "64KiB, 65536",
        "16MiB, 16777216",
        "10GiB, 10737418240",
        "2TiB, 2199023255552",
        "999999999999999999, 999999999999999999"
    })
    void shouldReadASizeWhenItIsInBytesOrHasAUnit(String text, long expectedBytes) {
        assertThat(Units.parseSizeBytes(text)).isEqualTo(expectedBytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1k", "1KB", "-1", "1.5GiB", "GiB", "9999999999999999999", "99999999TiB"})
    void shouldRefuseASizeWhenItIsNoneOrTooLarge(String text) {
        assertThatThrownBy(() -> Units.parseSizeBytes(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("'" + text + "' is not a size", "KiB");
    }
}
