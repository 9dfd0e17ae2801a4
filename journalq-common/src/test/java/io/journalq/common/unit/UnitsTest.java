package io.journalq.common.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UnitsTest {
    @ParameterizedTest
    @CsvSource({
        "500ms, 500",
        "10s, 10000",
        "10 s, 10000",
        "10 s, 10000",
        "5m, 300000",
        "2h, 7200000",
        "1d, 86400000",
        "0s, 0"
    })
    void shouldReadADurationWhenItHasAUnit(String text, long expectedMs) {
        assertThat(Units.isDuration(text)).isTrue();
        assertThat(Units.parseDuration(text)).isEqualTo(Duration.ofMillis(expectedMs));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "10", "-1s", "1.5s", "10w", "s", "9999999999999s", "s 10"})
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
        "64 KiB, 65536",
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

    @ParameterizedTest
    @CsvSource({"1, 1ms", "1500, 1500ms", "18000000, 5h", "604800000, 7d", "90000, 90s"})
    void shouldFormatADurationInTheLargestUnitInWhichItIsWhole(long ms, String expected) {
        assertThat(Units.formatDuration(ms)).isEqualTo(expected);
        assertThat(Units.parseDuration(expected)).isEqualTo(Duration.ofMillis(ms));
    }

    @ParameterizedTest
    @CsvSource({"1, 1B", "1025, 1025B", "65536, 64KiB", "1073741824, 1GiB", "1125899906842624, 1024TiB"})
    void shouldFormatASizeInTheLargestUnitInWhichItIsWhole(long sizeBytes, String expected) {
        assertThat(Units.formatSize(sizeBytes)).isEqualTo(expected);
        assertThat(Units.parseSizeBytes(expected)).isEqualTo(sizeBytes);
    }
}
