package io.journalq.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PositionTest {
    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
    private static final ZoneId ZONE = ZoneId.of("Europe/Berlin");

    private static Position parse(String text) {
        return Position.parse(text, NOW, ZONE);
    }

    @Test
    void shouldReadWordsAndOffsets() {
        assertThat(parse("beginning")).isEqualTo(new Position.Beginning());
        assertThat(parse(" end ")).isEqualTo(new Position.End());
        assertThat(parse("0")).isEqualTo(new Position.Offset(0));
        assertThat(parse("1500")).isEqualTo(new Position.Offset(1500));
    }

    @ParameterizedTest
    @CsvSource({
        "2026-01-31T12:00:00Z, 2026-01-31T12:00:00Z",
        "2026-01-31T12:00:00.250+01:00, 2026-01-31T11:00:00.250Z",
        "2026-01-31T12:00, 2026-01-31T11:00:00Z",
        "2026-07-01, 2026-06-30T22:00:00Z",
        "@1769860800000, 2026-01-31T12:00:00Z",
        "10m ago, 2026-03-01T11:50:00Z",
        "2h, 2026-03-01T10:00:00Z",
        "1d ago, 2026-02-28T12:00:00Z",
        "999999999999d ago, 1970-01-01T00:00:00Z",
        "36500d, 1970-01-01T00:00:00Z",
        "1969-12-31T23:59:59.999Z, 1970-01-01T00:00:00Z",
    })
    void shouldReadTimes(String text, Instant expected) {
        assertThat(parse(text)).isEqualTo(new Position.Time(expected.toEpochMilli()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "ago",
                "begin",
                "-5",
                "12x",
                "2026-13-01",
                "2026-01-31T25:00",
                "99999999999999999999",
                "@",
                "1e3"
            })
    void shouldSayWhatAPositionIsWhenTextIsNone(String text) {
        assertThatThrownBy(() -> parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("'" + text + "' is not a position; use beginning, end, an offset");
    }
}
